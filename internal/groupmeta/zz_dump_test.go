package groupmeta

import (
	"fmt"
	"os"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

func ip(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func dumpGroup(g *model.Group) {
	fmt.Printf("%s %s(%s) %s basis=%s pos=%+v proto=%s/%s mode=%s asg=%s\n", g.ID, g.Kind, g.KindBasis, g.State, g.AssignmentBasis, g.Positions, g.ProtocolType, g.Protocol, g.Mode, g.Assignor)
	if g.Epoch != nil {
		fmt.Println("epochs", *g.Epoch)
	}
	for _, f := range g.Findings {
		fmt.Printf("  [%s] %s: %s | %s\n", f.Severity, f.Code, f.Object, f.Text)
	}
	fmt.Printf(" next=%+v timing=%+v meta=%+v\n", g.NextRebalance, g.Timing, g.Metadata)
	if g.Timing.Standbys != nil {
		fmt.Println(" standbys", *g.Timing.Standbys)
	}
	fmt.Printf(" totals=%+v lag=%s rec=%s bytes=%s bal=%+v\n", g.Totals, ip(g.Totals.Lag), ip(g.Totals.RemainingRecords), ip(g.Totals.RemainingBytes), g.Balance)
	fmt.Printf(" topo %s uncertain=%q status=%s\n", g.Topology.Source, g.Topology.Uncertain, g.Topology.TreeStatus)
	for _, s := range g.Topology.Subtopologies {
		st := "?"
		if s.Stateful != nil {
			st = fmt.Sprint(*s.Stateful)
		}
		fmt.Printf("  sub %+v stateful=%s\n", s, st)
	}
	for _, in := range g.Instances {
		fmt.Printf(" inst %s id=%s host=%s a=%d s=%d l=%d e=%g %d..%d bal=%v lag=%s\n", in.Name, in.ID, in.Host, in.Active, in.Standby, in.Learner, in.Expected, in.Low, in.High, in.Balanced, ip(in.Lag))
		for _, m := range in.Members {
			fmt.Printf("  %s %s st=%s/%s err=%q left=%v\n", m.Name, m.ID, m.Metadata.Status, m.Assignment.Status, m.Metadata.Error, m.Leftover)
			for _, t := range m.Tasks {
				l := ""
				if t.Lag != nil {
					l = ip(t.Lag.Records)
				}
				fmt.Printf("   %s %s %v inf=%v unc=%v tgt=%v to=%s park=%v %v lag=%s restore=%s/%s pos=%s end=%s rem=%s b=%s %s\n", t.ID, t.Role, t.Tags, t.Inferred, t.Uncertain, t.TargetOnly, t.LeavesTo, t.Parked, t.Partitions, l, t.Restore.State, t.Restore.Basis, ip(t.Restore.Position), ip(t.Restore.End), ip(t.Restore.RemainingRecords), ip(t.Restore.RemainingBytes), t.Restore.Note)
			}
		}
	}
	fmt.Println(" unassigned", g.Unassigned, "moving", g.Moving, "errors", g.Errors, "notes", g.Notes, "offsets", len(g.Offsets))
}

func TestDump(t *testing.T) {
	for _, f := range []string{os.Getenv("DUMP")} {
		if f == "" {
			t.Skip()
		}
		r, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Read(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Groups {
			g, err := Build(s, s.Groups[i].ID, BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			dumpGroup(g)
		}
	}
}
