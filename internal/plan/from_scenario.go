package plan

import (
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// FromAssign makes the input of a plan from the scenario of one of Kafka's
// assignors: what its members report is where the plan begins, and nothing
// counts as restored since.
func FromAssign(name, assignor, kafkaVersion string, g *assign.Group) *Input {
	in := &Input{
		Group: name, Kind: model.Classic, State: model.StateStable, Assignor: assignor, KafkaVersion: kafkaVersion,
		Topology: g.Topology, TopicRacks: g.TopicRacks, Logs: scenarioLogs(g.Topology), Fingerprint: "scenario " + name,
	}
	if assignor == assign.NameStreamsSticky {
		in.Kind, in.Settled = model.Streams, true
	}
	in.scenarioSettings(&g.Settings)
	for _, p := range g.Processes {
		in.Instances = append(in.Instances, Instance{ID: p.ID, Name: p.ID, Tags: p.Tags, RemainingMs: -1})
	}
	for k, m := range g.Members {
		out := Member{ID: m.ID, Name: m.ID, ClientID: m.ID, Rack: m.Rack, Place: k, Reported: m.Offsets, Active: sorted(m.Active), Standby: sorted(m.Standby)}
		_, out.Thread = model.SplitThread(m.ID)
		if in.Kind == model.Classic {
			out.Active = sorted(m.Owned)
		} else {
			out.TargetActive, out.TargetStandby = out.Active, out.Standby
		}
		in.Instances[m.Process].Members = append(in.Instances[m.Process].Members, out)
	}
	return in
}

func scenarioLogs(top *assign.Topology) []Log {
	logs := make([]Log, top.Len())
	for i, s := range top.Subtopologies() {
		first, end := top.Tasks(i)
		for t := first; t < end && s.Stateful; t++ {
			if p := int(t - first); p < len(s.EndOffsets) {
				logs[t] = Log{End: s.EndOffsets[p], Known: true}
			}
		}
	}
	return logs
}

func (in *Input) scenarioSettings(s *assign.Settings) {
	set := func(key, value string) {
		in.Settings = append(in.Settings, Setting{key, value, "scenario"})
	}
	set(KeyStandbys, strconv.Itoa(s.Standbys))
	if in.Kind == model.Streams {
		return
	}
	set(KeyWarmups, strconv.Itoa(max(s.MaxWarmups, 1)))
	set(KeyAcceptableLag, itoa(s.AcceptableLag))
	if s.RackStrategy != "" && s.RackStrategy != assign.RackNone {
		set(KeyRackStrategy, string(s.RackStrategy))
		set(KeyRackTraffic, strconv.Itoa(s.RackTrafficCost))
		set(KeyRackOverlap, strconv.Itoa(s.RackNonOverlapCost))
	}
	if len(s.StandbyTags) > 0 {
		set(KeyRackTags, strings.Join(s.StandbyTags, ","))
	}
}

// FromLearner makes the input of a plan from a scenario of our own protocol.
// What a task's changelog holds is the largest lag that someone has of it.
func FromLearner(name string, l *assign.LearnerInput) *Input {
	subs := append([]assign.Subtopology(nil), l.Topology.Subtopologies()...)
	largest := make([]int64, l.Topology.Len())
	for _, i := range l.Instances {
		for _, w := range i.Workers {
			for _, t := range w.Tasks {
				largest[t.Task] = max(largest[t.Task], t.Lag)
			}
		}
	}
	for i := range subs {
		first, end := l.Topology.Tasks(i)
		if subs[i].Stateful && len(subs[i].EndOffsets) == 0 {
			subs[i].EndOffsets = largest[first:end]
		}
	}
	top, err := assign.NewTopology(subs)
	if err != nil {
		top = l.Topology // it was valid before
	}
	in := &Input{Group: name, Kind: model.Worker, State: model.StateStable, Assignor: NameLearner, Topology: top, Logs: scenarioLogs(top), Fingerprint: "scenario " + name, Settled: true}
	in.Settings = []Setting{
		{KeyFactor, strconv.FormatFloat(float64(max(l.Settings.Factor, 1000))/1000, 'f', -1, 64), "scenario"},
		{KeyStandbys, strconv.Itoa(max(l.Settings.Standbys, 0)), "scenario"},
		{KeyAcceptableLag, itoa(max(l.Settings.AcceptableLag, 0)), "scenario"},
	}
	if l.Settings.MaxLearners > 0 {
		in.Settings = append(in.Settings, Setting{KeyMaxLearners, strconv.Itoa(l.Settings.MaxLearners), "scenario"})
	}
	ends := in.ends()
	for _, i := range l.Instances {
		out := Instance{ID: i.ID, Name: i.ID, Leaving: i.Leaving, RemainingMs: i.RemainingMs}
		if i.Expired {
			out.RemainingMs = 0
		}
		for _, w := range i.Workers {
			m := Member{ID: w.ID, Name: w.ID}
			for _, t := range w.Tasks {
				switch t.Role {
				case model.Active:
					m.Active = append(m.Active, t.Task)
					continue
				case model.Learner:
					m.Learner = append(m.Learner, t.Task)
				default:
					m.Standby = append(m.Standby, t.Task)
				}
				if t.Lag >= 0 {
					m.Reported = append(m.Reported, assign.Offset{Task: t.Task, Sum: max(0, ends[t.Task]-t.Lag)})
				}
			}
			out.Members = append(out.Members, m)
		}
		in.Instances = append(in.Instances, out)
	}
	return in
}
