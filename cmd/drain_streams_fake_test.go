package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/snapshot"
	"github.com/streamctl/streamctl/internal/ui"
)

// streamsFake is a cluster with one streams group, billing: pod-a to pod-c of one
// thread each, six stateful tasks. It answers as a 4.4 broker: what the setting
// asks for is placed at once, and caught up after so many looks.
type streamsFake struct {
	t       *testing.T
	pods    []fakePod
	own     *string // num.standby.replicas of the group
	records map[string][]byte
	offset  int64
	epoch   int32

	version  int16 // of the describe: 0 tells no positions
	most     string
	refuse   error // of setting
	behind   int64 // how much copies are behind until they are caught up
	restore  int   // looks until a copy has caught up
	looks    int   // since the last placing
	onLook   func(*streamsFake)
	writes   int // records and settings written so far
	dieAfter int // the process is dead after so many of them; negative: never
	calls    []string
}

type fakePod struct {
	name, process   string
	member          string
	active, standby []model.TaskID
}

const fakeEnd = 50_000

var errKilled = errors.New("killed")

func newStreamsFake(t *testing.T) *streamsFake {
	f := &streamsFake{t: t, records: map[string][]byte{}, version: 1, most: "2", behind: fakeEnd, restore: 3, dieAfter: -1, epoch: 6}
	for i, name := range []string{"pod-a", "pod-b", "pod-c"} {
		p := fakePod{name: name, process: fmt.Sprintf("%08d-1111-4222-8333-0123456789ab", i+1), member: "m" + strconv.Itoa(i)}
		for k := range 2 {
			p.active = append(p.active, model.TaskID{Subtopology: "0", Partition: int32(2*i + k)})
		}
		f.pods = append(f.pods, p)
	}
	return f
}

func (f *streamsFake) Close() {}

func (f *streamsFake) standbys() int {
	if f.own == nil {
		return 0
	}
	n, _ := strconv.Atoi(*f.own)
	return n
}

// dead reports whether the process that asks has been killed.
func (f *streamsFake) dead() bool { return f.dieAfter >= 0 && f.writes >= f.dieAfter }

func (f *streamsFake) Snapshot(context.Context, kclient.Query) (*snapshot.Snapshot, error) {
	if f.dead() {
		return nil, errKilled
	}
	f.looks++
	if f.onLook != nil {
		f.onLook(f)
	}
	return f.snapshot(), nil
}

func (f *streamsFake) snapshot() *snapshot.Snapshot {
	s := snapshot.New()
	coordinator := int32(1)
	s.Brokers = []snapshot.Broker{{ID: 1, Host: "b1", Port: 9092}}
	d := &snapshot.StreamsGroup{
		Version: f.version, State: model.StateStable, Epoch: f.epoch, AssignmentEpoch: f.epoch, Members: []snapshot.StreamsMember{},
		Topology: &snapshot.StreamsTopology{Subtopologies: []snapshot.StreamsSubtopology{{ID: "0", SourceTopics: []string{"invoices"}, Changelogs: []snapshot.StreamsTopic{{Name: "billing-store-changelog"}}}}},
	}
	for _, p := range f.pods {
		m := snapshot.StreamsMember{ID: p.member, Epoch: f.epoch, ClientID: p.name + "-StreamThread-1-consumer", ClientHost: "/10.0.0.1", ProcessID: p.process}
		m.Assignment = snapshot.StreamsTasks{Active: wireTasks(p.active), Standby: wireTasks(p.standby)}
		m.Target = m.Assignment
		if f.version > 0 {
			for _, id := range p.active {
				m.TaskOffsets = append(m.TaskOffsets, snapshot.TaskOffset{Subtopology: id.Subtopology, Partition: id.Partition, Offset: fakeEnd})
			}
			for _, id := range p.standby {
				at := int64(fakeEnd)
				if f.looks <= f.restore {
					at -= f.behind
				}
				m.TaskOffsets = append(m.TaskOffsets, snapshot.TaskOffset{Subtopology: id.Subtopology, Partition: id.Partition, Offset: at})
			}
		}
		d.Members = append(d.Members, m)
	}
	if len(d.Members) == 0 {
		d.State = model.StateEmpty
	}
	g := snapshot.Group{ID: "billing", Listed: &snapshot.Listed{Type: "streams", ProtocolType: "streams", State: d.State}, Coordinator: &coordinator, Streams: d, CommitsRead: true}
	n, source := "0", "DEFAULT_CONFIG"
	if f.own != nil {
		n, source = *f.own, "DYNAMIC_GROUP_CONFIG"
	}
	g.Configs = []snapshot.Config{{Key: kclient.KeyGroupStandbys, Value: &n, Source: source}}
	for k, v := range f.records {
		f.offset++
		g.Control = append(g.Control, snapshot.ControlRecord{Key: k, Value: v, Offset: f.offset})
	}
	end := f.offset + 1
	g.ControlEnd = &end
	s.Groups = append(s.Groups, g)
	for _, name := range []string{"invoices", "billing-store-changelog"} {
		t := snapshot.Topic{Name: name}
		for p := range int32(6) {
			zero, end := int64(0), int64(fakeEnd)
			t.Partitions = append(t.Partitions, snapshot.TopicPartition{Partition: p, Leader: 1, Replicas: []int32{1}})
			s.Logs = append(s.Logs, snapshot.Log{Topic: name, Partition: p, Start: &zero, End: &end})
		}
		s.Topics = append(s.Topics, t)
	}
	s.Normalize()
	return s
}

