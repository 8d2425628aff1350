package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Groups built by hand, one for each screen. They are what a snapshot could
// give, with numbers of a real group and changed names.

func ptr[T any](v T) *T { return &v }

func takenAt() *time.Time { return ptr(time.Date(2026, 11, 30, 1, 14, 7, 0, time.UTC)) }

// process is the UUID of the n-th instance.
func process(n int) string { return fmt.Sprintf("%08x-4d53-4f0e-9a41-0c5d1be0a001", 0x7b9f2c10+n) }

func newGroup(id string, kind model.Kind, state string) *model.Group {
	return &model.Group{
		ID: id, Kind: kind, KindBasis: model.BasisProtocol, State: state, ProtocolType: "consumer", Protocol: "stream",
		Coordinator: &model.Broker{ID: 1, Host: "broker-1", Port: 9092}, ClusterID: "prod-eu", TakenAt: takenAt(),
		AssignmentBasis: model.AssignmentCurrent,
	}
}

// addInstance adds an instance with threads that have no tasks yet.
func addInstance(g *model.Group, name string, threads int) *model.Instance {
	n := len(g.Instances)
	in := model.Instance{ID: process(n), Name: name, Host: fmt.Sprintf("/10.0.0.%d", 7+2*n), Expected: 6, Low: 3, High: 12, Balanced: true, Lag: ptr[int64](0)}
	for t := 1; t <= threads; t++ {
		client := fmt.Sprintf("%s-StreamThread-%d-consumer", name, t)
		in.Members = append(in.Members, model.Member{
			ID: fmt.Sprintf("%s-%08d-0000-4000-8000-000000000000", client, 10*n+t), Name: fmt.Sprintf("%s/T%d", name, t), ClientID: client,
			Host: in.Host, Address: in.Host, Thread: t, Metadata: model.MemberMetadata{Status: model.MetadataOK, UsedVersion: 11, SupportedVersion: 11},
			Assignment: model.MemberAssignment{Status: model.MetadataOK, UsedVersion: 11},
		})
	}
	g.Instances = append(g.Instances, in)
	return &g.Instances[n]
}

// running is an active stateful task.
func running(id string, lag int64) model.Task {
	t, err := model.ParseTaskID(id)
	if err != nil {
		panic(err)
	}
	topic := "orders"
	if t.Subtopology != "0" {
		topic = "shop-bykey-repartition"
	}
	return model.Task{
		ID: t, Role: model.Active, Tags: []model.Tag{model.IsStateful}, Stateful: ptr(true),
		Partitions: []model.TopicPartition{{Topic: topic, Partition: t.Partition}},
		Restore: model.Restore{
			State: model.Running, Basis: "offset sum", Reported: true, End: ptr[int64](49_936), RemainingRecords: ptr[int64](0), LogBytes: ptr[int64](3_250_585),
		},
		Lag: &model.Lag{Records: &lag, Committed: ptr(50_000 - lag), End: ptr[int64](50_000)},
	}
}

// copyOf is a standby or learner that has n records to go.
func copyOf(id string, role model.Role, n int64) model.Task {
	t := running(id, 0)
	t.Role, t.Lag = role, nil
	t.Restore = model.Restore{
		State: model.Restoring, Basis: "offset sum", Reported: true, Position: ptr(49_936 - n), End: ptr[int64](49_936),
		RemainingRecords: &n, RemainingBytes: ptr(n * 65),
	}
	if n == 0 {
		t.Restore.State = model.CaughtUp
	}
	return t
}

func give(g *model.Group, member string, tasks ...model.Task) {
	for i := range g.Instances {
		in := &g.Instances[i]
		for j := range in.Members {
			m := &in.Members[j]
			if m.Name != member {
				continue
			}
			for _, t := range tasks {
				m.Tasks = append(m.Tasks, t)
				count(g, in, &t)
			}
			return
		}
	}
	panic("no member " + member)
}

func count(g *model.Group, in *model.Instance, t *model.Task) {
	switch {
	case t.TargetOnly:
	case t.Role == model.Active:
		in.Active++
		g.Totals.Active++
		g.Totals.Tasks++
		if t.Lag != nil && t.Lag.Records != nil {
			*in.Lag += *t.Lag.Records
			if g.Totals.Lag == nil {
				g.Totals.Lag = ptr[int64](0)
			}
			*g.Totals.Lag += *t.Lag.Records
		}
	case t.Role == model.Learner:
		in.Learner++
		g.Totals.Learner++
	default:
		in.Standby++
		g.Totals.Standby++
	}
}

func find(g *model.Group, code, object, text string) {
	g.Findings = append(g.Findings, model.Finding{Code: code, Severity: model.SeverityOf(code), Object: object, Text: text})
}

