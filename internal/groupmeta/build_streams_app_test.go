package groupmeta_test

import (
	"slices"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// streamsApp makes the snapshot of a KIP-1071 group out of few words.
type streamsApp struct {
	version int16
	state   string // "" is Stable
	subs    []snapshot.StreamsSubtopology
	members []streamsThread
	configs map[string]string
}

// streamsThread is one member. Without a target its target is what it has.
type streamsThread struct {
	process          string
	active, standby  string
	warmup           string
	target           *string // active tasks of the target
	targetStandby    string
	offsets          map[string]int64
	epoch            int32
	client, instance string
}

// billing is an app of two sub-topologies, both with state, of n tasks each.
func billing(members ...streamsThread) *streamsApp {
	return &streamsApp{version: 1, members: members, subs: []snapshot.StreamsSubtopology{
		{ID: "0", SourceTopics: []string{"invoices"}, Changelogs: []snapshot.StreamsTopic{{Name: "billing-bykey-changelog"}}},
		{ID: "1", RepartitionSources: []snapshot.StreamsTopic{{Name: "billing-byvalue-repartition"}}, Changelogs: []snapshot.StreamsTopic{{Name: "billing-byvalue-changelog"}}},
	}}
}

func taskIDsOf(list string) []snapshot.StreamsTaskIDs {
	var out []snapshot.StreamsTaskIDs
	for _, id := range ids(list) {
		i := slices.IndexFunc(out, func(s snapshot.StreamsTaskIDs) bool { return s.Subtopology == id.Subtopology })
		if i < 0 {
			i = len(out)
			out = append(out, snapshot.StreamsTaskIDs{Subtopology: id.Subtopology})
		}
		out[i].Partitions = append(out[i].Partitions, id.Partition)
	}
	return out
}

// snapshot gives the answers about the app; its topics have n partitions.
func (a *streamsApp) snapshot(n int32) *snapshot.Snapshot {
	s := snapshot.New()
	now := start()
	s.TakenAt = &now
	d := &snapshot.StreamsGroup{
		Version: a.version, State: a.state, Epoch: 6, AssignmentEpoch: 6, Members: []snapshot.StreamsMember{},
		Topology: &snapshot.StreamsTopology{Subtopologies: a.subs},
	}
	if a.state == "" {
		d.State = model.StateStable
	}
	for i, m := range a.members {
		out := snapshot.StreamsMember{ID: "m" + string(rune('A'+i)), Epoch: m.epoch, ClientID: m.client, ProcessID: process(m.process).String(), ClientHost: "/10.0.0.1"}
		if m.epoch == 0 {
			out.Epoch = 6
		}
		if m.client == "" {
			out.ClientID = m.process + "-StreamThread-1-consumer"
		}
		if m.instance != "" {
			out.InstanceID = &m.instance
		}
		for name, offset := range m.offsets {
			id := ids(name)[0]
			out.TaskOffsets = append(out.TaskOffsets, snapshot.TaskOffset{Subtopology: id.Subtopology, Partition: id.Partition, Offset: offset})
		}
		out.Assignment = snapshot.StreamsTasks{Active: taskIDsOf(m.active), Standby: taskIDsOf(m.standby), Warmup: taskIDsOf(m.warmup)}
		out.Target = out.Assignment
		if m.target != nil {
			out.Target.Active, out.Target.Standby = taskIDsOf(*m.target), taskIDsOf(m.targetStandby)
		}
		d.Members = append(d.Members, out)
	}
	g := snapshot.Group{ID: "billing", Listed: &snapshot.Listed{Type: "streams", ProtocolType: "streams", State: d.State}, Streams: d, CommitsRead: true}
	for k, v := range a.configs {
		g.Configs = append(g.Configs, snapshot.Config{Key: k, Value: &v, Source: "DYNAMIC_GROUP_CONFIG"})
	}
	s.Groups = append(s.Groups, g)
	for _, sub := range a.subs {
		for _, t := range sub.SourceTopics {
			addTopic(s, t, n, nil)
		}
		for _, t := range slices.Concat(sub.RepartitionSources, sub.Changelogs) {
			ends := make([]int64, n)
			for p := range ends {
				ends[p] = 1_000_000
			}
			addTopic(s, t.Name, n, ends)
		}
	}
	s.Normalize()
	return s
}
