package worker

import (
	"maps"
	"slices"

	"github.com/streamctl/streamctl/internal/groupmeta"
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

// marksOf are the ids of the marks that an instance's members name.
func (l *leaderRound) marksOf(instance string) []string {
	marks := map[string]bool{}
	for _, m := range l.members {
		if m.Instance == instance {
			for _, id := range m.Marks {
				marks[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(marks))
}
