package groupmeta_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// clicks are three workers of our own protocol: the first leads, the second
// learns 0_0 of the first, the third is leaving.
type clicks struct {
	protocolType string
	leaving      bool
	another      bool
}

func workerID(n string) string { return process("w" + n).String() }

func (c clicks) worker(n string, claims []groupmeta.StreamTask, got []groupmeta.AssignedTask) snapshot.ClassicMember {
	meta := groupmeta.StreamMetadata{
		StreamIdentity:  groupmeta.StreamIdentity{Instance: workerID(n), Workers: 1, Worker: "1", Host: "host-" + n, ClientID: "click-" + n},
		StreamRound:     groupmeta.StreamRound{Generation: 4},
		StreamModeState: groupmeta.StreamModeState{Mode: groupmeta.StreamIncremental},
		Settings:        groupmeta.DefaultStreamSettings(),
		Tasks:           claims,
		Topology: []groupmeta.StreamSubtopology{
			{ID: 0, Stateful: true, Partitions: 3, SourceTopics: []string{"clicks"}, ChangelogTopics: []string{"clicks-count-changelog"}},
			{ID: 1, Partitions: 2, SourceTopics: []string{"users"}},
		},
	}
	meta.Settings.StandbyReplicas = 1
	meta.Settings.BalancingFactor = 1500
	if c.leaving && n == "3" {
		meta.StreamLeaving = groupmeta.StreamLeaving{Leaving: true, Marks: []string{"mark-7"}}
	}
	asg := groupmeta.StreamAssignment{Generation: 5, Instances: 3, Workers: 3, Leader: workerID("1"), Mode: groupmeta.StreamIncremental, Tasks: got, AnotherRound: c.another}
	return snapshot.ClassicMember{
		ID: "m" + n, ClientID: "click-" + n, Host: "/10.0.0." + n,
		Metadata:   must(groupmeta.EncodeWorkerMetadata(c.protocolType, &meta)),
		Assignment: must(groupmeta.EncodeWorkerAssignment(c.protocolType, &asg, nil)),
	}
}

func (c clicks) snapshot() *snapshot.Snapshot {
	id := func(s string) model.TaskID { return ids(s)[0] }
	const stateful = groupmeta.TagStateful
	s := snapshot.New()
	now := start()
	s.TakenAt = &now
	s.Groups = []snapshot.Group{{ID: "clicks", CommitsRead: true, Classic: &snapshot.ClassicGroup{
		State: "Stable", ProtocolType: c.protocolType, Protocol: groupmeta.LearnerProtocol,
		Members: []snapshot.ClassicMember{
			c.worker("1", []groupmeta.StreamTask{
				{ID: id("0_0"), Role: model.Active, Tags: stateful}, {ID: id("0_1"), Role: model.Active, Tags: stateful}, {ID: id("1_0"), Role: model.Active},
			}, []groupmeta.AssignedTask{
				{ID: id("0_0"), Role: model.Active, Tags: stateful | groupmeta.TagBeingLearned}, {ID: id("0_1"), Role: model.Active, Tags: stateful},
				{ID: id("1_0"), Role: model.Active, Release: true},
			}),
			c.worker("2", []groupmeta.StreamTask{
				{ID: id("0_0"), Role: model.Standby, Tags: stateful, Lag: groupmeta.SomeInt(40)},
			}, []groupmeta.AssignedTask{
				{ID: id("0_0"), Role: model.Learner, Tags: stateful | groupmeta.TagLearner, Reason: groupmeta.ReasonBalance},
				{ID: id("0_1"), Role: model.Standby, Tags: stateful},
			}),
			c.worker("3", []groupmeta.StreamTask{{ID: id("0_2"), Role: model.Active, Tags: stateful}}, []groupmeta.AssignedTask{
				{ID: id("0_2"), Role: model.Active, Tags: stateful | groupmeta.TagLeaving}, {ID: id("1_1"), Role: model.Active},
			}),
		},
	}}}
	addTopic(s, "clicks", 3, nil)
	addTopic(s, "users", 2, nil)
	addTopic(s, "clicks-count-changelog", 3, []int64{1000, 2000, 3000})
	return s
}

