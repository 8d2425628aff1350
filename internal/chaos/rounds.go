package chaos

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/worker"
)

// led is a round as its leader decided it, with who heard of it.
type led struct {
	entry
	done map[string]int                                // workers that got their share, by instance id
	have map[worker.TaskID]map[string]worker.RoundTask // by task and instance id
	in   map[string]worker.RoundInstance

	others []entry // that were decided as well
}

func (l *led) owner(t worker.TaskID) (id string, task worker.RoundTask) {
	for id, x := range l.have[t] {
		if x.Role == roleActive {
			return id, x
		}
	}
	return "", worker.RoundTask{}
}

// rounds are all rounds that were led, in order. When the leader has left, the
// embedded cluster tells several members that they lead the round: what they
// decide is one and the same.
func (l *Journal) rounds() []*led {
	var list []*led
	for _, e := range l.sorted() {
		switch e.Kind {
		case worker.RoundLed:
			if n := len(list) - 1; n >= 0 && list[n].Generation == e.Generation && list[n].Round.Epoch == e.Round.Epoch {
				list[n].others = append(list[n].others, e)
				continue
			}
			r := &led{entry: e, done: map[string]int{}, have: map[worker.TaskID]map[string]worker.RoundTask{}, in: map[string]worker.RoundInstance{}}
			for _, in := range e.Round.Instances {
				r.in[in.ID] = in
				for _, t := range in.Tasks {
					if r.have[t.ID] == nil {
						r.have[t.ID] = map[string]worker.RoundTask{}
					}
					r.have[t.ID][in.ID] = t
				}
			}
			list = append(list, r)
		case worker.RoundDone:
			for i := len(list) - 1; i >= 0; i-- {
				if list[i].Generation == e.Generation {
					list[i].done[e.Instance]++
					break
				}
			}
		}
	}
	return list
}

// stays says whether an instance stays in a round.
func (l *led) stays(id string) bool {
	in, ok := l.in[id]
	if !ok {
		return false
	}
	return !in.Leaving && !in.Expired || l.Round.MarksVoid && !in.Expired
}

// heard says whether all workers of an instance got the round's outcome.
func (l *led) heard(id string) bool { return l.done[id] >= l.in[id].Workers && l.in[id].Workers > 0 }

// badRounds lists where a led round breaks one of the first four invariants, or the ninth, of
// docs/protocol/stream-protocol.md.
func (j *Job) badRounds() []string {
	var bad []string
	list := j.rounds()
	for i, r := range list {
		for _, x := range r.others {
			if a, b := j.told(r.Round), j.told(x.Round); a != b {
				bad = append(bad, fmt.Sprintf("round of %s, generation %d: invariant 9: %s decides %s, and %s %s", clock(r.At), r.Generation, r.name, a, x.name, b))
			}
		}
		for _, t := range j.tasks() {
			if s := j.badTask(r, t); s != "" {
				bad = append(bad, fmt.Sprintf("round of %s, generation %d: invariant 1: task %s %s: %s", clock(r.At), r.Generation, j.label(t), s, j.told(r.Round)))
			}
			if i == 0 {
				continue
			}
			if s := j.badMove(list[i-1], r, t); s != "" {
				bad = append(bad, fmt.Sprintf("round of %s, generation %d: task %s: %s\n  before %s\n  after  %s", clock(r.At), r.Generation, j.label(t), s,
					j.told(list[i-1].Round), j.told(r.Round)))
			}
		}
	}
	return bad
}

// badTask looks at a task within a round.
func (j *Job) badTask(r *led, t worker.TaskID) string {
	actives, learners, holders := 0, 0, len(r.have[t])
	somebody := slices.ContainsFunc(r.Round.Instances, func(in worker.RoundInstance) bool { return r.stays(in.ID) })
	for id, x := range r.have[t] {
		switch x.Role {
		case roleActive:
			actives++
		case roleLearner:
			learners++
			if !r.stays(id) {
				return "is learned on " + j.nameOf(id) + ", which does not stay"
			}
		}
	}
	inOne := 0
	for _, in := range r.Round.Instances {
		for _, x := range in.Tasks {
			if x.ID == t {
				inOne++
			}
		}
	}
	switch {
	case actives > 1 || actives == 0 && somebody && !r.Round.SwitchWaiting:
		return fmt.Sprintf("has %d actives", actives)
	case learners > 1:
		return fmt.Sprintf("has %d learners", learners)
	case inOne != holders:
		return "is on one instance twice"
	case t.Subtopology != 0 && holders > 1:
		return "is stateless and has copies"
	}
	return ""
}

