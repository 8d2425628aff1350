package plan

import (
	"fmt"
	"slices"
	"strings"

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
	r.before = r.rec.balance(set.factor)
	var sim simulation
	switch assignor {
	case assign.NameHighAvailability:
		sim = newClassicSim(in, o, set, r.rec, seed)
	case assign.NameStreamsSticky:
		if sim, err = newStreamsSim(in, o, set, r.rec, seed); err != nil {
			return nil, err
		}
	case NameLearner:
		sim = newLearnerSim(in, o, set, r.rec, seed)
	default:
		return nil, fmt.Errorf("assignor %q is not known", assignor)
	}
	if o.trace != nil {
		sim = &tracedSimulation{sim, r.rec, o.trace}
	}
	if len(r.rec.reported) > 0 {
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
		bounded, err := r.rounds(sim, most, o.MaxRounds)
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
// bound. It reports whether the bound cut them off.
func (r *run) rounds(sim simulation, most, limit int) (bounded bool, err error) {
	for n := 0; most < 0 || n < most; n++ {
		if most < 0 && (r.rec.totals.Rounds >= limit || len(r.rec.rounds) >= 2*limit+2) {
			return true, nil
		}
		if more, err := sim.round(); err != nil || !more {
			return false, err
		}
	}
	return false, nil
}

// newName names the k-th instance that joins with a change.
func (r *recorder) newName(a Add, k int) string {
	if k < len(a.Names) {
		return a.Names[k]
	}
	n := 1
	for _, p := range r.parties {
		if strings.HasPrefix(p.name, "new-") {
			n++
		}
	}
	return fmt.Sprintf("new-%d", n)
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
