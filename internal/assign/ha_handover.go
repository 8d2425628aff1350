package assign

import (
	"slices"

	"github.com/streamctl/streamctl/internal/javaorder"
)

// haHandover knows who owned what (assignors.md, 2.4).
type haHandover struct {
	h        *ha
	anyOwner []bool // by task: someone in the group owned it

	// By task, for the client looked at: the member that owned it.
	owner []int32
	seen  []int32 // 1 + client that owner is about
}

func newHAHandover(h *ha) *haHandover {
	n := len(h.stateful)
	o := &haHandover{h: h, anyOwner: make([]bool, n), owner: make([]int32, n), seen: make([]int32, n)}
	for _, m := range h.g.Members {
		for _, t := range m.Owned {
			o.anyOwner[t] = true
		}
	}
	return o
}

// begin turns to another client.
func (o *haHandover) begin(client int32) {
	for _, m := range o.h.clients[client].members {
		for _, t := range o.h.g.Members[m].Owned {
			if o.anyOwner[t] {
				o.owner[t], o.seen[t] = m, client+1
			}
		}
	}
}

// withheld says whether a member must wait for a task: someone owned it, and
// not this very member.
func (o *haHandover) withheld(client int32, t Task, member int32) bool {
	return o.anyOwner[t] && (o.seen[t] != client+1 || o.owner[t] != member)
}

// wasStandby says whether a client had state of a task without running it.
func (o *haHandover) wasStandby(client int32, t Task) bool {
	if o.seen[t] == client+1 {
		return false
	}
	for _, r := range o.h.reports.of(t) {
		if r.client == client {
			return r.lag != SumRunning
		}
	}
	return false
}

// handOut spreads the tasks of each process over its threads and withholds
// those that another one must give up first (2.3 to 2.5).
func (h *ha) handOut(res *Result) {
	spread, handover := newHASpread(h), newHAHandover(h)
	res.Stable = !res.Probing || h.g.Leader < 0
	for i, c := range h.clients {
		client, p := int32(i), &res.Processes[c.process]
		members := slices.Clone(c.members)
		slices.SortFunc(members, func(a, b int32) int { return javaorder.CompareStrings(h.g.Members[a].ID, h.g.Members[b].ID) })
		spread.begin(members)
		handover.begin(client)
		stateful, stateless := h.split(p.Active)
		actives := spread.pass(client, stateful, true, true)
		standbys := spread.pass(client, p.Standby, false, true)
		more := spread.pass(client, stateless, true, false)
		probing := res.Probing && c.process == h.g.Leader
		for k, m := range members {
			r := h.tell(handover, client, m, merged(actives[k], more[k]), standbys[k])
			if r.Next == NextNow {
				res.Stable, probing = false, false
			} else if probing {
				r.Next, probing = NextProbing, false
			}
			res.Members[m] = r
		}
	}
}

// tell makes what one member is told of the tasks it shall have.
func (h *ha) tell(o *haHandover, client, member int32, actives, standbys []Task) MemberResult {
	held := slices.IndexFunc(actives, func(t Task) bool { return o.withheld(client, t, member) })
	if held < 0 {
		return MemberResult{Active: actives, Standby: standbys}
	}
	r := MemberResult{Active: slices.Clone(actives[:held]), Next: NextNow}
	var meanwhile []Task // its state is not closed while it waits
	for _, t := range actives[held:] {
		switch {
		case !o.withheld(client, t, member):
			r.Active = append(r.Active, t)
		case h.stateful[t] && o.wasStandby(client, t):
			meanwhile = append(meanwhile, t)
		}
	}
	r.Standby = merged(standbys, meanwhile)
	return r
}

// split parts a list by state.
func (h *ha) split(tasks []Task) (stateful, stateless []Task) {
	if !slices.ContainsFunc(tasks, func(t Task) bool { return !h.stateful[t] }) {
		return tasks, nil
	}
	for _, t := range tasks {
		if h.stateful[t] {
			stateful = append(stateful, t)
		} else {
			stateless = append(stateless, t)
		}
	}
	return stateful, stateless
}

// merged joins two ascending lists without common elements.
func merged(a, b []Task) []Task {
	if len(b) == 0 {
		return a
	}
	if len(a) == 0 {
		return b
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return out
}
