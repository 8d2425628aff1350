package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// The walk-throughs of stream-protocol.md as plans: instances S1…, tasks T1….
//
//	plan S1=T1,T2 S2=T3 [leaving=S2] [size=T1:100,T2:200] [set=KEY:VALUE]
//	add S4
//	----
//	one line a round: what starts it, at which second, and who has what
//
// T1:standby is a caught-up copy. Restoring goes at 100 records a second; tasks of which no size is given have
// 1000 records.
func TestWalkThroughs(t *testing.T) {
	datadriven.Walk(t, "testdata/walk", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "plan" {
				d.Fatalf(t, "command %q", d.Cmd)
			}
			return walk(t, d)
		})
	})
}

func taskNumber(t testing.TB, name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "T"))
	if err != nil || n < 1 {
		t.Fatalf("task %q", name)
	}
	return n - 1
}

func walk(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	sizes := map[int]int64{}
	o := Options{Rate: Rate{Records: 100}, MaxRounds: 50, Set: map[string]string{KeyAcceptableLag: "0"}}
	var insts []Instance
	tasks := 0
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "size":
			for _, v := range a.Vals {
				name, n, _ := strings.Cut(v, ":")
				size, err := strconv.ParseInt(n, 10, 64)
				if err != nil {
					d.Fatalf(t, "size %q", v)
				}
				sizes[taskNumber(t, name)] = size
			}
		case "set":
			for _, v := range a.Vals {
				key, value, _ := strings.Cut(v, ":")
				o.Set[key] = value
			}
		default:
			i := Instance{ID: a.Key, Name: a.Key, RemainingMs: -1, Members: []Member{{ID: a.Key + "-1", Name: a.Key}}}
			for _, v := range a.Vals {
				if name, ok := strings.CutSuffix(v, ":standby"); ok {
					i.Members[0].Standby = append(i.Members[0].Standby, assign.Task(taskNumber(t, name)))
					i.Members[0].Reported = append(i.Members[0].Reported, assign.Offset{Task: assign.Task(taskNumber(t, name)), Sum: math.MaxInt64})
				} else if v != "" {
					i.Members[0].Active = append(i.Members[0].Active, assign.Task(taskNumber(t, v)))
					tasks = max(tasks, taskNumber(t, v)+1)
				}
			}
			insts = append(insts, i)
		}
	}
	g := newMade(t, model.Worker, tasks, true, 1000)
	for n, size := range sizes {
		g.in.Topology.Subtopologies()[0].EndOffsets[n] = size
		g.in.Logs[n].End = size
	}
	g.in.Instances = insts
	o.Changes = walkChanges(t, d)
	return story(t, g.in, &o)
}

func walkChanges(t *testing.T, d *datadriven.TestData) []Change {
	t.Helper()
	var out []Change
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "add":
			out = append(out, Add{Count: len(f) - 1, Threads: 1, IDs: f[1:]})
		case f[0] == "kill":
			out = append(out, Remove{f[1], HowKill})
		case len(f) == 2:
			c, err := ParseChange(f[0], f[1])
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			out = append(out, c)
		default:
			d.Fatalf(t, "line %q", line)
		}
	}
	return out
}

// story runs a group and writes a line a round.
func story(t *testing.T, in *Input, o *Options) string {
	t.Helper()
	set, err := resolve(in, NameLearner, o)
	if err != nil {
		t.Fatal(err)
	}
	rec := newRecorder(in, set.AcceptableLag, o.Rate)
	sim := newLearnerSim(in, o, set, rec, 1)
	var b strings.Builder
	list, wait := steps(o.Changes)
	for i, s := range list {
		if err := sim.change(s, i == 0); err != nil {
			t.Fatal(err)
		}
		for n := 0; (i == len(list)-1 || n < wait[i]) && n < o.MaxRounds; n++ {
			more, err := sim.round()
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			r := rec.rounds[len(rec.rounds)-1]
			fmt.Fprintf(&b, "%gs %s\n   %s\n", r.AtS, r.Trigger, strings.Join(holdings(rec), " "))
			for _, m := range r.Moves {
				fmt.Fprintf(&b, "   T%s %s -> %s: %s\n", walkTask(m.Task), m.From, m.To, m.How)
			}
			for _, x := range r.Down {
				fmt.Fprintf(&b, "   T%s down: %s\n", walkTask(x.Task), x.Why)
			}
		}
	}
	return b.String()
}

func walkTask(id string) string {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "0_"))
	return strconv.Itoa(n + 1)
}

func holdings(rec *recorder) []string {
	var out []string
	for _, p := range rec.parties {
		if p.gone {
			continue
		}
		names := func(list []assign.Task) string {
			var s []string
			for _, t := range list {
				s = append(s, "T"+strconv.Itoa(int(t)+1))
			}
			return strings.Join(s, ",")
		}
		line := p.id + "[" + names(p.active) + "]"
		if len(p.learner) > 0 {
			line += " learns " + names(p.learner)
		}
		if len(p.standby) > 0 {
			line += " stands by " + names(p.standby)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}
