package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// twoOfThree is a worker group of which pod-c is on its way out: it honours a
// mark, and has so many tasks left.
func twoOfThree(tasks int) *steered {
	in := func(id, name string) model.Instance {
		return model.Instance{ID: id, Name: name, Members: []model.Member{{ID: name, Metadata: model.MemberMetadata{Status: model.MetadataOK}}}}
	}
	g := &model.Group{ID: "clicks", Kind: model.Worker, State: model.StateStable, Mode: "incremental", ProtocolType: "stream"}
	g.Instances = []model.Instance{in("a", "pod-a"), in("b", "pod-b"), in("c", "pod-c")}
	g.Instances[2].Active, g.Instances[2].Leaving = tasks, &model.Mark{Instance: "c", Honoured: true}
	s := &steered{g: g, state: control.State{Orders: 4, Offset: 90, Status: map[string]control.Status{}}}
	for i, id := range []string{"a", "b", "c"} {
		read := int64(4 + i) // no status after the record at 3 has to have been read
		s.state.Status[id] = control.Status{Source: control.SourceWorker, ControlOffset: &read}
	}
	old := int64(1)
	s.state.Status["c"] = control.Status{Source: control.SourceWorker, ControlOffset: &old, Leaving: true}
	return s
}

// A switch is not held up by who is drained and about to go, nor by statuses that
// others wrote meanwhile; who still has tasks must know of it.
func TestSwitchesDoNotWaitForLeavers(t *testing.T) {
	for _, c := range []struct {
		tasks   int
		missing []string
		must    []string
	}{
		{0, nil, []string{"a", "b"}},
		{2, []string{"pod-c has read the control topic up to 1 of 4"}, []string{"a", "b", "c"}},
	} {
		s := twoOfThree(c.tasks)
		w := &switching{s: s, before: s.g, to: control.Upgrading}
		w.noteLeavers(s)
		if got := w.missing(s.state.Orders); !slices.Equal(got, c.missing) {
			t.Errorf("%d tasks: missing %q", c.tasks, got)
		}
		if got := w.followers(); !slices.Equal(got, c.must) {
			t.Errorf("%d tasks: %q must follow", c.tasks, got)
		}
		if got := w.expected(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%d tasks: %q are waited for", c.tasks, got)
		}
	}
}

// An instance that went with its mark while the switch was on stays one that is
// not waited for; one that does not leave any more is waited for again.
func TestLeaversAreRememberedWhileTheyAreGone(t *testing.T) {
	s := twoOfThree(2)
	a := &awaited{switching: &switching{s: s, before: s.g, to: control.Upgrading}}
	a.noteLeavers(s)
	after := twoOfThree(0)
	after.g.Instances, after.g.Mode, after.state.Status = after.g.Instances[:2], "upgrading", nil
	a.noteLeavers(after)
	if a.s = after; !a.formed("upgrading") {
		t.Error("the group is not whole without pod-c, which has left")
	}
	after.g.Instances = after.g.Instances[:1]
	if a.formed("upgrading") {
		t.Error("the group is whole without pod-b, which stays")
	}
	back := twoOfThree(2)
	back.g.Instances[2].Leaving = nil
	back.state.Status["c"] = control.Status{Source: control.SourceWorker}
	a.noteLeavers(back)
	if got := strings.Join(a.expected(), " "); got != "a b c" {
		t.Errorf("waited for: %s", got)
	}
}
