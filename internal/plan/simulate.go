package plan

import (
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
)

// simulation runs one group with one draw of ids.
type simulation interface {
	// change makes one step of changes; first says that no step came before.
	change(list []Change, first bool) error
	// round does the next rebalance; false when none is to come.
	round() (bool, error)
	// finish tells what the end is when rounds were cut off at the bound.
	finish(bounded bool) error
}

// run is one plan with one draw of ids.
type run struct {
	rec       *recorder
	set       *settings
	before    Balance
	converged bool
	copies    string
}

// runOnce plans with the ids of one seed.
func runOnce(in *Input, o *Options, assignor string, seed uint64) (*run, error) {
	set, err := resolve(in, assignor, o)
	if err != nil {
		return nil, err
	}
	acceptable := set.AcceptableLag
	r := &run{set: set, rec: newRecorder(in, acceptable, o.Rate), converged: true, copies: CopiesCaughtUp}
	r.before = r.rec.balanceOf(in.Topology.Len()-in.more, set.factor)
	var sim simulation
	switch assignor {
	case assign.NameHighAvailability:
		sim = newClassicSim(in, o, set, r.rec, seed)
	case assign.NameStreamsSticky:
		if sim, err = newStreamsSim(in, o, set, r.rec, seed); err != nil {
			return nil, err
		}
	case NameLearner:
		if in.plug != nil {
			c := newClassicSim(in, o, set, r.rec, seed)
			c.plug = c.plugInRules(in.plug)
			sim = c
		} else {
			sim = newLearnerSim(in, o, set, r.rec, seed)
		}
	default:
		return nil, fmt.Errorf("assignor %q is not known", assignor)
	}
	if o.trace != nil {
		sim = &tracedSimulation{sim, r.rec, o.trace}
	}
	if len(r.rec.reported) > 0 || goesByReports(in, assignor) {
		r.copies = CopiesReported
	}
	list, wait := steps(o.Changes)
	for i, step := range list {
		if err := sim.change(step, i == 0); err != nil {
			return nil, err
		}
		most := wait[i]
		if i == len(list)-1 {
			most = -1
		}
		bounded, err := r.rounds(sim, most, o)
		if err != nil {
			return nil, err
		}
		if bounded {
			r.converged = false
			return r, sim.finish(true)
		}
	}
	return r, sim.finish(false)
}

// rounds runs so many rounds, or with a negative number all that come up to the
// bound, but the one that follows from the changes in any case. It reports
// whether the bound cut them off.
func (r *run) rounds(sim simulation, most int, o *Options) (bounded bool, err error) {
	for n := 0; most < 0 || n < most; n++ {
		if most < 0 && n > 0 && (r.rec.totals.Rounds >= o.MaxRounds || len(r.rec.rounds) >= 2*o.MaxRounds+2) {
			return true, nil
		}
		if o.Stopped != nil {
			if err := o.Stopped(); err != nil {
				return false, err
			}
		}
		if more, err := sim.round(); err != nil || !more {
			return false, err
		}
	}
	return false, nil
}

// join notes the k-th instance of those that a change adds, with the id that it
// gives or else the one drawn.
func (r *recorder) join(a Add, k int, drawn string, workers int) (int32, *party, error) {
	p := &party{id: drawn, workers: workers}
	if k < len(a.IDs) {
		p.id = a.IDs[k]
	}
	if r.taken[p.id] {
		return 0, nil, &ChangeError{a.Describe(), "the group has an instance " + p.id + " already"}
	}
	r.taken[p.id] = true
	if k < len(a.Names) {
		p.name = a.Names[k]
	} else {
		for p.name == "" || r.called[p.name] {
			r.unnamed++
			p.name = fmt.Sprintf("new-%d", r.unnamed)
		}
	}
	r.called[p.name] = true
	r.parties = append(r.parties, p)
	return int32(len(r.parties) - 1), p, nil
}

// free lets the id of an instance that goes be taken by another.
func (r *recorder) free(id string) { delete(r.taken, id) }

// workers are those of all instances that take part.
func (r *recorder) workers() int {
	n := 0
	for _, p := range r.parties {
		if !p.gone {
			n += p.workers
		}
	}
	return n
}

// orphan takes the tasks from an instance that restarts.
func (r *recorder) orphan(i int32) {
	p := r.parties[i]
	r.orphans = append(r.orphans, p.active...)
	p.active, p.standby, p.learner = nil, nil, nil
}

func (r *recorder) staticBounce(name string) {
	r.note(NoteStatic, "0 moves if %s returns within the session timeout and keeps its thread count: its members have a group.instance.id", name)
}

func (r *recorder) note(code, format string, args ...any) {
	f := Finding{Code: code, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(r.findings, f) {
		r.findings = append(r.findings, f)
	}
}

// goesByReports reports whether the copies of a plan are where the members said,
// not caught up: in all plans but those of classic groups, once a member says.
func goesByReports(in *Input, assignor string) bool {
	if assignor == assign.NameHighAvailability || in.plug != nil {
		return false
	}
	for i := range in.Instances {
		for j := range in.Instances[i].Members {
			if len(in.Instances[i].Members[j].Reported) > 0 {
				return true
			}
		}
	}
	return false
}
