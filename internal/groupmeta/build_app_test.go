package groupmeta_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// app makes the snapshot of a classic group out of few words.
type app struct {
	group   string
	state   string // "" is Stable
	format  int32  // 0 is the newest
	latest  int32  // 0 is format
	subs    []appSub
	members []appMember
}

// appSub is a sub-topology with its topics.
type appSub struct {
	id         int32
	partitions int32
	sources    []string
	changelogs []string
	ends       []int64 // of the first changelog, by partition; nil leaves the ends out
}

// appMember is one thread.
type appMember struct {
	process string // "a" stands for a whole id
	client  string // "" is process-StreamThread-1-consumer
	host    string
	static  string
	active  string // "0_0 0_1"
	standby string
	owned   string
	sums    map[string]int64
	tags    string // one client tag, without value
	next    int64  // 0 means nothing planned; see at once
	code    groupmeta.ErrorCode
	format  int32 // of its subscription; 0 is the app's
	latest  int32

	noMetadata, noAssignment bool // zero bytes
}

// atOnce is appMember.next for a member that has to rejoin at once.
const atOnce = -1

func start() time.Time { return time.Date(2026, 11, 30, 1, 14, 7, 0, time.UTC) }

// twelve is an app of two sub-topologies of six tasks, with state in both.
func twelve(members ...appMember) *app {
	return &app{group: "shop", members: members, subs: []appSub{
		{id: 0, partitions: 6, sources: []string{"orders"}, changelogs: []string{"shop-bykey-changelog"}, ends: []int64{4056, 4032, 3963, 3975, 4097, 3877}},
		{id: 1, partitions: 6, sources: []string{"shop-byvalue-repartition"}, changelogs: []string{"shop-byvalue-changelog"}, ends: []int64{3986, 4047, 4082, 3961, 4042, 3882}},
	}}
}

func process(letter string) groupmeta.ProcessID {
	p, err := groupmeta.ParseProcessID(letter)
	if err == nil {
		return p
	}
	for i := range p {
		p[i] = letter[i%len(letter)]
	}
	return p
}

func ids(list string) []model.TaskID {
	var out []model.TaskID
	for _, s := range strings.Fields(list) {
		id, err := model.ParseTaskID(s)
		if err != nil {
			panic(err)
		}
		out = append(out, id)
	}
	return out
}

func wireTask(id model.TaskID) groupmeta.Task {
	var n int32
	if _, err := fmt.Sscan(id.Subtopology, &n); err != nil {
		panic(err)
	}
	return groupmeta.Task{Topology: id.Topology, Subtopology: n, Partition: id.Partition}
}

func (a *app) sub(id model.TaskID) *appSub {
	for i := range a.subs {
		if fmt.Sprint(a.subs[i].id) == id.Subtopology {
			return &a.subs[i]
		}
	}
	panic("no sub-topology of task " + id.String())
}

func (a *app) partitions(list string) []model.TopicPartition {
	var out []model.TopicPartition
	for _, id := range ids(list) {
		for _, topic := range a.sub(id).sources {
			out = append(out, model.TopicPartition{Topic: topic, Partition: id.Partition})
		}
	}
	return out
}