func TestWorkerGroup(t *testing.T) {
	for protocolType, mode := range map[string]string{"stream": "incremental", "consumer": "incremental"} {
		g := build(t, clicks{protocolType: protocolType}.snapshot(), groupmeta.BuildOptions{})
		if g.Kind != model.Worker || g.KindBasis != model.BasisProtocol || g.Mode != mode || g.Assignor != "learner" || g.Topology.Source != "metadata" {
			t.Errorf("%s: %+v", protocolType, g)
		}
		if len(g.Instances) != 3 || g.Instances[0].Name != "click-1" || g.Instances[0].ID != workerID("1") || g.Instances[0].Members[0].Name != "click-1/T1" {
			t.Errorf("%s: instances %+v", protocolType, g.Instances)
		}
		if in := g.Instances[0]; in.Host != "host-1" || in.Members[0].Host != "host-1" || in.Members[0].Address != "/10.0.0.1" {
			t.Errorf("%s: host %q of the instance, %q and %q of its member", protocolType, in.Host, in.Members[0].Host, in.Members[0].Address)
		}
		task := holding(t, g, "click-1", "0_0")
		if !slices.Equal(task.Tags, []model.Tag{model.IsStateful, model.BeingLearned}) || task.Inferred || task.Partitions[0].Topic != "clicks" {
			t.Errorf("0_0 on click-1: %+v", task)
		}
		if task := holding(t, g, "click-1", "1_0"); !task.Release || *task.Stateful {
			t.Errorf("1_0 on click-1: %+v", task)
		}
		task = holding(t, g, "click-2", "0_0")
		if task.Role != model.Learner || task.Inferred || num(task.Restore.RemainingRecords) != "40" || num(task.Restore.Position) != "960" || task.Restore.Basis != "status" {
			t.Errorf("0_0 on click-2: %+v, %s", task, num(task.Restore.RemainingRecords))
		}
		if g.Totals.Active != 5 || g.Totals.Learner != 1 || g.Totals.Standby != 1 || g.Totals.Tasks != 5 || len(g.Unassigned) != 0 {
			t.Errorf("totals %+v, unassigned %v", g.Totals, g.Unassigned)
		}
		if *g.Timing.Standbys != 1 || g.Balance.Factor != 1.5 {
			t.Errorf("timing %+v, balance %+v", g.Timing, g.Balance)
		}
		wantText(t, "learning", finding(g, model.FindingLearning), "click-2 learns 1 task for click-1: 0_0")
	}
}

func TestLeavingWorker(t *testing.T) {
	g := build(t, clicks{protocolType: "stream", leaving: true, another: true}.snapshot(), groupmeta.BuildOptions{})
	in := instance(t, g, "click-3")
	if in.Leaving == nil || in.Leaving.ID != "mark-7" || !in.Leaving.Honoured || in.Expected != 0 || instance(t, g, "click-1").Expected != 2.5 {
		t.Errorf("got %+v", in)
	}
	wantText(t, "leaving", finding(g, model.FindingLeaving), "click-3 is leaving and runs 2 tasks")
	if g.NextRebalance == nil || g.NextRebalance.RawMs != 0 {
		t.Errorf("next rebalance %+v", g.NextRebalance)
	}
}

// A learner that was ready and still waits is shown as ready.
func TestReadyLearner(t *testing.T) {
	c := clicks{protocolType: "stream"}
	s := c.snapshot()
	const learns = groupmeta.TagStateful | groupmeta.TagLearner
	s.Groups[0].Classic.Members[1] = c.worker("2",
		[]groupmeta.StreamTask{{ID: ids("0_0")[0], Role: model.Learner, Tags: learns | groupmeta.TagReady, Lag: groupmeta.SomeInt(0)}},
		[]groupmeta.AssignedTask{{ID: ids("0_0")[0], Role: model.Learner, Tags: learns, Reason: groupmeta.ReasonBalance}})
	task := holding(t, build(t, s, groupmeta.BuildOptions{}), "click-2", "0_0")
	if !slices.Equal(task.Tags, []model.Tag{model.IsStateful, model.IsLearner, model.IsReady}) || task.Restore.State != model.CaughtUp {
		t.Errorf("got %+v", task)
	}
}