// shop is a classic app in the middle of a scale-out.
func shop() *model.Group { return scaleOut("shop", "pod-a", "pod-b") }

func scaleOut(id, a, b string) *model.Group {
	g := newGroup(id, model.Classic, model.StateStable)
	addInstance(g, a, 2)
	addInstance(g, b, 2)
	for _, t := range []string{"0_0", "0_4", "1_0", "1_2", "1_4"} {
		task := running(t, 20)
		if t == "0_0" {
			task = running(t, 0)
			task.Tags, task.Inferred = append(task.Tags, model.BeingLearned), true
		}
		give(g, a+"/T1", task)
	}
	for _, t := range []string{"0_1", "0_3", "0_5", "1_3", "1_5"} {
		task := running(t, 25)
		if t == "0_1" {
			task = running(t, 31)
			task.Tags, task.Inferred = append(task.Tags, model.BeingLearned), true
		}
		give(g, a+"/T2", task)
	}
	give(g, b+"/T1", running("0_2", 9))
	give(g, b+"/T2", running("1_1", 0))
	for i, t := range []string{"0_0", "0_1"} {
		c := copyOf(t, model.Learner, []int64{49_936, 50_063}[i])
		c.Tags, c.Inferred = append(c.Tags, model.IsLearner), true
		c.Restore.Reported, c.Restore.Position = false, nil
		give(g, fmt.Sprintf("%s/T%d", b, i+1), c)
	}
	g.Instances[1].Balanced = false
	g.Positions = model.Positions{Basis: "last round", AsOf: ptr(takenAt().Add(-348 * time.Second)), Estimated: true}
	g.Timing = model.Timing{Standbys: ptr(0), StandbysSource: "estimate"}
	g.NextRebalance = &model.NextRebalance{
		RawMs: takenAt().Add(252 * time.Second).UnixMilli(), At: ptr(takenAt().Add(252 * time.Second)), InMs: 252_000, ByMember: g.Instances[0].Members[0].ID,
	}
	g.Metadata = model.MetadataSummary{GroupVersion: 11, Used: map[int32]int{11: 4}, Supported: map[int32]int{11: 4}}
	g.Topology = model.Topology{Source: "assignment", Subtopologies: []model.Subtopology{
		{ID: "0", SourceTopics: []string{"orders"}, RepartitionSinkTopics: []string{"shop-bykey-repartition"}, ChangelogTopics: []string{"shop-seen-changelog"}, Partitions: 6, Stateful: ptr(true), Inferred: true},
		{ID: "1", RepartitionSourceTopics: []string{"shop-bykey-repartition"}, ChangelogTopics: []string{"shop-bykey-changelog"}, Partitions: 6, Stateful: ptr(true)},
	}}
	g.Balance = &model.Balance{Factor: 2, MaxOverExpected: 10.0 / 6}
	g.Totals.RemainingRecords, g.Totals.RemainingBytes = ptr[int64](99_999), ptr[int64](6_499_935)
	find(g, model.FindingLearning, "instance "+b, b+" learns 2 tasks~ for "+a+": 0_0 0_1")
	find(g, model.FindingUnbalanced, "instance "+b, b+" runs 2 of 12 tasks, expected 6 (r 2 allows 3 to 12)")
	for i := range int32(6) {
		owner := g.Instances[0].Members[0].ID
		g.Offsets = append(g.Offsets, model.PartitionOffset{
			TopicPartition: model.TopicPartition{Topic: "orders", Partition: i}, Committed: ptr[int64](49_980), LogStart: ptr[int64](0), LogEnd: ptr[int64](50_000),
			Lag: ptr[int64](20), Member: owner,
		})
	}
	return g
}

