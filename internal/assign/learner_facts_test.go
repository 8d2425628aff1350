package assign

import (
	"math"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// learnerFacts is what a round starts from, worked out by the words of
// stream-protocol.md from the members alone, each instance given once.
type learnerFacts struct {
	in      *LearnerInput
	present map[string]*LearnerInstance
	stays   map[string]bool
	owner   map[Task]string // whose claim counts
	tagged  map[Task]bool
	claims  map[Task]map[string]bool // by task and instance: whether it is tagged there
	learner map[Task]string          // the learner that counts, on a staying instance
	ready   map[Task]bool
}

func factsOf(in *LearnerInput) *learnerFacts {
	f := &learnerFacts{
		in: in, present: map[string]*LearnerInstance{}, stays: map[string]bool{}, owner: map[Task]string{}, tagged: map[Task]bool{}, claims: map[Task]map[string]bool{},
		learner: map[Task]string{}, ready: map[Task]bool{},
	}
	anyone := slices.ContainsFunc(in.Instances, func(i LearnerInstance) bool { return !i.Leaving })
	for n := range in.Instances {
		i := &in.Instances[n]
		f.present[i.ID] = i
		f.stays[i.ID] = !i.Leaving || !anyone && !i.Expired
	}
	ids := slices.Clone(in.Instances)
	slices.SortFunc(ids, func(a, b LearnerInstance) int { return strings.Compare(a.ID, b.ID) })
	best := map[Task]*LearnerWorker{}
	lags := map[Task]int64{}
	for n := range ids {
		i := &ids[n]
		f.claimsOf(i, best)
		for _, w := range i.Workers {
			for _, t := range w.Tasks {
				_, claims := f.claims[t.Task][i.ID]
				if t.Role != model.Learner || !f.stays[i.ID] || claims {
					continue
				}
				lag := t.Lag
				if lag < 0 {
					lag = math.MaxInt64
				} else if lag <= in.Settings.AcceptableLag {
					lag = 0
				}
				_, some := f.learner[t.Task]
				if !some || t.Ready && !f.ready[t.Task] || t.Ready == f.ready[t.Task] && lag < lags[t.Task] {
					f.learner[t.Task], f.ready[t.Task], lags[t.Task] = i.ID, t.Ready, lag
				}
			}
		}
	}
	for t, by := range f.claims {
		f.tagged[t] = by[f.owner[t]]
	}
	return f
}

// claimsOf takes in what one instance claims. A task is tagged by an instance
// when all its workers that claim it say so.
func (f *learnerFacts) claimsOf(i *LearnerInstance, best map[Task]*LearnerWorker) {
	for n := range i.Workers {
		w := &i.Workers[n]
		for _, t := range w.Tasks {
			if t.Role != model.Active {
				continue
			}
			if f.claims[t.Task] == nil {
				f.claims[t.Task] = map[string]bool{}
			}
			tagged, before := f.claims[t.Task][i.ID]
			f.claims[t.Task][i.ID] = t.BeingLearned && (tagged || !before)
			if best[t.Task] == nil || claimBefore(w, best[t.Task]) {
				best[t.Task], f.owner[t.Task] = w, i.ID
			}
		}
	}
}

func claimBefore(a, b *LearnerWorker) bool {
	if a.Carried != b.Carried {
		return b.Carried
	}
	return a.Carried && a.Epoch > b.Epoch || (!a.Carried || a.Epoch == b.Epoch) && a.Generation > b.Generation
}