func TestWorkerOfANewerVersion(t *testing.T) {
	s := clicks{protocolType: "stream"}.snapshot()
	m := &s.Groups[0].Classic.Members[2]
	m.Metadata, m.Assignment = slices.Clone(m.Metadata), slices.Clone(m.Assignment)
	m.Metadata[0], m.Assignment[0] = 9, 9
	g := build(t, s, groupmeta.BuildOptions{})
	got := instance(t, g, "click-3").Members[0]
	if got.Metadata.Status != model.MetadataNewer || got.Assignment.Status != model.MetadataNewer || got.Metadata.UsedVersion != 9 || len(got.Tasks) != 0 {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(finding(g, model.FindingNotUnderstood), "newer than this build knows (1)") || len(g.Unassigned) != 0 {
		t.Errorf("findings %v, unassigned %v", g.Findings, g.Unassigned)
	}
}

// Not Stable, the metadata are not given: the assignments still say what it is.
func TestWorkerGroupInARebalance(t *testing.T) {
	s := clicks{protocolType: "consumer"}.snapshot()
	c := s.Groups[0].Classic
	c.State, c.Protocol = model.StatePreparingRebalance, ""
	for i := range c.Members {
		c.Members[i].Metadata = nil
	}
	g := build(t, s, groupmeta.BuildOptions{})
	if g.Kind != model.Worker || g.KindBasis != model.BasisMetadata || g.AssignmentBasis != model.AssignmentPrevious || g.Totals.Active != 5 {
		t.Errorf("kind %s by %s, basis %s, totals %+v", g.Kind, g.KindBasis, g.AssignmentBasis, g.Totals)
	}
}

// A topology of very many topics with very many tasks is not multiplied out.
func TestHugeTopologyOfAWorker(t *testing.T) {
	c := clicks{protocolType: "stream"}
	s := c.snapshot()
	meta := groupmeta.StreamMetadata{
		StreamIdentity:  groupmeta.StreamIdentity{Instance: workerID("1"), Workers: 1},
		StreamModeState: groupmeta.StreamModeState{Mode: groupmeta.StreamIncremental},
		Settings:        groupmeta.DefaultStreamSettings(),
		Topology:        []groupmeta.StreamSubtopology{{ID: 0, Partitions: 1<<31 - 1}},
	}
	asg := groupmeta.StreamAssignment{Generation: 5, Instances: 1, Workers: 1, Leader: workerID("1"), Mode: groupmeta.StreamIncremental}
	for i := range int32(4000) {
		meta.Topology[0].SourceTopics = append(meta.Topology[0].SourceTopics, fmt.Sprintf("topic-%04d", i))
		asg.Tasks = append(asg.Tasks, groupmeta.AssignedTask{ID: model.ClassicTask("", 0, i), Role: model.Active})
	}
	s.Groups[0].Classic.Members = s.Groups[0].Classic.Members[:1]
	m := &s.Groups[0].Classic.Members[0]
	m.Metadata = must(groupmeta.EncodeWorkerMetadata("stream", &meta))
	m.Assignment = must(groupmeta.EncodeWorkerAssignment("stream", &asg, nil))
	g := build(t, s, groupmeta.BuildOptions{})
	listed := 0
	for _, task := range g.Instances[0].Members[0].Tasks {
		listed += len(task.Partitions)
	}
	if listed == 0 || listed > 1<<18 || g.Totals.Active != 4000 || g.Totals.Tasks != 4000 || len(g.Unassigned) != 0 {
		t.Errorf("%d partitions listed, totals %+v, %d unassigned", listed, g.Totals, len(g.Unassigned))
	}
}
