package plan

import (
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// withPartitions is the input with more partitions of some topics: the
// sub-topologies that read them get more tasks, without state.
func (in *Input) withPartitions(changes []Change) (*Input, error) {
	more := make(map[string]int)
	for _, c := range changes {
		if p, ok := c.(Partitions); ok {
			more[p.Topic] = p.Count
		}
	}
	if len(more) == 0 {
		return in, nil
	}
	old := in.Topology.Subtopologies()
	subs := slices.Clone(old)
	for topic, n := range more {
		found := false
		for i := range subs {
			if !slices.Contains(subs[i].Sources, topic) {
				continue
			}
			found = true
			if n < old[i].Partitions {
				return nil, &ChangeError{Partitions{topic, n}.Describe(), "a topic never loses partitions, and sub-topology " + subs[i].ID + " has " + count(old[i].Partitions, "task")}
			}
			subs[i].Partitions = max(subs[i].Partitions, n)
			ends := make([]int64, subs[i].Partitions)
			copy(ends, subs[i].EndOffsets)
			subs[i].EndOffsets = ends
		}
		if !found {
			return nil, &ChangeError{Partitions{topic, n}.Describe(), "no sub-topology reads it"}
		}
	}
	top, err := assign.NewTopology(subs)
	if err != nil {
		return nil, err
	}
	if top.Len() > maxTasks {
		return nil, &ChangeError{Change: "partitions", Why: "that makes more than " + model.Thousands(maxTasks) + " tasks, which is more than a plan takes"}
	}
	out := *in
	out.Findings = slices.Clone(in.Findings)
	out.note(NoteAssumed, "more partitions: taken that the application is restarted with internal topics that fit; as it is, Kafka Streams stops when a repartition topic has other partitions than its source")
	out.more = top.Len() - in.Topology.Len()
	out.renumber(in, top)
	return &out, nil
}

// renumber writes the input in the numbers of another topology that has all
// its tasks.
func (in *Input) renumber(from *Input, top *assign.Topology) {
	to := make([]assign.Task, from.Topology.Len())
	for t := range to {
		to[t], _ = top.Find(from.Topology.ID(assign.Task(t)))
	}
	list := func(old []assign.Task) []assign.Task {
		var out []assign.Task
		for _, t := range old {
			out = append(out, to[t])
		}
		return out
	}
	in.Topology = top
	in.Logs = make([]Log, top.Len())
	for t, l := range from.Logs {
		in.Logs[to[t]] = l
	}
	in.Instances = slices.Clone(from.Instances)
	for i := range in.Instances {
		members := slices.Clone(in.Instances[i].Members)
		for j := range members {
			m := &members[j]
			m.Active, m.Standby, m.Learner = list(m.Active), list(m.Standby), list(m.Learner)
			m.TargetActive, m.TargetStandby = list(m.TargetActive), list(m.TargetStandby)
			m.Reported = slices.Clone(m.Reported)
			for k := range m.Reported {
				m.Reported[k].Task = to[m.Reported[k].Task]
			}
		}
		in.Instances[i].Members = members
	}
}
