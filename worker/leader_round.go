package worker

import (
	"maps"
	"slices"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// round is what the leader decided, as an observer sees it.
func (l *leaderRound) round(generation int32) *Round {
	r := &Round{
		Generation: generation, Epoch: l.of.epoch, Mode: l.of.mode,
		AnotherRound: l.result.AnotherRound, SwitchWaiting: l.result.SwitchWaiting, MarksVoid: l.result.MarksVoid,
	}
	for i := range l.result.Instances {
		share := &l.result.Instances[i]
		in := RoundInstance{ID: share.ID, Workers: len(share.Workers), Leaving: l.leaving(share.ID)}
		for _, w := range share.Workers {
			m := l.members[w.ID]
			in.Host, in.Expired = m.Host, in.Leaving && m.Expired
			for _, t := range w.Tasks {
				in.Tasks = append(in.Tasks, roundTask(l.task(share.ID, t), w.ID))
			}
		}
		slices.SortFunc(in.Tasks, func(a, b RoundTask) int { return a.ID.internal().Compare(b.ID.internal()) })
		r.Instances = append(r.Instances, in)
	}
	return r
}

func roundTask(t groupmeta.AssignedTask, member string) RoundTask {
	return RoundTask{
		ID: taskID(t.ID), Worker: member, Role: string(t.Role), Tags: tagWords(t.Tags), Release: t.Release, Reason: string(t.Reason),
	}
}

func tagWords(t groupmeta.StreamTags) []string {
	list := []string{}
	for _, tag := range t.List() {
		list = append(list, string(tag))
	}
	return list
}

// instanceSaid is what the members of one instance say, taken together. A round
// of a large group asks for it with each of its tasks.
type instanceSaid struct {
	leaving bool                  // all of them say that it leaves
	ready   map[model.TaskID]bool // learners that one of them calls ready
	marks   map[string]bool
}

// hear takes in what the members say of their instances.
func (l *leaderRound) hear() {
	l.said = map[string]*instanceSaid{}
	for _, m := range l.members {
		s := l.said[m.Instance]
		if s == nil {
			s = &instanceSaid{leaving: true, ready: map[model.TaskID]bool{}, marks: map[string]bool{}}
			l.said[m.Instance] = s
		}
		s.leaving = s.leaving && m.Leaving
		for _, id := range m.Marks {
			s.marks[id] = true
		}
		for i := range m.Tasks {
			if t := &m.Tasks[i]; t.Role == model.Learner && t.Tags.Has(groupmeta.TagReady) {
				s.ready[t.ID] = true
			}
		}
	}
}

// leaving says whether all members of an instance say that it leaves.
func (l *leaderRound) leaving(instance string) bool { return l.said[instance].leaving }

// wasReady says whether a learner came to this round as ready.
func (l *leaderRound) wasReady(instance string, id model.TaskID) bool {
	return l.said[instance].ready[id]
}

// marksOf are the ids of the marks that an instance's members name.
func (l *leaderRound) marksOf(instance string) []string {
	return slices.Sorted(maps.Keys(l.said[instance].marks))
}