// badMove looks at what became of a task from one round to the next. An
// instance that did not hear of the first, lost its membership since, or is
// there in part only as it leaves, counts as new.
func (j *Job) badMove(a, b *led, t worker.TaskID) string {
	was, how := a.owner(t)
	is, _ := b.owner(t)
	known := func(id string) bool {
		return a.heard(id) && !j.lostBetween(a, b, id) && a.in[id].Workers == b.in[id].Workers
	}
	_, present := b.in[was]
	sameGroup := a.Round.Epoch == b.Round.Epoch
	if was != "" && present && known(was) && sameGroup && !b.in[was].Expired && is != was {
		switch {
		case t.Subtopology != 0 && (how.Release || b.in[was].Leaving):
		case t.Subtopology == 0 && slices.Contains(how.Tags, tagLearned) && a.have[t][is].Role == roleLearner && j.readyBetween(b, is, t):
		default:
			return fmt.Sprintf("invariant 2: it left %s for %q", j.nameOf(was), j.nameOf(is))
		}
	}
	if is != "" && is != was && !b.stays(is) && known(is) && sameGroup {
		return fmt.Sprintf("invariant 3: %s does not stay and got it", j.nameOf(is))
	}
	for id, x := range a.have[t] {
		if x.Role != roleLearner || !b.stays(id) || !known(id) || !sameGroup || b.have[t][id].Role != "" && b.have[t][id].Role != roleStandby {
			continue
		}
		if is == was && known(was) && !j.unmarkedBetween(a, b, was) && !b.Round.SwitchWaiting && !b.in[was].Expired {
			return fmt.Sprintf("invariant 4: %s no longer learns it", j.nameOf(id))
		}
	}
	return ""
}

// lostBetween says whether an instance's memberships of a round were gone before
// the next.
func (j *Job) lostBetween(a, b *led, id string) bool {
	if j.endedBetween(a, b, id) {
		return true
	}
	return slices.ContainsFunc(j.sorted(), func(e entry) bool {
		return e.Instance == id && !e.At.Before(a.At) && !e.At.After(b.At) &&
			(e.Kind == worker.MembershipLost || e.Kind == worker.Left || e.Kind == worker.SwitchBegun || e.Kind == worker.OlderWon)
	})
}

// endedBetween says whether the test began to end an instance before a round, of
// which some of its workers may be left then.
func (j *Job) endedBetween(a, b *led, id string) bool {
	lives := j.nameOf(id) + "#"
	j.Journal.mu.Lock()
	defer j.Journal.mu.Unlock()
	for life, e := range j.ends {
		if strings.HasPrefix(life, lives) && e.began.Before(b.At) && e.done.After(a.At) {
			return true
		}
	}
	return false
}

// readyBetween says whether the learner of a task was ready before a round.
func (j *Job) readyBetween(b *led, id string, t worker.TaskID) bool {
	return slices.ContainsFunc(j.sorted(), func(e entry) bool {
		return e.Instance == id && e.Kind == worker.LearnerReady && e.Task == t && !e.At.After(b.At)
	})
}

// unmarkedBetween says whether the owner's mark was withdrawn since the round
// before.
func (j *Job) unmarkedBetween(a, b *led, id string) bool {
	return a.in[id].Leaving && !b.in[id].Leaving || slices.ContainsFunc(j.sorted(), func(e entry) bool {
		return e.Instance == id && e.Kind == worker.MarkWithdrawn && !e.At.After(b.At) && e.At.After(a.At)
	})
}

// unbalanced lists staying instances outside of their bounds after the last
// round, as docs/protocol/stream-protocol.md, Bounds, has them.
func (j *Job) unbalanced() []string {
	list := j.rounds()
	if len(list) == 0 {
		return []string{"no round was led"}
	}
	r := list[len(list)-1]
	total, tasks := 0, len(j.tasks())
	for id, in := range r.in {
		if r.stays(id) {
			total += in.Workers
		}
	}
	bounds := func(e *big.Rat, whole bool) (low, high int) {
		factor := big.NewRat(j.O.Settings.BalancingFactor, 1000)
		low, high = ceil(new(big.Rat).Quo(e, factor)), floor(new(big.Rat).Mul(e, factor))
		if whole || low > high {
			return floor(e), ceil(e)
		}
		return low, high
	}
	lows, highs := 0, 0
	for id, in := range r.in {
		if r.stays(id) {
			low, high := bounds(big.NewRat(int64(tasks*in.Workers), int64(total)), false)
			lows, highs = lows+low, highs+high
		}
	}
	var bad []string
	for id, in := range r.in {
		if !r.stays(id) {
			bad = append(bad, j.nameOf(id)+" is still there")
			continue
		}
		low, high := bounds(big.NewRat(int64(tasks*in.Workers), int64(total)), lows > tasks || highs < tasks)
		n := 0
		for _, t := range in.Tasks {
			if t.Role == roleActive {
				n++
			}
		}
		if n < low || n > high {
			bad = append(bad, fmt.Sprintf("%s has %d tasks, not %d to %d: %s", j.nameOf(id), n, low, high, j.told(r.Round)))
		}
	}
	return append(bad, j.missingStandbys(r)...)
}

// missingStandbys lists stateful tasks that have not the standbys that they
// should have at the end.
func (j *Job) missingStandbys(r *led) (bad []string) {
	for _, t := range j.tasks() {
		n := 0
		for _, x := range r.have[t] {
			if x.Role == roleStandby {
				n++
			}
		}
		if want := min(int(j.O.Settings.StandbyReplicas), len(r.in)-1); t.Subtopology == 0 && n != want {
			bad = append(bad, fmt.Sprintf("task %s has %d standbys, not %d", j.label(t), n, want))
		}
	}
	return bad
}

func floor(r *big.Rat) int { return int(new(big.Int).Div(r.Num(), r.Denom()).Int64()) }

func ceil(r *big.Rat) int {
	return -int(new(big.Int).Div(new(big.Int).Neg(r.Num()), r.Denom()).Int64())
}
