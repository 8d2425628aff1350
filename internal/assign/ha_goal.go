package assign

import "fmt"

// HATarget is what high-availability aims at. It hangs on tasks, processes,
// threads, tags, racks and settings, but not on what members report: from round
// to round of one group it stays the same, and need not be computed anew.
type HATarget struct {
	active   []int32   // by task: process, -1 for stateless tasks
	standbys [][]int32 // by task: processes
}

// Target computes what a group will come to once all copies are caught up.
func (HighAvailability) Target(g *Group) (*HATarget, error) {
	h, err := newHA(g)
	if err != nil {
		return nil, err
	}
	h.placeActives()
	h.placeStandbys()
	t := &HATarget{active: filled(len(h.active), -1), standbys: make([][]int32, len(h.standbys))}
	for task, i := range h.active {
		if i >= 0 {
			t.active[task] = int32(h.clients[i].process)
		}
		for _, i := range h.standbys[task] {
			t.standbys[task] = append(t.standbys[task], int32(h.clients[i].process))
		}
	}
	return t, nil
}

// AssignTo is Assign with the target that Target gave for this group in an
// earlier round.
func (HighAvailability) AssignTo(g *Group, target *HATarget) (*Result, error) {
	h, err := newHA(g)
	if err != nil {
		return nil, err
	}
	if err := h.aimAt(target); err != nil {
		return nil, err
	}
	return h.round(), nil
}

// aimAt takes a target over.
func (h *ha) aimAt(target *HATarget) error {
	if len(target.active) != len(h.active) {
		return fmt.Errorf("the target is of %d tasks, the group has %d", len(target.active), len(h.active))
	}
	at := func(process int32) (int32, error) {
		if int(process) < len(h.client) && h.client[process] >= 0 {
			i := h.client[process]
			h.count[i]++
			return i, nil
		}
		return 0, fmt.Errorf("the target is of a process %d that the group does not have", process)
	}
	for t := range h.active {
		if (target.active[t] >= 0) != h.stateful[t] {
			return fmt.Errorf("the target is of other tasks than the group's")
		}
		if !h.stateful[t] {
			continue
		}
		var err error
		if h.active[t], err = at(target.active[t]); err != nil {
			return err
		}
		for _, process := range target.standbys[t] {
			i, err := at(process)
			if err != nil {
				return err
			}
			h.addStandby(Task(t), i)
		}
	}
	return nil
}
