package cmd

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// A rebalance is no small thing for an app that works, so the next one is asked
// for when a learner can be expected to be ready. Positions of a classic group
// come only with rounds: two rounds give a rate, and the rate the time.
const (
	readyLag     = 10000           // acceptable.recovery.lag where nothing else is known: the default of Kafka Streams
	longestPause = 2 * time.Minute // between two rebalances while nothing is known
	jitter       = 0.2             // of the pause: two tools, or the members' heartbeats, shall not fall into step
)

// pace decides when to ask again.
type pace struct {
	min   time.Duration
	pause time.Duration // the last one
	at    time.Time     // of the round before
	left  map[copyOf]int64
}

type copyOf struct {
	task   model.TaskID
	member string
}

func newPace(least time.Duration) pace { return pace{min: least, pause: least} }

// least is the pause that holds whatever a rebalance brings.
func (p *pace) least() time.Duration { return p.min }

// next is the pause from the start of one rebalance to the start of the next:
// until the first learner should be ready, by the records that the learners
// restored since the round before; twice the last one when nothing was restored
// or is known; never less than min. draw is from 0 to 1.
func (p *pace) next(g *model.Group, at time.Time, moved int, draw float64) time.Duration {
	now := map[copyOf]int64{}
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			m := &g.Instances[i].Members[j]
			for k := range m.Tasks {
				if t := &m.Tasks[k]; t.Role == model.Learner && t.Restore.RemainingRecords != nil {
					now[copyOf{t.ID, m.ID}] = *t.Restore.RemainingRecords
				}
			}
		}
	}
	soonest, known := p.soonest(now, at)
	switch {
	case moved > 0 || p.left == nil: // new learners, of which nothing is known yet
		p.pause = p.min
	case known:
		p.pause = min(max(p.min, soonest), longestPause)
	default:
		p.pause = min(max(p.min, 2*p.pause), max(longestPause, p.min))
	}
	p.left, p.at = now, at
	return p.pause + time.Duration(draw*jitter*float64(p.pause))
}

// soonest is when the first of the learners should be within readyLag.
func (p *pace) soonest(now map[copyOf]int64, at time.Time) (time.Duration, bool) {
	best, known := time.Duration(0), false
	for k, left := range now {
		before, seen := p.left[k]
		took := at.Sub(p.at).Seconds()
		if !seen || before <= left || took <= 0 {
			continue
		}
		rate := float64(before-left) / took
		d := time.Duration(max(0, float64(left-readyLag)) / rate * float64(time.Second))
		if !known || d < best {
			best, known = d, true
		}
	}
	return best, known
}
