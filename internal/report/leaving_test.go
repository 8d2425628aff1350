package report

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

func task(partition int32) model.TaskID {
	return model.TaskID{Subtopology: "0", Partition: partition}
}

// markReports are what changes of marks report.
func markReports() map[string]render.Report {
	g := clicks()
	id := g.Instances[2].ID
	marks := []LeavingMark{{Instance: id, Name: "pod-c", Mark: ptr("5d3c0f6e-6f0e-4c55-9f39-0f3bb2b5a8f1"), TimeoutMs: ptr[int64](60_000), Honoured: ptr(true), Gone: ptr(false)}}
	over := []progress.Handover{
		{Task: task(2), From: id, To: g.Instances[0].ID, ToName: "pod-a", Warm: progress.Yes},
		{Task: task(5), From: id, To: g.Instances[1].ID, ToName: "pod-b", Warm: progress.No, Records: ptr[int64](8112)},
		{Task: task(6), From: id, To: g.Instances[1].ID, ToName: "pod-b", Warm: progress.Unknown},
	}
	wait := NewWait(WaitResult{Group: g, Goal: progress.Goal{For: progress.Drained, Instance: id}, Name: "pod-c", Status: progress.Status{Met: true}, Waited: 15 * time.Second})
	base := ChangeResult{Change: "mark-leaving", Group: g, Targets: []string{id}, Done: true, Who: "alice@ops-1", Reason: "node drain"}
	drained, replaced := base, base
	drained.Wait, drained.Leaving = wait, &Leaving{Marks: marks, HandedOver: NewHandedOver(over)}
	drained.Text = []ChangeLine{WarnLine("drained: pod-c owns no task after 15s")}
	replaced.Change = "replace"
	replaced.Leaving = &Leaving{Marks: marks, HandedOver: NewHandedOver(over[:1])}
	replaced.Replace = &Replacement{With: 1, Old: []string{id}, New: []string{g.Instances[0].ID}, Resumed: true, Steps: []Step{{"join", true}, {"mark", true}, {"drain", false}}}
	replaced.Text = []ChangeLine{GoodLine("replaced")}
	was, set, every := "0", "1", time.Minute
	streams := drained
	streams.Leaving, streams.Wait = nil, nil
	streams.Standbys = &StandbysChange{Before: &was, Set: &set, PutBack: true}
	streams.Standbys.Look(&progress.DepartLook{
		Raise: &plan.Raise{Need: 1, Before: 1}, Enough: true, Safe: progress.No, Offers: true,
		Tasks: []progress.DepartTask{{Task: model.TaskID{Subtopology: "0", Partition: 2}, From: id, To: []string{g.Instances[0].ID}, Answer: progress.No, Why: "the copy on pod-a restores 812 records", Remaining: ptr[int64](812)}},
	}, every)
	streams.Text = []ChangeLine{GoodLine("drained")}
	return map[string]render.Report{"change-drained": NewGroupChange(drained), "change-replaced": NewGroupChange(replaced), "change-streams-drained": NewGroupChange(streams)}
}

// The lines of a drain are those of the screens.
func TestDrainLines(t *testing.T) {
	rate, left := 12267.4, 10*time.Second
	l := progress.DrainLook{Round: ptr[int32](41), Owns: 4, Ready: 1, ToRestore: ptr[int64](121_870), Rate: &rate, Left: &left}
	want := "   5s     41     4      1     121,870  12267/s   10s"
	if got := DrainLine(5*time.Second, &l); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if head := DrainHead(); len(head) != len(want) || !strings.HasPrefix(head, " TIME  ROUND") {
		t.Errorf("heading %q", head)
	}
	done := progress.DrainLook{Round: ptr[int32](43), ToRestore: ptr[int64](0)}
	if got := DrainLine(15*time.Second, &done); got != "  15s     43     0      -           0        -     -" {
		t.Errorf("at the end %q", got)
	}
	nothing := progress.DrainLook{Owns: 2}
	if got := DrainLine(0, &nothing); got != "   0s      -     2      0           -        -     -" {
		t.Errorf("where nothing is known %q", got)
	}
	moved := progress.DrainLook{Moved: []*progress.Handover{
		{Task: task(2), ToName: "pod-b"}, {Task: task(3), ToName: "pod-a"}, {Task: task(4), ToName: "pod-b"},
	}}
	if got := DrainMoves(&moved); got != "0_3 now on pod-a; 0_2 0_4 now on pod-b" {
		t.Errorf("moves %q", got)
	}
}

// Nothing restored cold is said only where all is known.
func TestColdText(t *testing.T) {
	warm := progress.Handover{Task: task(1), ToName: "pod-a", Warm: progress.Yes}
	cold := progress.Handover{Task: task(2), ToName: "pod-b", Warm: progress.No, Records: ptr[int64](8112)}
	open := progress.Handover{Task: task(3), ToName: "pod-b", Warm: progress.Unknown}
	for _, c := range []struct {
		list []progress.Handover
		text string
		warm bool
	}{
		{nil, "nothing restored cold", true},
		{[]progress.Handover{warm}, "nothing restored cold", true},
		{[]progress.Handover{warm, cold}, "restored cold: 0_2 on pod-b (8,112 records)", false},
		{[]progress.Handover{warm, open}, "whether these restored cold is not known: 0_3", false},
		{[]progress.Handover{cold, open}, "restored cold: 0_2 on pod-b (8,112 records); of 0_3 that is not known", false},
	} {
		if text, ok := ColdText(c.list); text != c.text || ok != c.warm {
			t.Errorf("%q, %v; want %q, %v", text, ok, c.text, c.warm)
		}
	}
}
