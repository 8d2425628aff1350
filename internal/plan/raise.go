package plan

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// stickyName is how a broker calls the assignor whose rules are known.
const stickyName = "sticky"

// Raise says what it takes to stop instances of a streams group (KIP-1071) with
// no task restoring cold. The broker makes copies only by num.standby.replicas,
// and gives a task to an instance that holds its copy only where that one is
// below its share; so how many standbys are enough is found by computing the
// targets (docs/reference/assignors.md, section 4).
type Raise struct {
	Leaving []string // ids of the instances that stop; sorted
	Before  int      // num.standby.replicas as it is
	Most    int      // the largest number that was tried
	Need    int      // the smallest number from Before on that is enough; negative: none up to Most is
	Exact   bool     // where tasks go can be told; else Need gives every instance a copy of every task
	Stays   bool     // some instance stays

	Now  []Departure // with Before standbys; by task
	Then []Departure // with Need standbys, or with Most where Need is negative; by task

	Copies  int    // that the raise to Need makes
	Records *int64 // they restore at most; nil when not known
}

// Departure is one task that goes elsewhere, as far as that can be told: an
// active task of an instance that stops, or another one that moves along.
type Departure struct {
	Task     model.TaskID
	Stateful bool
	From     string   // id of the instance that has it
	To       []string // ids of the instances that may get it: first the most likely one, then the others by id; empty: nobody is left
	Cold     []string // those of To that have no copy of it; sorted
	Raising  bool     // it moves when the setting is raised, not when the instances stop
}

// Warm reports whether every instance that may get the task has a copy, or
// there is nothing to copy.
func (d *Departure) Warm() bool { return !d.Stateful || len(d.To) > 0 && len(d.Cold) == 0 }

// Missing are the departures of a list that would restore cold.
func Missing(list []Departure) []Departure {
	var out []Departure
	for _, d := range list {
		if !d.Warm() {
			out = append(out, d)
		}
	}
	return out
}

// NeedStandbys finds the smallest num.standby.replicas, from the present one up
// to most, with which every task goes to an instance that has a copy when the
// named instances stop: together or one after the other, with all their threads
// at once or in turn. Copies count as caught up. A number that would itself
// move an active task to an instance without a copy is passed over. A negative
// most is no bound: beyond one less than the instances there is nothing to gain.
func NeedStandbys(in *Input, leaving []string, o Options, most int) (*Raise, error) {
	d, err := newDrainPlan(in, leaving, o)
	if err != nil {
		return nil, err
	}
	r := &Raise{Leaving: d.leaving, Before: d.before, Need: -1, Exact: d.exact, Stays: len(d.leaving) < len(in.Instances)}
	r.Most = max(len(in.Instances)-1, d.before)
	if most >= 0 {
		r.Most = max(min(r.Most, most), d.before)
	}
	for n := r.Before; n <= r.Most; n++ {
		if r.Then, err = d.with(n); err != nil {
			return nil, err
		}
		if n == r.Before {
			r.Now = r.Then
		}
		if len(Missing(r.Then)) == 0 {
			r.Need, r.Copies, r.Records = n, d.copies, d.records
			break
		}
		if !r.Stays {
			break
		}
	}
	return r, nil
}

// drainPlan computes where tasks go when instances stop.
type drainPlan struct {
	in       *Input
	o        Options
	leaving  []string
	before   int
	versions []string
	exact    bool

	copies  int // of the last raise
	records *int64
}

func newDrainPlan(in *Input, leaving []string, o Options) (*drainPlan, error) {
	if err := in.refuse(&o); err != nil {
		return nil, err
	}
	d := &drainPlan{in: in, o: o, exact: in.group == nil || in.group.Assignor == "" || in.group.Assignor == stickyName}
	if in.Kind != model.Streams {
		return nil, &RefusedError{Group: in.Group, Why: "is no streams group: the broker makes no copies in it"}
	}
	for _, name := range leaving {
		k, err := in.find(name)
		if err != nil {
			return nil, err
		}
		d.leaving = append(d.leaving, in.Instances[k].ID)
	}
	slices.Sort(d.leaving)
	d.leaving = slices.Compact(d.leaving)
	d.versions = []string{cmp.Or(o.KafkaVersion, in.KafkaVersion)}
	if d.versions[0] == "" {
		d.versions = []string{"4.3", "4.4"} // which rules hold cannot be told: the number must do for all
	}
	for _, v := range d.versions {
		var inexact *assign.InexactError
		if _, err := assign.Find(assign.NameStreamsSticky, v); errors.As(err, &inexact) {
			d.exact = false
		} else if err != nil {
			return nil, err
		}
	}
	for _, s := range in.Settings {
		if s.Key == KeyStandbys {
			n, err := strconv.Atoi(s.Value)
			if err != nil {
				return nil, &SettingError{s.Key, s.Value, "is no whole number"}
			}
			d.before = n
		}
	}
	return d, nil
}

// with gives the departures with so many standbys; by task, those at the raise
// first.
func (d *drainPlan) with(n int) ([]Departure, error) {
	found := departures{in: d.in, at: map[departureKey]*Departure{}}
	for _, version := range d.versions {
		base, err := d.settled(n, version, &found)
		if err != nil {
			return nil, err
		}
		if !d.exact {
			found.anywhere(base, d.leaving)
			continue
		}
		for _, s := range base.told(n == d.before) {
			for _, order := range s.orders(d.leaving) {
				for _, waits := range s.reconciling(order) {
					if err := found.stop(s, order, d.leaving, waits); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return found.list(), nil
}

// settled is the group with so many standbys, everyone having what the target
// gives. A raise is a target of its own, whose moves are noted.
func (d *drainPlan) settled(n int, version string, found *departures) (*streamsSim, error) {
	o := d.o
	o.Set = map[string]string{KeyStandbys: strconv.Itoa(n)}
	o.KafkaVersion, o.Changes = version, nil
	set, err := resolve(d.in, assign.NameStreamsSticky, &o)
	if err != nil {
		return nil, err
	}
	s, err := newStreamsSim(d.in, &o, set, newRecorder(d.in, 0, Rate{}), firstSeed)
	if err != nil {
		return nil, err
	}
	s.settle()
	d.copies, d.records = 0, new(int64)
	if n == d.before {
		return s, nil
	}
	before, copies := s.placesOfActives(), s.copies()
	if err := s.retarget(); err != nil {
		return nil, err
	}
	s.settle()
	d.restores(s, copies)
	for t, p := range s.placesOfActives() {
		if from := before[t]; from != p {
			found.add(t, from, p, copies, true)
		}
	}
	return s, nil
}

// restores counts what copies restore that were not there.
func (d *drainPlan) restores(s *streamsSim, had map[copyKey]bool) {
	for k := range s.copies() {
		if had[k] || !s.top.Stateful(k.task) {
			continue
		}
		d.copies++
		if !d.in.Logs[k.task].Known {
			d.records = nil
		}
		if d.records != nil {
			*d.records += max(0, s.ends[k.task]-k.proc.position[k.task])
		}
	}
}
