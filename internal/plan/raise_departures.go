package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
)

type departureKey struct {
	task    assign.Task
	raising bool
}

// departures gathers where tasks may go.
type departures struct {
	in *Input
	at map[departureKey]*Departure
}

// add notes that a task may go from one process to another; copies are what
// processes held before.
func (f *departures) add(t assign.Task, from, to *streamsProc, copies map[copyKey]bool, raising bool) {
	d := f.departure(t, from, raising)
	if to == nil || slices.Contains(d.To, to.id) {
		return
	}
	d.To = append(d.To, to.id)
	if !copies[copyKey{t, to}] {
		d.Cold = append(d.Cold, to.id)
	}
}

func (f *departures) departure(t assign.Task, from *streamsProc, raising bool) *Departure {
	k := departureKey{t, raising}
	d := f.at[k]
	if d == nil {
		d = &Departure{Task: f.in.Topology.ID(t), Stateful: f.in.Topology.Stateful(t), Raising: raising}
		if from != nil {
			d.From = from.id
		}
		f.at[k] = d
	}
	return d
}

// stop lets members go in an order and notes where tasks get to: those that
// move between threads of instances that go are followed to where they end.
func (f *departures) stop(s *streamsSim, order [][]string, leaving []string, reconciled bool) error {
	before, copies := s.placesOfActives(), s.copies()
	c := s.clone()
	for _, together := range order {
		c.members = slices.DeleteFunc(c.members, func(m *streamsMember) bool { return slices.Contains(together, m.id) })
		if err := c.retarget(); err != nil {
			return err
		}
		for t, p := range c.placesOfActives() {
			if p != before[t] && !slices.Contains(leaving, p.id) {
				f.add(t, before[t], p, copies, false)
				copies[copyKey{t, p}] = true // it has it from now on
			}
		}
		if reconciled {
			c.settle()
		}
	}
	for t, p := range before { // what nobody takes
		if slices.Contains(leaving, p.id) {
			f.departure(t, p, false)
		}
	}
	return nil
}

// anywhere notes that every task of the leaving instances may go to each that
// stays: where the assignor's choice cannot be told.
func (f *departures) anywhere(s *streamsSim, leaving []string) {
	copies := s.copies()
	for t, from := range s.placesOfActives() {
		if !slices.Contains(leaving, from.id) {
			continue
		}
		f.departure(t, from, false)
		for _, p := range s.procs {
			if !slices.Contains(leaving, p.id) {
				f.add(t, from, p, copies, false)
			}
		}
	}
}

// list gives the departures by task, those at the raise first. The first
// instance that a task may go to is the one of the first computation.
func (f *departures) list() []Departure {
	keys := slices.SortedFunc(maps.Keys(f.at), func(a, b departureKey) int {
		if a.raising != b.raising {
			if a.raising {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.task, b.task)
	})
	out := make([]Departure, 0, len(keys))
	for _, k := range keys {
		d := *f.at[k]
		if len(d.To) > 1 {
			slices.Sort(d.To[1:])
		}
		slices.Sort(d.Cold)
		out = append(out, d)
	}
	return out
}