// billing is a KIP-1071 group that reconciles.
func billing() *model.Group {
	g := newGroup("billing", model.Streams, model.StateReconciling)
	g.KindBasis, g.ProtocolType, g.Protocol = model.BasisType, "streams", ""
	g.Epoch, g.AssignmentEpoch = ptr[int32](6), ptr[int32](6)
	addInstance(g, "b1", 2)
	addInstance(g, "b2", 2)
	for i := range g.Instances {
		in := &g.Instances[i]
		in.TargetActive = ptr(6)
		for j := range in.Members {
			in.Members[j].Epoch, in.Members[j].TargetEpoch = ptr(int32(5+i)), ptr[int32](6)
			in.Members[j].Metadata = model.MemberMetadata{Status: model.MetadataOK}
		}
	}
	plain := func(id string, lag int64) model.Task {
		t := running(id, lag)
		t.Restore = model.Restore{State: model.RestoreUnknown, Basis: "none"}
		return t
	}
	to := g.Instances[1].Members[1].ID
	leaves := func(id string, lag int64) model.Task {
		t := plain(id, lag)
		t.LeavesTo = to
		return t
	}
	give(g, "b1/T1", plain("0_0", 3), plain("0_2", 3), leaves("0_4", 12), plain("1_0", 8))
	give(g, "b1/T2", plain("0_1", 8), plain("0_3", 8), plain("1_3", 9), leaves("1_1", 0))
	give(g, "b2/T1", plain("0_5", 3), plain("1_2", 4))
	give(g, "b2/T2", plain("1_4", 0), plain("1_5", 0))
	for _, id := range []string{"0_4", "1_1"} {
		t := plain(id, 0)
		t.TargetOnly, t.Lag = true, nil
		give(g, "b2/T2", t)
	}
	g.Positions = model.Positions{Basis: "none"}
	g.Timing = model.Timing{HeartbeatMs: ptr[int64](5000), SessionMs: ptr[int64](45_000), Standbys: ptr(0), StandbysSource: "broker default", Source: "broker default"}
	g.Topology = model.Topology{Source: "broker", Epoch: ptr[int32](0), TreeStatus: "NOT_STORED", Subtopologies: []model.Subtopology{
		{ID: "0", SourceTopics: []string{"orders"}, ChangelogTopics: []string{"billing-seen-changelog"}, Partitions: 6, Stateful: ptr(true)},
		{ID: "1", RepartitionSourceTopics: []string{"billing-by-repartition"}, ChangelogTopics: []string{"billing-by-changelog"}, Partitions: 6, Stateful: ptr(true)},
	}}
	g.Balance = &model.Balance{Factor: 2, Balanced: true, MaxOverExpected: 8.0 / 6}
	find(g, model.FindingConverging, "group billing", "b1 still holds 2 tasks meant for b2: 0_4 1_1")
	return g
}

// clicks is a worker group that drains an instance.
func clicks() *model.Group {
	g := newGroup("clicks", model.Worker, model.StateStable)
	g.ProtocolType, g.Protocol, g.Mode, g.Assignor = "stream", "learner", "incremental", "learner"
	for _, n := range []string{"pod-a", "pod-b", "pod-c"} {
		in := addInstance(g, n, 1)
		in.Expected, in.Low, in.High = 4, 2, 8
		in.Members[0].Name, in.Members[0].Thread = n+"/1", 0
		in.Members[0].Metadata.UsedVersion, in.Members[0].Metadata.SupportedVersion = 1, 1
	}
	leaving := &g.Instances[2]
	mark := model.Mark{Instance: leaving.ID, ID: "m-0001", Who: "op@desk", Why: "node drain", Honoured: true}
	written := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	mark.At, mark.TimeoutMs, mark.RemainingMs = &written, ptr[int64](60_000), ptr[int64](42_000)
	leaving.Leaving = &mark
	g.Marks = []model.Mark{mark}
	g.Control = &model.Control{
		Topic: "clicks-streamctl-control", End: 18,
		Mode: &model.ModeRecord{Mode: "incremental", Epoch: 3, AllowedMs: 30_000, At: written, Who: "op@desk"},
		Status: []model.InstanceStatus{{
			Instance: leaving.ID, Source: "worker", Software: "streamctl", Version: "0.3.0", At: written, Generation: ptr[int32](41),
			Mode: "incremental", Epoch: 3, ControlOffset: ptr[int64](18), Marks: []string{"m-0001"},
		}},
	}
	give(g, "pod-a/1", running("0_0", 1), running("0_1", 0), running("0_3", 0), running("0_4", 0))
	give(g, "pod-b/1", running("1_0", 1), running("1_1", 0), running("1_3", 0), running("1_4", 0))
	for _, id := range []string{"0_2", "0_5"} {
		t := running(id, 4)
		t.Tags = append(t.Tags, model.BeingLearned, model.IsLeaving)
		give(g, "pod-c/1", t)
		c := copyOf(id, model.Learner, 20_000)
		c.Tags = append(c.Tags, model.IsLearner)
		c.Restore.Basis = "status"
		give(g, "pod-a/1", c)
	}
	give(g, "pod-b/1", copyOf("0_0", model.Standby, 0))
	g.Positions = model.Positions{Basis: "status", AsOf: ptr(takenAt().Add(-2 * time.Second))}
	g.Timing = model.Timing{Standbys: ptr(0), StandbysSource: "user"}
	g.Balance = &model.Balance{Factor: 2, Balanced: true, MaxOverExpected: 1}
	find(g, model.FindingLearning, "instance pod-a", "pod-a learns 2 tasks for pod-c: 0_2 0_5")
	find(g, model.FindingLeaving, "instance pod-c", "owns 2 tasks; mark m-0001 by op@desk: node drain")
	return g
}

