package worker

import (
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/seat"
)

// leaderRound is one round as the leader sees it: nothing but what the members
// say counts, so that any member can lead.
type leaderRound struct {
	of      *state
	top     *assign.Topology
	counts  map[string]int32 // partitions by topic
	members map[string]*groupmeta.StreamMetadata
	said    map[string]*instanceSaid // by instance
	order   []string                 // member ids whose metadata are ours, sorted
	foreign []string                 // the others: they get nothing
	result  assign.LearnerResult
	back    int32 // comingBack, once there is a result
}

// decide computes a round. A leader that is about to leave for a mode switch
// holds: it decides as if the switch were over and members still on their way
// back, and gives nothing to anybody else, so that those who left already find
// what they had. So it does early in a switch, too, while some are missing.
func (s *state) decide(protocolType string, r seat.Round, hold bool, now time.Time) (*leaderRound, error) {
	l := &leaderRound{of: s, counts: r.Partitions, members: map[string]*groupmeta.StreamMetadata{}}
	for _, m := range r.Members {
		md, err := groupmeta.ParseWorkerMetadata(protocolType, m.Metadata)
		if err != nil {
			l.foreign = append(l.foreign, m.ID)
			continue
		}
		l.members[m.ID] = md
		l.order = append(l.order, m.ID)
	}
	slices.Sort(l.order)
	l.hear()
	var err error
	if l.top, err = l.topology(); err != nil {
		return nil, err
	}
	in := assign.LearnerInput{Topology: l.top, Settings: assign.LearnerSettings{
		Factor: s.set.BalancingFactor, MaxLearners: int(s.set.MaxLearners), Standbys: int(s.set.StandbyReplicas), AcceptableLag: s.set.AcceptableLag,
	}}
	partly := l.partly()
	held := hold || s.returning(now) && (partly || l.missing())
	for _, id := range l.order {
		one := l.instance(id)
		if hold {
			one.Workers[0].SwitchOpen = true
		}
		if held {
			holdBack(one.Workers[0].Tasks)
		}
		if hold || partly {
			one.Workers[0].LastInstances = len(l.order) + 1
		}
		in.Instances = append(in.Instances, one)
	}
	l.result = assign.Learner(in)
	l.back = l.comingBack()
	return l, nil
}

// holdBack leaves copies what they are: none is fit to take a task over.
func holdBack(tasks []assign.LearnerTask) {
	for n := range tasks {
		if t := &tasks[n]; t.Role != model.Active {
			t.Ready, t.Lag = false, assign.LearnerLagUnknown
		}
	}
}

// missing says whether there are fewer instances than in some member's last
// round.
func (l *leaderRound) missing() bool {
	here, before := map[string]bool{}, int32(0)
	for _, m := range l.members {
		here[m.Instance] = true
		before = max(before, m.LastInstances)
	}
	return len(here) < int(before)
}

// partly says whether an instance is there with some of its workers only. It is
// not back from a mode switch then.
func (l *leaderRound) partly() bool {
	here := map[string]int32{}
	for _, m := range l.members {
		here[m.Instance]++
	}
	for _, m := range l.members {
		if here[m.Instance] < m.Workers {
			return true
		}
	}
	return false
}

// topology is the tasks of the group: of each subtopology as many as its inputs
// have partitions, or, should they not be known at the moment, as any member
// has seen.
func (l *leaderRound) topology() (*assign.Topology, error) {
	var subs []assign.Subtopology
	for _, t := range l.of.topology {
		n := t.tasks(l.counts)
		for _, m := range l.members {
			for _, other := range m.Topology {
				if other.ID == t.ID && !t.allKnown(l.counts) {
					n = max(n, other.Partitions)
				}
			}
		}
		subs = append(subs, assign.Subtopology{ID: model.ClassicTask("", t.ID, 0).Subtopology, Partitions: int(n), Stateful: t.Stateful()})
	}
	return assign.NewTopology(subs)
}

// allKnown says whether all inputs have partitions.
func (s Subtopology) allKnown(counts map[string]int32) bool {
	for _, t := range s.inputs() {
		if counts[t] == 0 {
			return false
		}
	}
	return true
}

