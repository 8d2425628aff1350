package lab

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

func start(t *testing.T, o Options) *Lab {
	t.Helper()
	l, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func describe(t *testing.T, l *Lab, group string) kadm.DescribedGroup {
	t.Helper()
	d, err := l.admin.DescribeGroups(context.Background(), group)
	if err != nil {
		t.Fatal(err)
	}
	return d[group]
}

// A large group comes up Stable with every member's own bytes.
func TestReplayLargeGroup(t *testing.T) {
	l := start(t, Options{})
	s, err := LargeSnapshot(Large{Groups: 3, Members: 40, Tasks: 100})
	if err != nil {
		t.Fatal(err)
	}
	left, err := l.Replay(context.Background(), s)
	if err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	d := describe(t, l, LargeGroup)
	if d.State != model.StateStable || len(d.Members) != 40 {
		t.Fatalf("state %s with %d members", d.State, len(d.Members))
	}
	tasks := 0
	for _, m := range d.Members {
		c, ok := m.Assigned.AsConsumer()
		if !ok {
			t.Fatalf("member %s has no assignment", m.MemberID)
		}
		info, err := groupmeta.DecodeAssignmentInfo(c.UserData)
		if err != nil {
			t.Fatal(err)
		}
		tasks += len(info.ActiveTasks)
	}
	if tasks != 100 {
		t.Errorf("%d active tasks, want 100", tasks)
	}
	o, err := l.admin.FetchOffsets(context.Background(), LargeGroup)
	if err != nil || len(o[largeSource]) != 100 {
		t.Errorf("%d commits, %v", len(o[largeSource]), err)
	}
	if p := l.cluster.PartitionInfo(largeChangelog, 99); p.HighWatermark != largeEnd {
		t.Errorf("changelog ends at %d, want %d", p.HighWatermark, largeEnd)
	}
	if d := describe(t, l, "app-00002"); d.State != model.StateStable || len(d.Members) != 1 {
		t.Errorf("small group: state %s with %d members", d.State, len(d.Members))
	}
}

// The states that a snapshot may have are those of the replayed group.
func TestReplayStates(t *testing.T) {
	meta, assigned, err := memberBytes(processID(1), []string{"in"}, []groupmeta.Task{{}}, "in")
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot.New()
	s.Topics = []snapshot.Topic{topic("in", 1)}
	two := []snapshot.ClassicMember{
		{ID: "1", ClientID: "a-StreamThread-1-consumer", Metadata: meta, Assignment: assigned},
		{ID: "2", ClientID: "b-StreamThread-1-consumer", Metadata: meta},
	}
	busy, empty, gone := classicGroup("busy", two), classicGroup("empty", nil), classicGroup("gone", nil)
	busy.Classic.State, busy.Classic.Protocol = model.StatePreparingRebalance, ""
	empty.Classic.State = model.StateEmpty
	empty.Commits = []snapshot.Commit{{Topic: "in", Partition: 0, Offset: 0}}
	gone.Classic.ErrorCode = 69
	s.Groups = []snapshot.Group{busy, empty, gone}
	l := start(t, Options{})
	left, err := l.Replay(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0] != "gone" {
		t.Errorf("left out %q, want gone", left)
	}
	waitState(t, l, "busy", model.StatePreparingRebalance)
	if d := describe(t, l, "empty"); d.State != model.StateEmpty || d.ProtocolType != "consumer" {
		t.Errorf("empty group: %s %q", d.State, d.ProtocolType)
	}
}

func waitState(t *testing.T, l *Lab, group, want string) {
	t.Helper()
	for range 500 {
		if describe(t, l, group).State == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("group %s is %s, want %s", group, describe(t, l, group).State, want)
}

// A planned rebalance lies as far ahead in the lab as it lay when recorded.
func TestReplayShiftsPlannedRebalance(t *testing.T) {
	taken := time.UnixMilli(1_700_000_000_000)
	info := groupmeta.AssignmentInfo{Version: 11, CommonlySupportedVersion: 11, NextRebalanceMs: taken.Add(4 * time.Minute).UnixMilli()}
	data, err := info.Encode()
	if err != nil {
		t.Fatal(err)
	}
	frame := groupmeta.ConsumerAssignment{Version: 3, UserData: data}
	raw, err := frame.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot.New()
	s.TakenAt = &taken
	now := time.UnixMilli(1_800_000_000_000)
	l := &Lab{o: Options{Now: now}}
	for _, after := range []time.Duration{0, 20 * time.Minute} {
		got, err := groupmeta.DecodeConsumerAssignment(l.present(s, raw, after))
		if err != nil {
			t.Fatal(err)
		}
		back, err := groupmeta.DecodeAssignmentInfo(got.UserData)
		if err != nil {
			t.Fatal(err)
		}
		if want := now.Add(after + 4*time.Minute).UnixMilli(); back.NextRebalanceMs != want {
			t.Errorf("after %s: next rebalance %d, want %d", after, back.NextRebalanceMs, want)
		}
	}
}

// Every built-in group runs on the embedded broker, in the state in which it
// was recorded.
func TestBuiltinGroupsRun(t *testing.T) {
	l := start(t, Options{Now: time.UnixMilli(1_800_000_000_000)})
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"shop": model.StateStable, "fraud": model.StatePreparingRebalance, "delivery": model.StateStable,
		"ledger": model.StateEmpty, "mailer": model.StateStable, WorkerGroup: model.StateStable,
	}
	for _, s := range all {
		left, err := l.Replay(context.Background(), s)
		if err != nil || len(left) != 0 {
			t.Fatal(left, err)
		}
	}
	for group, state := range want {
		waitState(t, l, group, state)
	}
	// The plain consumer's topic is in no list of the recording, only assigned.
	if l.cluster.TopicInfo("mails") == nil {
		t.Error("the topic of mailer is not there")
	}
}

// Run gives a Stable Streams group members that live: one that is thrown out comes
// back, all take part in the round, and are assigned what they had. What else there is, is
// as in a replay.
func TestRunGroupsLive(t *testing.T) {
	l := start(t, Options{Now: time.UnixMilli(1_800_000_000_000)})
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if left, err := l.Run(context.Background(), s); err != nil || len(left) != 0 {
			t.Fatal(left, err)
		}
	}
	for group, members := range map[string]int{"shop": 4, "delivery": 4} {
		before := describe(t, l, group)
		if before.State != model.StateStable || len(before.Members) != members {
			t.Fatalf("%s is %s with %d members", group, before.State, len(before.Members))
		}
		assigned := map[string]int{}
		for _, m := range before.Members {
			assigned[m.ClientID] = bytesOf(m)
		}
		out := kmsg.NewPtrLeaveGroupRequest()
		out.Group, out.Members = group, []kmsg.LeaveGroupRequestMember{{MemberID: before.Members[0].MemberID}}
		if _, err := out.RequestWith(context.Background(), l.client); err != nil {
			t.Fatal(err)
		}
		whole := func() bool {
			d := describe(t, l, group)
			return d.State == model.StateStable && len(d.Members) == members && !slices.ContainsFunc(d.Members, func(m kadm.DescribedGroupMember) bool {
				return m.MemberID == before.Members[0].MemberID || bytesOf(m) != assigned[m.ClientID]
			})
		}
		for end := time.Now().Add(20 * time.Second); !whole(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is not whole again: %+v", group, describe(t, l, group))
			}
		}
	}
	waitState(t, l, "fraud", model.StatePreparingRebalance)
	waitState(t, l, "ledger", model.StateEmpty)
	waitState(t, l, WorkerGroup, model.StateStable)
}

// bytesOf is the size of what a Streams member is assigned.
func bytesOf(m kadm.DescribedGroupMember) int {
	c, ok := m.Assigned.AsConsumer()
	if !ok {
		return -1
	}
	return len(c.UserData)
}

// The built-in groups are the recorded ones, byte for byte.
func TestBuiltinGroupsAreRecorded(t *testing.T) {
	for here, there := range map[string]string{
		"shop": "classic-learners", "fraud": "classic-preparing", "delivery": "classic-mixed",
		"ledger": "classic-empty", "mailer": "plain-mailer",
	} {
		a, err := groups.ReadFile("groups/" + here + ".json")
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile("../../testdata/snapshot/" + there + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("groups/%s.json differs from testdata/snapshot/%s.json", here, there)
		}
	}
}