// rebalancing is shop while a rebalance runs, on a 4.x broker.
func rebalancing() *model.Group {
	g := shop()
	g.State, g.KindBasis, g.Protocol = model.StatePreparingRebalance, model.BasisAssignment, ""
	g.AssignmentBasis, g.NextRebalance = model.AssignmentPrevious, nil
	g.Findings = nil
	find(g, model.FindingRebalancing, "group shop", "4 members, the tables show the round before; watch shop follows")
	return g
}

// bare is a group in a rebalance on an old broker: nothing is given.
func bare() *model.Group {
	g := newGroup("fraud", model.Classic, model.StatePreparingRebalance)
	g.KindBasis, g.Protocol, g.AssignmentBasis = model.BasisClientIDs, "", model.AssignmentNone
	in := addInstance(g, "fraud", 6)
	in.ID, in.Expected, in.Lag = "client:fraud", 0, nil
	for i := range in.Members {
		in.Members[i].Metadata = model.MemberMetadata{Status: model.MetadataEmpty}
		in.Members[i].Assignment = model.MemberAssignment{Status: model.MetadataEmpty}
	}
	find(g, model.FindingRebalancing, "group fraud", "6 members; nothing is given while it lasts")
	return g
}

// ledger is an Empty group that has offsets.
func ledger() *model.Group {
	g := newGroup("ledger", model.Classic, model.StateEmpty)
	g.KindBasis, g.Protocol, g.AssignmentBasis = model.BasisTopics, "", model.AssignmentNone
	for i, c := range []*int64{ptr[int64](2470), nil} {
		o := model.PartitionOffset{
			TopicPartition: model.TopicPartition{Topic: "entries", Partition: int32(i)}, Committed: c, LogStart: ptr[int64](2000), LogEnd: ptr[int64](2480),
		}
		o.Lag, o.BeyondEnd = model.PartitionLag(o.Committed, o.LogStart, o.LogEnd)
		o.FromStart = c == nil
		g.Offsets = append(g.Offsets, o)
	}
	g.Totals.Lag = ptr[int64](490)
	find(g, model.FindingEmpty, "group ledger", "no members; committed offsets on 1 of 2 partitions")
	g.Notes = []string{"ledger has no members"}
	return g
}

// hostile has names that try to take over the terminal.
func hostile() *model.Group {
	g := scaleOut("evil\x1b[2J\u202egroup", "po\u200bd\x07-a", strings.Repeat("y", 249))
	g.Instances[0].Members[0].ClientID = "\x1b]0;title\x07\xff\xfe"
	g.Instances[0].Host = "/\x9b31m"
	g.ClusterID = "cl\nuster"
	g.Findings = append(g.Findings, model.Finding{Code: model.FindingSilent, Severity: model.Warn, Object: "topic a\tb", Text: "no commit\r\nfor 60s"})
	g.Errors = []model.ReadError{{Object: "topic \x1b[1m", Code: "TOPIC_AUTHORIZATION_FAILED", Text: "not authorized\x00", Hint: "needs DESCRIBE"}}
	return g
}

// large has many instances, every second task being learned.
func large(instances, tasks int) *model.Group {
	g := newGroup("large", model.Classic, model.StateStable)
	for i := range instances {
		addInstance(g, fmt.Sprintf("pod-%04d", i), 1)
	}
	for i := range tasks {
		a, b := i%instances, (i+1)%instances
		id := fmt.Sprintf("%d_%d", i%4, i/4)
		t := running(id, int64(i%7))
		if i%2 == 0 {
			t.Tags, t.Inferred = append(t.Tags, model.BeingLearned), true
			c := copyOf(id, model.Learner, 1000)
			c.Inferred = true
			give1(g, b, c)
		}
		give1(g, a, t)
	}
	g.Positions = model.Positions{Basis: "last round"}
	find(g, model.FindingLearning, "group large", "half of the tasks are being learned")
	return g
}

// give1 gives a task to the only member of an instance.
func give1(g *model.Group, instance int, t model.Task) {
	in := &g.Instances[instance]
	in.Members[0].Tasks = append(in.Members[0].Tasks, t)
	count(g, in, &t)
}

// extremes has the largest numbers there are.
func extremes() *model.Group {
	g := shop()
	g.ID = "extremes"
	g.NextRebalance.RawMs, g.NextRebalance.InMs = math.MaxInt64-1, math.MaxInt64-1
	g.Offsets[0].LogEnd, g.Offsets[0].Lag = ptr[int64](math.MaxInt64), ptr[int64](math.MaxInt64)
	g.Totals.Lag = ptr[int64](math.MaxInt64)
	return g
}

func commands(c string) bool {
	return c == "get tasks" || c == "watch" || c == "describe group"
}
