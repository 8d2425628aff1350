package cmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
)

// noteLeavers notes which instances are on their way out: a switch does not wait
// for them. One that has gone meanwhile took its mark with it, so it stays noted.
func (w *switching) noteLeavers(s *steered) {
	if w.leavers == nil {
		w.leavers = map[string]bool{}
	}
	for id := range s.state.Leaving {
		w.leavers[id] = true
	}
	for id, said := range s.state.Status {
		if said.Leaving {
			w.leavers[id] = true
		}
	}
	if s.g.State != model.StateStable { // members of a group that forms do not say who they are
		return
	}
	for i := range s.g.Instances {
		if in := &s.g.Instances[i]; s.leaves(in) {
			w.leavers[in.ID] = true
		} else {
			delete(w.leavers, in.ID)
		}
	}
}

// drained reports whether an instance is leaving and has no task to stop: what it
// follows does not matter any more.
func (w *switching) drained(in *model.Instance) bool { return w.leavers[in.ID] && in.Active == 0 }

// expected lists the instances that are to be back after the switch, by id.
func (w *switching) expected() []string {
	return slices.DeleteFunc(w.workers(), func(id string) bool { return w.leavers[id] })
}

// workers lists the instances that a switch is about, by id: those that the
// group was seen with. Members of a group that forms do not say who they are:
// where a switch was on already and it was only seen so, those that said something
// when it began, and have not left since.
func (w *switching) workers() []string {
	if ids := workerIDs(w.before); len(ids) > 0 || w.found == nil {
		return ids
	}
	var ids []string
	for id, said := range w.found.state.Status {
		if said.Source == control.SourceWorker && said.Left == "" && said.At.After(w.record.At.Add(-heardLimit)) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// heardLimit is how long before a switch an instance may have written its last
// status and still be one of the group: they write every five seconds.
const heardLimit = 30 * time.Second

// followers lists those that must follow it, by id: who still has tasks holds
// them while it does not.
func (w *switching) followers() []string {
	return slices.DeleteFunc(w.workers(), func(id string) bool {
		return slices.ContainsFunc(w.before.Instances, func(in model.Instance) bool { return in.ID == id && w.drained(&in) })
	})
}

var errUnrest = errors.New("the group did not come to rest")

// rest reads the group, once more and again while it is in the middle of a
// round: the one in which an instance leaves is over soon. That of a switch which
// is on is not waited for here.
func (w *switching) rest(ctx context.Context) (*steered, error) {
	s, err := w.look(ctx, false)
	if err != nil || !forming(s.g) || w.onAlready(s) {
		return s, err
	}
	w.d.note("group %s is %s; waiting for it to be at rest", w.group, s.g.State)
	ctx, cancel := context.WithTimeoutCause(ctx, preflightLimit, errUnrest)
	defer cancel()
	last := s
	look := func(ctx context.Context) (*steered, error) { return w.look(ctx, false) }
	err = progress.Poll(ctx, preflightEvery, w.d.now, look, func(_ time.Time, s *steered, err error) (bool, error) {
		if err != nil {
			return false, err
		}
		last = s
		return !forming(s.g) || w.onAlready(s), nil
	})
	if errors.Is(err, errUnrest) {
		err = nil // the check that comes says what state it is in
	}
	return last, err
}

func forming(g *model.Group) bool {
	return g.Kind == model.Worker && (g.State == model.StatePreparingRebalance || g.State == model.StateCompletingRebalance)
}
