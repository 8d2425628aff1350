package worker

import (
	"maps"
	"slices"

	"github.com/streamctl/streamctl/internal/control"
)

// heard is what an instance takes from the control topic: the mode, the mark on
// itself, and who has a status. What others say in theirs is for people and
// tools; a worker does not decode it, which in a large group would be most of
// its work.
type heard struct {
	instance string
	state    control.State // mode and marks only
	statuses map[string]bool
	offset   int64 // one above the highest offset taken
}

func newHeard(instance string) heard {
	return heard{instance: instance, statuses: map[string]bool{}}
}

// take takes one more record.
func (h *heard) take(r control.Record) {
	h.offset = max(h.offset, r.Offset+1)
	kind, instance := control.ParseKey(r.Key)
	switch {
	case kind == control.KindStatus && r.Tombstone():
		delete(h.statuses, instance)
	case kind == control.KindStatus:
		h.statuses[instance] = true
	case concerns(r, h.instance):
		h.state.Apply(r)
	}
}

// concerns says whether a record is one that the instance acts on.
func concerns(r control.Record, instance string) bool {
	kind, of := control.ParseKey(r.Key)
	return kind == control.KindMode || kind == control.KindLeaving && of == instance
}

func (h *heard) mark() (control.Leaving, bool) {
	m, ok := h.state.Leaving[h.instance]
	return m, ok
}

// withStatus lists the instances that have a status, sorted.
func (h *heard) withStatus() []string { return slices.Sorted(maps.Keys(h.statuses)) }