// instance is one member as an instance of its own: those of one instance are
// put together by their id.
func (l *leaderRound) instance(id string) assign.LearnerInstance {
	m := l.members[id]
	in := assign.LearnerInstance{ID: m.Instance, Leaving: m.Leaving, Expired: m.Expired, RemainingMs: assign.LearnerNoDeadline}
	if m.RemainingMs.Known {
		in.RemainingMs = m.RemainingMs.N
	}
	w := assign.LearnerWorker{
		ID: id, Generation: int64(m.Generation), Carried: m.Carried, Epoch: m.GenerationEpoch,
		LastInstances: int(m.LastInstances), SwitchOpen: m.SwitchRemainingMs.Known && m.SwitchRemainingMs.N > 0,
	}
	for _, t := range m.Tasks {
		task, ok := l.top.Find(t.ID)
		if !ok {
			continue
		}
		lag := assign.LearnerLagUnknown
		if t.Lag.Known {
			lag = t.Lag.N
		}
		w.Tasks = append(w.Tasks, assign.LearnerTask{
			Task: task, Role: t.Role, Lag: lag, BeingLearned: t.Tags.Has(groupmeta.TagBeingLearned), Ready: t.Tags.Has(groupmeta.TagReady),
		})
	}
	in.Workers = []assign.LearnerWorker{w}
	return in
}

// encode writes the assignment of each member.
func (l *leaderRound) encode(protocolType string, generation int32) (map[string][]byte, error) {
	out := map[string][]byte{}
	for i := range l.result.Instances {
		share := &l.result.Instances[i]
		for _, w := range share.Workers {
			a := l.assignment(share.ID, w, generation)
			var active []model.TopicPartition
			for _, t := range a.Tasks {
				if t.Role == model.Active {
					active = append(active, l.inputs(t.ID)...)
				}
			}
			raw, err := groupmeta.EncodeWorkerAssignment(protocolType, a, active)
			if err != nil {
				return nil, err
			}
			out[w.ID] = raw
		}
	}
	return out, nil
}

// inputs are the partitions that a task reads.
func (l *leaderRound) inputs(id model.TaskID) []model.TopicPartition {
	var list []model.TopicPartition
	for _, topic := range l.of.subs[id.Subtopology].inputs() {
		if id.Partition < l.counts[topic] {
			list = append(list, model.TopicPartition{Topic: topic, Partition: id.Partition})
		}
	}
	return list
}

func (l *leaderRound) assignment(instance string, w assign.LearnerWorkerShare, generation int32) *groupmeta.StreamAssignment {
	a := &groupmeta.StreamAssignment{
		Generation: max(generation, 0), Instances: l.back, Workers: int32(len(l.order)), Leader: l.of.id,
		AnotherRound: l.result.AnotherRound, SwitchWaiting: l.result.SwitchWaiting, MarksVoid: l.result.MarksVoid,
		Mode: groupmeta.StreamMode(l.of.mode), Epoch: l.of.epoch,
	}
	for _, t := range w.Tasks {
		a.Tasks = append(a.Tasks, l.task(instance, t))
	}
	return a
}

// task is one task with the tags that it has after the round.
func (l *leaderRound) task(instance string, t assign.LearnerAssigned) groupmeta.AssignedTask {
	id := l.top.ID(t.Task)
	a := groupmeta.AssignedTask{ID: id, Role: t.Role, Release: t.Release}
	if !l.top.Stateful(t.Task) {
		return a
	}
	a.Tags = groupmeta.TagStateful
	switch t.Role {
	case model.Active:
		if t.BeingLearned {
			a.Tags |= groupmeta.TagBeingLearned
		}
		if l.leaving(instance) {
			a.Tags |= groupmeta.TagLeaving
		}
	case model.Learner:
		a.Tags |= groupmeta.TagLearner
		a.Reason = groupmeta.ReasonBalance
		if t.Evacuation {
			a.Reason = groupmeta.ReasonEvacuation
		}
		if l.wasReady(instance, id) {
			a.Tags |= groupmeta.TagReady
		}
	}
	return a
}

// comingBack counts the instances that a mode switch would have to wait for: all
// but those that leave and own nothing any more.
func (l *leaderRound) comingBack() int32 {
	n := int32(0)
	for i := range l.result.Instances {
		share := &l.result.Instances[i]
		owns := slices.ContainsFunc(share.Workers, func(w assign.LearnerWorkerShare) bool {
			return slices.ContainsFunc(w.Tasks, func(t assign.LearnerAssigned) bool { return t.Role == model.Active })
		})
		if owns || !l.leaving(share.ID) {
			n++
		}
	}
	return max(n, 1)
}
