package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// Whatever a captured cluster shows, each of its groups is either planned, with
// one more instance and without a change, or refused with a reason.
func TestPlansOfCapturedGroups(t *testing.T) {
	files, err := filepath.Glob("../../testdata/snapshot/*.json")
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), "raw-") {
			continue
		}
		r, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Read(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groupmeta.BuildAll(s, groupmeta.BuildOptions{}) {
			for _, changes := range [][]Change{nil, {Add{Count: 1}}} {
				in, err := FromGroup(g)
				var p *Plan
				if err == nil {
					p, err = Make(in, Options{Changes: changes, Draws: 2})
				}
				if _, ok := IsRefused(err); ok {
					continue
				}
				if err != nil {
					t.Errorf("%s, group %s: %v", filepath.Base(f), g.ID, err)
					continue
				}
				planned++
				active := 0
				for _, c := range p.After.Instances {
					active += c.Active
				}
				if active != in.Topology.Len() {
					t.Errorf("%s, group %s: %d of %d tasks run in the end", filepath.Base(f), g.ID, active, in.Topology.Len())
				}
				t.Logf("%-28s %-10s %-9s %v moves %d rounds %d copies %s %v", filepath.Base(f), g.ID, g.State, p.Changes, p.Totals.Moves, p.Totals.Rounds, p.BasedOn.Copies, p.Findings)
			}
		}
	}
	if planned < 20 {
		t.Errorf("only %d plans", planned)
	}
}

// captured is the input of a plan of the first group of a captured snapshot.
func captured(t *testing.T, name string) *Input {
	t.Helper()
	r, err := os.Open(filepath.Join("../../testdata/snapshot", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := snapshot.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	in, err := FromGroup(groupmeta.BuildAll(s, groupmeta.BuildOptions{})[0])
	if err != nil {
		t.Fatal(err)
	}
	return in
}
