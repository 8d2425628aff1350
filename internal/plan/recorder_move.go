package plan

import (
	"math"

	"github.com/streamctl/streamctl/internal/assign"
)

// WhyUnknownState is why a task is down whose changelog's end is not known.
const WhyUnknownState = "restores its state, nobody knows how much that is"

// give records that an instance runs a task that it did not run.
func (r *recorder) give(round *Round, s *step, i int32, t assign.Task, position int64, orphan bool) {
	left := max(0, r.end(t)-position)
	h := holding{t, i}
	how := HowCold
	switch {
	case !r.top.Stateful(t):
		how = HowStateless
	case left <= r.acceptable && r.learned[h]:
		how = HowReadyLearner
	case left <= r.acceptable && position > 0 && has(r.parties[i].standby, t):
		how = HowStandby
	case left <= r.acceptable && position > 0:
		how = HowLeftOver
	}
	if from := r.owner[t]; from != i && (from == nobody || r.parties[from].id != r.parties[i].id) {
		m := Move{Task: r.name(t), task: t, To: r.parties[i].id, How: how}
		if from != nobody {
			m.From = r.parties[from].id
		}
		round.Moves = append(round.Moves, m)
		r.totals.Moves++
	}
	delete(r.learned, h)
	delete(r.dropped, h)
	restores := int64(0)
	if how == HowCold {
		restores = left
		r.begin(t, i, position)
		r.endMs = max(r.endMs, s.atMs+r.secondsFor(t, restores)*1000)
	}
	switch log := r.in.Logs[t]; {
	case how == HowCold && !log.Known && position == 0:
		r.downTasks[t] = true
		round.Down = append(round.Down, Down{Task: r.name(t), task: t, Why: WhyUnknownState, Reason: WhyUnknownState})
		r.noEnd = true
	case orphan || restores > 0:
		r.down(round, t, s, restores, r.secondsFor(t, restores), orphan)
	}
}

// down records that a task is not processed for some time.
func (r *recorder) down(round *Round, t assign.Task, s *step, restores int64, secs float64, orphan bool) {
	d := Down{Task: r.name(t), task: t}
	known := restores == 0 || secs > 0
	if orphan && s.waitMs > 0 {
		d.Reason, d.WaitS = s.waitWhy, seconds(s.waitMs)
		secs += s.waitMs / 1000
	}
	if d.Why = d.Reason; restores > 0 {
		if d.Reason != "" {
			d.Reason += ", then "
		}
		d.RemainingRecords = &restores
		d.Why = d.Reason + "restores " + count(int(restores), "record")
	}
	if d.Why == "" {
		return // a hand-over, no more
	}
	if known {
		secs = seconds(secs * 1000)
		d.Seconds = &secs
	}
	r.downTasks[t] = true
	round.Down = append(round.Down, d)
}

// begin counts a copy that starts to restore.
func (r *recorder) begin(t assign.Task, i int32, position int64) Copy {
	c := Copy{Task: r.name(t), task: t, Instance: r.parties[i].id}
	log := r.in.Logs[t]
	left := max(0, r.end(t)-position)
	r.noEnd = r.noEnd || left > 0 && r.rate.records(log) <= 0
	if log.Known {
		c.RemainingRecords = &left
		r.records = plus(r.records, left)
		if b, ok := log.bytes(left); ok {
			c.RemainingBytes = &b
			r.bytes = plus(r.bytes, b)
		} else {
			r.noBytes = true
		}
	} else {
		r.noRecords, r.noBytes = true, true
	}
	return c
}

// plus adds what is not negative, up to the largest number.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// secondsFor is how long an instance restores so many records of a task; 0
// when it cannot be told.
func (r *recorder) secondsFor(t assign.Task, records int64) float64 {
	if per := r.rate.records(r.in.Logs[t]); per > 0 {
		return float64(records) / per
	}
	return 0
}

func (r *recorder) name(t assign.Task) string { return r.top.ID(t).String() }

// end is the sum of the ends of a task's changelogs.
func (r *recorder) end(t assign.Task) int64 { return r.ends[t] }
