package plan

import (
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
)

// permuted is up to how many instances every order of stopping is looked at;
// beyond it there and back.
const permuted = 3

// copyKey is the state of a task in a process.
type copyKey struct {
	task assign.Task
	proc *streamsProc
}

// retarget computes the next target and takes it over.
func (s *streamsSim) retarget() error {
	res, err := s.target()
	if err != nil {
		return err
	}
	for i, m := range s.members {
		m.targetActive, m.targetStandby = res.Members[i].Active, res.Members[i].Standby
	}
	return nil
}

// placesOfActives tells by task which process the target gives it to.
func (s *streamsSim) placesOfActives() map[assign.Task]*streamsProc {
	out := make(map[assign.Task]*streamsProc, s.top.Len())
	for _, m := range s.members {
		for _, t := range m.targetActive {
			out[t] = m.proc
		}
	}
	return out
}

// copies are the states that processes hold, active ones too.
func (s *streamsSim) copies() map[copyKey]bool {
	out := map[copyKey]bool{}
	for _, m := range s.members {
		for _, list := range [][]assign.Task{m.active, m.standby} {
			for _, t := range list {
				out[copyKey{t, m.proc}] = true
			}
		}
	}
	return out
}

// clone copies what a change of members and targets touches.
func (s *streamsSim) clone() *streamsSim {
	out := *s
	out.members = make([]*streamsMember, len(s.members))
	for i, m := range s.members {
		c := *m
		out.members[i] = &c
	}
	return &out
}

// told gives the group as its members may tell their offsets by the time of the
// stop, which is what the broker of 4.4 and later goes by: as they do now, where
// that is what is known, and with every copy at the end, none or some of them a
// little behind the others.
func (s *streamsSim) told(asReported bool) []*streamsSim {
	if !s.current {
		return []*streamsSim{s}
	}
	var out []*streamsSim
	if asReported {
		out = append(out, s)
	}
	n := len(s.members)
	for _, behind := range []func(int) int{func(int) int { return 0 }, func(i int) int { return i }, func(i int) int { return n - i }} {
		c := s.clone()
		for i, m := range c.members {
			m.offsets = withCopies(c.top, m.offsets, m.standby, c.ends, int64(behind(i)))
		}
		out = append(out, c)
	}
	return out
}

// withCopies sets the offsets of copies to so many records below the ends.
func withCopies(top *assign.Topology, told []assign.Offset, copies []assign.Task, ends []int64, behind int64) []assign.Offset {
	out := slices.DeleteFunc(slices.Clone(told), func(o assign.Offset) bool { return has(copies, o.Task) })
	for _, t := range copies {
		if top.Stateful(t) {
			// A log may be shorter than they are behind: only their order counts.
			out = append(out, assign.Offset{Task: t, Sum: ends[t] + int64(len(ends)) - behind})
		}
	}
	slices.SortFunc(out, func(a, b assign.Offset) int { return int(a.Task) - int(b.Task) })
	return out
}

// orders are the ways in which the members of instances may go, as lists of
// members that go together: all at once, instance by instance, thread by thread.
func (s *streamsSim) orders(leaving []string) [][][]string {
	byProc := map[string][]string{}
	for _, m := range s.members {
		byProc[m.proc.id] = append(byProc[m.proc.id], m.id)
	}
	var all, single []string
	for _, id := range leaving {
		all = append(all, byProc[id]...)
	}
	out := [][][]string{{all}}
	if len(leaving) > 1 {
		for _, ids := range arrangements(leaving) {
			var order [][]string
			for _, id := range ids {
				order = append(order, byProc[id])
			}
			out = append(out, order)
		}
	}
	if single = all; len(single) > len(leaving) {
		var there, back [][]string
		for i := range single {
			there, back = append(there, single[i:i+1]), append(back, single[len(single)-1-i:len(single)-i])
		}
		out = append(out, there, back)
	}
	return out
}

// arrangements are the orders of a few names; of more than a few that which is
// given and its reverse.
func arrangements(names []string) [][]string {
	if len(names) > permuted {
		back := slices.Clone(names)
		slices.Reverse(back)
		return [][]string{names, back}
	}
	if len(names) < 2 {
		return [][]string{names}
	}
	var out [][]string
	for i, first := range names {
		rest := slices.Delete(slices.Clone(names), i, i+1)
		for _, more := range arrangements(rest) {
			out = append(out, append([]string{first}, more...))
		}
	}
	return out
}

// reconciling tells how members may fare between the parts of an order: each has
// what the target gave it, or, which a broker of 4.4 and later sees, nobody has
// moved yet.
func (s *streamsSim) reconciling(order [][]string) []bool {
	if s.current && len(order) > 1 {
		return []bool{true, false}
	}
	return []bool{true}
}