func (m *appMember) clientID() string {
	if m.client != "" {
		return m.client
	}
	return m.process + "-StreamThread-1-consumer"
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func first(n ...int32) int32 {
	for _, v := range n {
		if v != 0 {
			return v
		}
	}
	return groupmeta.NewestFormat
}

func (a *app) metadata(m *appMember) []byte {
	format := first(m.format, a.format)
	info := groupmeta.SubscriptionInfo{Version: format, LatestSupportedVersion: first(m.latest, a.latest, format), ProcessID: process(m.process)}
	if m.tags != "" {
		info.ClientTags = append(info.ClientTags, groupmeta.ClientTag{Key: m.tags})
	}
	for name, sum := range m.sums {
		t := wireTask(ids(name)[0])
		switch {
		case format >= 7:
			info.TaskOffsetSums = append(info.TaskOffsetSums, groupmeta.TaskOffsetSum{Task: t, OffsetSum: sum})
		case sum == groupmeta.SumRunning:
			info.PrevTasks = append(info.PrevTasks, t)
		default:
			info.StandbyTasks = append(info.StandbyTasks, t)
		}
	}
	frame := groupmeta.ConsumerSubscription{Version: 3, UserData: must(info.Encode()), Owned: groupmeta.GroupByTopic(a.partitions(m.owned)), Generation: 5}
	for _, s := range a.subs {
		frame.Topics = append(frame.Topics, s.sources...)
	}
	return must(frame.Encode())
}

func (a *app) assignment(m *appMember) []byte {
	info := groupmeta.AssignmentInfo{Version: first(a.format), CommonlySupportedVersion: first(a.format), NextRebalanceMs: groupmeta.NoRebalance, ErrorCode: m.code}
	switch {
	case m.next == atOnce:
		info.NextRebalanceMs = 0
	case m.next != 0:
		info.NextRebalanceMs = m.next
	}
	assigned := a.partitions(m.active)
	byPartition := make(map[model.TopicPartition]groupmeta.Task)
	for _, id := range ids(m.active) {
		for _, topic := range a.sub(id).sources {
			byPartition[model.TopicPartition{Topic: topic, Partition: id.Partition}] = wireTask(id)
		}
	}
	for _, p := range groupmeta.SortedPartitions(groupmeta.GroupByTopic(assigned)) {
		info.ActiveTasks = append(info.ActiveTasks, byPartition[p])
	}
	for _, id := range ids(m.standby) {
		info.StandbyTasks = append(info.StandbyTasks, groupmeta.TaskPartitions{Task: wireTask(id), Partitions: a.partitions(id.String())})
	}
	frame := groupmeta.ConsumerAssignment{Version: 3, Assigned: groupmeta.GroupByTopic(assigned), UserData: must(info.Encode())}
	return must(frame.Encode())
}

// snapshot gives the answers about the app: no commits, every log from 0 on,
// input topics of 100 records a partition.
func (a *app) snapshot() *snapshot.Snapshot {
	s := snapshot.New()
	now := start()
	s.TakenAt = &now
	g := snapshot.Group{ID: a.group, CommitsRead: true, Classic: &snapshot.ClassicGroup{
		State: a.state, ProtocolType: "consumer", Protocol: "stream", Members: []snapshot.ClassicMember{},
	}}
	if a.state == "" {
		g.Classic.State = model.StateStable
	} else if a.state != model.StateStable {
		g.Classic.Protocol = ""
	}
	for i := range a.members {
		m := &a.members[i]
		out := snapshot.ClassicMember{ID: fmt.Sprintf("%s-%04d", m.clientID(), i), ClientID: m.clientID(), Host: m.host}
		if m.static != "" {
			out.InstanceID = &m.static
		}
		if !m.noMetadata {
			out.Metadata = a.metadata(m)
		}
		if !m.noAssignment {
			out.Assignment = a.assignment(m)
		}
		g.Classic.Members = append(g.Classic.Members, out)
	}
	s.Groups = append(s.Groups, g)
	for _, sub := range a.subs {
		for _, t := range sub.sources {
			addTopic(s, t, sub.partitions, nil)
		}
		for i, t := range sub.changelogs {
			ends := sub.ends
			if i > 0 {
				ends = nil
			}
			addTopic(s, t, sub.partitions, ends)
		}
	}
	s.Normalize()
	return s
}

// addTopic adds a topic with its logs; without ends each holds 100 records.
func addTopic(s *snapshot.Snapshot, name string, partitions int32, ends []int64) {
	if slices.ContainsFunc(s.Topics, func(t snapshot.Topic) bool { return t.Name == name }) {
		return
	}
	t := snapshot.Topic{Name: name}
	for p := range partitions {
		t.Partitions = append(t.Partitions, snapshot.TopicPartition{Partition: p, Leader: 1, Replicas: []int32{1}})
		end, zero := int64(100), int64(0)
		if ends != nil {
			end = ends[p]
		}
		s.Logs = append(s.Logs, snapshot.Log{Topic: name, Partition: p, Start: &zero, End: &end})
	}
	s.Topics = append(s.Topics, t)
}

func build(t testing.TB, s *snapshot.Snapshot, o groupmeta.BuildOptions) *model.Group {
	t.Helper()
	if len(s.Groups) != 1 {
		t.Fatalf("%d groups", len(s.Groups))
	}
	g, err := groupmeta.Build(s, s.Groups[0].ID, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func instance(t testing.TB, g *model.Group, name string) *model.Instance {
	t.Helper()
	in, err := model.ResolveInstance(g, name)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// holding finds the task on an instance.
func holding(t testing.TB, g *model.Group, name, task string) *model.Task {
	t.Helper()
	in := instance(t, g, name)
	for i := range in.Members {
		for j := range in.Members[i].Tasks {
			if in.Members[i].Tasks[j].ID.String() == task {
				return &in.Members[i].Tasks[j]
			}
		}
	}
	t.Fatalf("%s has no task %s", name, task)
	return nil
}

func finding(g *model.Group, code string) string {
	for _, f := range g.Findings {
		if f.Code == code {
			return f.Text
		}
	}
	return ""
}

func codes(g *model.Group) string {
	var out []string
	for _, f := range g.Findings {
		out = append(out, f.Code)
	}
	return strings.Join(slices.Compact(out), " ")
}

// num writes a number that may be unknown.
func num(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func wantText(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func wantNotFound(t testing.TB, s *snapshot.Snapshot, group string) {
	t.Helper()
	if g, err := groupmeta.Build(s, group, groupmeta.BuildOptions{}); !errors.Is(err, groupmeta.ErrNotFound) {
		t.Errorf("group %q: got %+v, %v", group, g, err)
	}
}

func size(topic string, partition, broker int32, bytes int64) snapshot.LogSize {
	return snapshot.LogSize{Topic: topic, Partition: partition, Broker: broker, Bytes: bytes}
}