func wireTasks(list []model.TaskID) []snapshot.StreamsTaskIDs {
	if len(list) == 0 {
		return nil
	}
	out := snapshot.StreamsTaskIDs{Subtopology: "0"}
	for _, id := range list {
		out.Partitions = append(out.Partitions, id.Partition)
	}
	return []snapshot.StreamsTaskIDs{out}
}

// retarget places what the assignor says, after a change.
func (f *streamsFake) retarget(o plan.Options) {
	g, err := groupmeta.Build(f.snapshot(), "billing", groupmeta.BuildOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	in, err := plan.FromGroup(g)
	if err != nil {
		f.t.Fatal(err)
	}
	rounds, err := plan.Trace(in, o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.epoch++
	for _, m := range rounds[len(rounds)-1].Members {
		for i := range f.pods {
			if f.pods[i].process == m.Process {
				f.pods[i].active, f.pods[i].standby = m.Active, m.Standby
			}
		}
	}
}

// stop stops a pod; its tasks are elsewhere at once.
func (f *streamsFake) stop(name string) {
	i := slices.IndexFunc(f.pods, func(p fakePod) bool { return p.name == name })
	if i < 0 {
		return
	}
	f.retarget(plan.Options{Changes: []plan.Change{plan.Remove{Instance: f.pods[i].process, How: plan.HowLeave}}})
	f.pods = slices.Delete(f.pods, i, i+1)
}

func (f *streamsFake) GroupSetting(context.Context, string, string) (kclient.Setting, error) {
	if f.dead() {
		return kclient.Setting{}, errKilled
	}
	if f.own != nil {
		return kclient.Setting{Value: *f.own, Own: true}, nil
	}
	return kclient.Setting{Value: "0"}, nil
}

func (f *streamsFake) BrokerSettings(context.Context, int32, ...string) map[string]string {
	out := map[string]string{}
	if f.most != "" {
		out[kclient.KeyMostStandbys] = f.most
	}
	return out
}

func (f *streamsFake) SetGroupSetting(_ context.Context, _, _ string, value *string) error {
	switch {
	case f.dead():
		return errKilled
	case f.refuse != nil:
		return fmt.Errorf("set: %w", f.refuse)
	}
	f.writes++
	f.change(value)
	f.calls = append(f.calls, "set "+strconv.Itoa(f.standbys()))
	return nil
}

// change changes the setting, as anybody may.
func (f *streamsFake) change(value *string) {
	before := f.standbys()
	after := 0
	if value != nil {
		after, _ = strconv.Atoi(*value)
	}
	if len(f.pods) > 0 && before != after {
		f.retarget(plan.Options{Set: map[string]string{plan.KeyStandbys: strconv.Itoa(after)}})
		f.looks = 0
	}
	f.own = value
}

func (f *streamsFake) WriteControl(_ context.Context, _ string, records ...control.Record) ([]int64, error) {
	var out []int64
	for _, r := range records {
		if f.dead() {
			return nil, errKilled
		}
		f.writes++
		f.offset++
		out = append(out, f.offset)
		if len(r.Value) == 0 {
			delete(f.records, r.Key)
			f.calls = append(f.calls, "withdraw "+r.Key)
			continue
		}
		f.records[r.Key] = r.Value
		f.calls = append(f.calls, "write "+r.Key)
	}
	return out, nil
}

// run runs one command line against the fake, in a new process.
func (f *streamsFake) run(ctx context.Context, args ...string) captured {
	d := fakeDeps(f.t, f)
	d.io = &ui.Streams{In: strings.NewReader(""), Env: d.io.Env}
	var out, errOut bytes.Buffer
	d.io.Out, d.io.Err = &out, &errOut
	code := execute(ctx, args, d)
	return captured{code, out.String(), errOut.String()}
}

// asBefore makes sure that nothing is left of a drain.
func (f *streamsFake) asBefore(why string) {
	f.t.Helper()
	if f.own != nil || len(f.records) > 0 {
		f.t.Errorf("%s: setting %v, records %q", why, f.own, f.records)
	}
}

func (f *streamsFake) refusal() error { return kerr.GroupAuthorizationFailed }

func (f *streamsFake) Visit(context.Context, string, func(kclient.VisitStep)) (*kclient.Visit, error) {
	f.t.Error("a streams group was asked for a rebalance")
	return nil, errKilled
}
