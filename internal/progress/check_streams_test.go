package progress

import (
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
)

// streamsGroup is a Stable streams group of a 4.4 broker with so many tasks of
// one sub-topology.
func streamsGroup(tasks int32, stateful bool, lines ...string) *model.Group {
	g := group(lines...)
	g.Kind, g.Facts.KafkaVersion = model.Streams, "4.4"
	g.Topology.Subtopologies = []model.Subtopology{{ID: "0", SourceTopics: []string{"orders"}, Partitions: tasks, Stateful: &stateful}}
	eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) {
		t.Stateful = &stateful
		if t.Role == model.Standby {
			t.Restore = model.Restore{State: model.CaughtUp, RemainingRecords: ptr[int64](0)}
		}
	})
	g.Timing.Standbys = ptr(1)
	return g
}

// withLeftOver is a group in which pod-b has state of the task of pod-a on its disk
// up to an offset; a negative end is not known.
func withLeftOver(offset, end int64) *model.Group {
	g := streamsGroup(2, true, "pod-a/T1: 0_0", "pod-b/T1: 0_1")
	g.Timing.Standbys = ptr(0)
	id := model.TaskID{Subtopology: "0"}
	g.Instances[1].Members[0].Reported = []model.OffsetSum{{Task: id, Sum: offset}}
	if end >= 0 {
		g.Facts.Logs = []model.TaskLog{{Task: id, End: &end}}
	}
	return g
}

// A streams group's instance may stop only where the prediction puts each of
// its tasks onto a copy that is caught up.
func TestCheckStopOfStreamsGroups(t *testing.T) {
	copies := func() *model.Group {
		return streamsGroup(4, true, "pod-a/T1: 0_0 0_1 0_2s 0_3s", "pod-b/T1: 0_2 0_3 0_0s 0_1s")
	}
	for _, c := range []struct {
		name string
		g    *model.Group
		want Answer
		why  string // of the first blocker, or the reason
	}{
		{"every task goes to its copy", copies(), Yes, ""},
		{"no copy anywhere", streamsGroup(2, true, "pod-a/T1: 0_0", "pod-b/T1: 0_1"), No, "goes to pod-b, which has no copy"},
		{"no state", streamsGroup(2, false, "pod-a/T1: 0_0", "pod-b/T1: 0_1"), Yes, ""},
		{"nobody is left", streamsGroup(1, true, "pod-a/T1: 0_0"), No, "no other instance is left"},
		{"a copy that restores", func() *model.Group {
			g := copies()
			task(g, "pod-b/T1", "0_1").Restore = model.Restore{State: model.Restoring, RemainingRecords: ptr[int64](7)}
			return g
		}(), No, "whose copy still restores 7 records"},
		{"a copy that reports nothing", func() *model.Group {
			g := copies()
			task(g, "pod-b/T1", "0_1").Restore = model.Restore{State: model.RestoreUnknown}
			return g
		}(), Unknown, "has not reported its position"},
		{"a broker whose version is not known, with the same answer by all rules", func() *model.Group {
			g := copies()
			g.Facts.KafkaVersion = ""
			return g
		}(), Yes, ""},
		{"state left over at its end", withLeftOver(100, 100), Yes, ""},
		{"state left over that is behind", withLeftOver(93, 100), No, "goes to pod-b, whose left-over state lacks 7 records"},
		{"state left over of nobody knows how much", withLeftOver(93, -1), Unknown, "has state left over; how far that is from the end is not known"},
		{"another assignor", func() *model.Group {
			g := copies()
			g.Assignor = "ours"
			return g
		}(), Unknown, `assignor "ours"`},
		{"tasks that move", in(copies(), model.StateReconciling), Unknown, "its tasks are moving"},
		// The copies are on pod-b, but pod-b has all it may run: the broker fills
		// pod-c first.
		{"a copy that the broker passes over", streamsGroup(6, true, "pod-a/T1: 0_0 0_1", "pod-b/T1: 0_2 0_3 0_4 0_5 0_0s 0_1s", "pod-c/T1:"), No, "goes to pod-c, which has no copy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := CheckStop(c.g, &c.g.Instances[0])
			if got.Answer != c.want {
				t.Fatalf("answer %s, want %s: %+v", got.Answer, c.want, got)
			}
			if planned, err := plan.FromGroup(c.g); got.Reason == "" && err == nil {
				p, err := plan.Make(planned, plan.Options{Changes: []plan.Change{plan.Remove{Instance: "pod-a", How: plan.HowLeave}}, KafkaVersion: c.g.Facts.KafkaVersion})
				for _, f := range p.Findings {
					if rests := f.Code == plan.NoteAssumed || f.Code == plan.NoteUnknown; rests != slices.Contains(got.Rests, f) && c.g.Facts.KafkaVersion != "" {
						t.Errorf("plan says %q, check %v (%v)", f.Text, got.Rests, err)
					}
				}
				if len(got.Rests) < 2 {
					t.Errorf("nothing is said of what it rests on: %v", got.Rests)
				}
			}
			why := got.Reason
			if len(got.Blockers) > 0 {
				why = got.Blockers[0].Why
			}
			if !strings.Contains(why, c.why) || c.why == "" && why != "" {
				t.Errorf("because %q, want %q", why, c.why)
			}
			if h := got.Headline("pod-a"); c.want == Yes && !strings.Contains(h, "goes to a caught-up copy or has no state") {
				t.Errorf("headline %q", h)
			}
		})
	}
}
