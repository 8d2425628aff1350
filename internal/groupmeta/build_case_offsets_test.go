package groupmeta_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// plainApp is an app of one stateless sub-topology that reads one topic.
func plainApp(partitions int32, members ...appMember) *app {
	return &app{group: "app", members: members, subs: []appSub{{id: 0, partitions: partitions, sources: []string{"in"}}}}
}

func commit(s *snapshot.Snapshot, topic string, partition int32, offset int64) {
	s.Groups[0].Commits = append(s.Groups[0].Commits, snapshot.Commit{Topic: topic, Partition: partition, Offset: offset})
}

func setLog(s *snapshot.Snapshot, topic string, partition int32, start, end int64) {
	for i := range s.Logs {
		if l := &s.Logs[i]; l.Topic == topic && l.Partition == partition {
			l.Start, l.End = &start, &end
			return
		}
	}
	s.Logs = append(s.Logs, snapshot.Log{Topic: topic, Partition: partition, Start: &start, End: &end})
}

func row(t testing.TB, g *model.Group, name string) model.PartitionOffset {
	t.Helper()
	for _, r := range g.Offsets {
		if r.String() == name {
			return r
		}
	}
	t.Fatalf("no row %s in %v", name, g.Offsets)
	return model.PartitionOffset{}
}

// sampled are two looks at a group of two instances, one minute apart: earlier
// commits, later commits; the ends are 100.
func sampled(t *testing.T, before, after [4]int64) *model.Group {
	t.Helper()
	look := func(commits [4]int64) *snapshot.Snapshot {
		s := plainApp(4, appMember{process: "a", active: "0_0 0_1"}, appMember{process: "b", active: "0_2 0_3"}).snapshot()
		for p, o := range commits {
			commit(s, "in", int32(p), o)
		}
		return s
	}
	s, later := look(after), start().Add(time.Minute)
	s.TakenAt = &later
	return build(t, s, groupmeta.BuildOptions{Earlier: look(before)})
}

func TestFieldCase31_Verdict(t *testing.T) {
	healthy := sampled(t, [4]int64{10, 10, 10, 10}, [4]int64{100, 100, 90, 11})
	if !healthy.OK() || len(healthy.Findings) != 0 {
		t.Errorf("healthy: %v", healthy.Findings)
	}
	idle := sampled(t, [4]int64{100, 100, 100, 100}, [4]int64{100, 100, 100, 100})
	if !idle.OK() {
		t.Errorf("no input: %v", idle.Findings)
	}
	for name, c := range map[string]struct {
		after      [4]int64
		code, want string
	}{
		"all stalled":            {[4]int64{10, 10, 10, 10}, model.FindingSilent, "no offset moved in 60s, 4 partitions have input waiting"},
		"one instance stalled":   {[4]int64{20, 30, 10, 10}, model.FindingSilent, "no offset of b moved in 60s: in-2 in-3"},
		"some partition stalled": {[4]int64{20, 10, 30, 30}, model.FindingNoCommit, "1 partition has input but no commit in 60s: in-1"},
	} {
		g := sampled(t, [4]int64{10, 10, 10, 10}, c.after)
		wantText(t, name, finding(g, c.code), c.want)
		if len(g.Findings) != 1 || g.OK() {
			t.Errorf("%s: findings %v", name, g.Findings)
		}
	}
	// One learner.
	a := twelve(
		appMember{process: "a", active: all0 + " " + all1, sums: running(all0 + " " + all1), next: start().Add(time.Minute).UnixMilli()},
		appMember{process: "b", standby: "0_0"},
	)
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	wantText(t, "learning", finding(g, model.FindingLearning), "b learns 1 task~ for a: 0_0")
}

// Every lag comes from one function: rows, tasks, instances and totals agree,
// whatever was committed and read, and none is negative.
func TestFieldCase40_OneLag(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int32Range(1, 6).Draw(t, "partitions")
		a := plainApp(n)
		var tasks [2]string
		for p := range n {
			i := rapid.IntRange(0, 1).Draw(t, "owner")
			tasks[i] += fmt.Sprintf(" 0_%d", p)
		}
		a.members = []appMember{{process: "a", active: tasks[0]}, {process: "b", active: tasks[1]}}
		s := a.snapshot()
		for p := range n {
			from := rapid.Int64Range(0, 1000).Draw(t, "start")
			setLog(s, "in", p, from, from+rapid.Int64Range(0, 1000).Draw(t, "length"))
			if rapid.Bool().Draw(t, "committed") {
				commit(s, "in", p, rapid.Int64Range(-1, 3000).Draw(t, "commit"))
			}
			if rapid.IntRange(0, 5).Draw(t, "unread") == 0 {
				s.Logs[p].End = nil
			}
		}
		g, err := groupmeta.Build(s, "app", groupmeta.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		total, known := int64(0), false
		for _, r := range g.Offsets {
			lag, beyond := model.PartitionLag(r.Committed, r.LogStart, r.LogEnd)
			if num(lag) != num(r.Lag) || beyond != r.BeyondEnd || lag != nil && *lag < 0 {
				t.Fatalf("%s: lag %s beyond %d, want %s %d", r, num(r.Lag), r.BeyondEnd, num(lag), beyond)
			}
			if r.Lag != nil {
				total, known = total+*r.Lag, true
			}
		}
		if want := map[bool]string{true: fmt.Sprint(total), false: "-"}[known]; num(g.Totals.Lag) != want {
			t.Fatalf("total %s, rows add up to %s", num(g.Totals.Lag), want)
		}
		for _, in := range g.Instances {
			sum, all := int64(0), true
			for _, task := range in.Members[0].Tasks {
				r := row2(g, task.Partitions[0])
				if num(task.Lag.Records) != num(r.Lag) || num(task.Lag.Committed) != num(r.Committed) || num(task.Lag.End) != num(r.LogEnd) || r.Member != in.Members[0].ID {
					t.Fatalf("%s: task %+v, row %+v", task.ID, task.Lag, r)
				}
				if r.Lag == nil {
					all = false
				} else {
					sum += *r.Lag
				}
			}
			if want := map[bool]string{true: fmt.Sprint(sum), false: "-"}[all]; num(in.Lag) != want {
				t.Fatalf("%s: lag %s, want %s", in.Name, num(in.Lag), want)
			}
		}
	})
}

func row2(g *model.Group, p model.TopicPartition) model.PartitionOffset {
	for _, r := range g.Offsets {
		if r.TopicPartition == p {
			return r
		}
	}
	return model.PartitionOffset{}
}

func TestFieldCase45_NothingCommitted(t *testing.T) {
	for from, want := range map[int64]string{0: "2470", 2000: "470"} {
		s := plainApp(1, appMember{process: "a", active: "0_0"}).snapshot()
		setLog(s, "in", 0, from, 2470)
		commit(s, "in", 0, -1)
		r := row(t, build(t, s, groupmeta.BuildOptions{}), "in-0")
		if r.Committed != nil || num(r.Lag) != want || !r.FromStart {
			t.Errorf("start %d: %+v, lag %s", from, r, num(r.Lag))
		}
	}
	// Commits that were not read are not "nothing committed".
	s := plainApp(1, appMember{process: "a", active: "0_0"}).snapshot()
	s.Groups[0].CommitsRead = false
	g := build(t, s, groupmeta.BuildOptions{})
	if r := row(t, g, "in-0"); r.Lag != nil || r.FromStart || r.Problem == "" || g.Totals.Lag != nil {
		t.Errorf("not read: %+v, total %s", r, num(g.Totals.Lag))
	}
}

func TestFieldCase46_CommitBeyondTheEnd(t *testing.T) {
	s := plainApp(1, appMember{process: "a", active: "0_0"}).snapshot()
	setLog(s, "in", 0, 0, 136204)
	commit(s, "in", 0, 144424)
	g := build(t, s, groupmeta.BuildOptions{})
	r := row(t, g, "in-0")
	if num(r.Lag) != "0" || r.BeyondEnd != 8220 || num(g.Totals.Lag) != "0" {
		t.Errorf("got %+v, lag %s", r, num(r.Lag))
	}
	if task := holding(t, g, "a", "0_0"); task.Lag.BeyondEnd != 8220 || num(task.Lag.Records) != "0" {
		t.Errorf("task %+v", task.Lag)
	}
	wantText(t, "finding", finding(g, model.FindingBeyondEnd), "1 partition is committed beyond the end: in-0 by 8,220")
}

func TestFieldCase49_OffsetsWithoutMembers(t *testing.T) {
	a := plainApp(2)
	a.state = model.StateEmpty
	s := a.snapshot()
	addTopic(s, "app-count-changelog", 2, nil)
	commit(s, "in", 0, 40)
	commit(s, "in", 1, 100)
	g := build(t, s, groupmeta.BuildOptions{})
	if g.Kind != model.Classic || g.KindBasis != model.BasisTopics {
		t.Errorf("kind %s by %s", g.Kind, g.KindBasis)
	}
	if r := row(t, g, "in-0"); r.Member != "" || num(r.Lag) != "60" || len(g.Offsets) != 2 || num(g.Totals.Lag) != "60" {
		t.Errorf("rows %+v", g.Offsets)
	}
	if len(g.Notes) != 1 || g.Notes[0] != "app has no members" || !g.OK() || codes(g) != model.FindingEmpty {
		t.Errorf("notes %q, findings %v", g.Notes, g.Findings)
	}
	// Members on one topic, commits on two.
	s = plainApp(1, appMember{process: "a", active: "0_0"}).snapshot()
	addTopic(s, "topic-2", 1, nil)
	commit(s, "in", 0, 90)
	commit(s, "topic-2", 0, 30)
	g = build(t, s, groupmeta.BuildOptions{})
	if r := row(t, g, "topic-2-0"); r.Member != "" || num(r.Lag) != "70" || num(g.Totals.Lag) != "80" || num(instance(t, g, "a").Lag) != "10" {
		t.Errorf("rows %+v, total %s", g.Offsets, num(g.Totals.Lag))
	}
}

func TestFieldCase52_DeletedTopic(t *testing.T) {
	s := plainApp(1, appMember{process: "a", active: "0_0"}).snapshot()
	commit(s, "in", 0, 90)
	commit(s, "gone", 0, 30)
	s.Missing = []snapshot.MissingTopic{{Name: "gone", ErrorCode: 3}}
	g := build(t, s, groupmeta.BuildOptions{})
	if r := row(t, g, "gone-0"); r.Lag != nil || r.LogEnd != nil || r.Problem != "topic deleted" || num(r.Committed) != "30" {
		t.Errorf("got %+v", r)
	}
	if r := row(t, g, "in-0"); num(r.Lag) != "10" || !g.Totals.LagPartial || num(g.Totals.Lag) != "10" {
		t.Errorf("other row %+v, totals %+v", r, g.Totals)
	}
	if len(g.Errors) != 1 || g.Errors[0].Object != "topic gone" || g.Errors[0].Code != "UNKNOWN_TOPIC_OR_PARTITION" || finding(g, model.FindingTopicMissing) != "topic gone is deleted" {
		t.Errorf("errors %v, findings %v", g.Errors, g.Findings)
	}
	s.Errors = []snapshot.Error{{Object: "topic gone", Code: "UNKNOWN_TOPIC_OR_PARTITION", Text: "read log ends"}}
	if g := build(t, s, groupmeta.BuildOptions{}); len(g.Errors) != 1 {
		t.Errorf("said twice: %v", g.Errors)
	}
	g = build(t, s, groupmeta.BuildOptions{IgnoreMissing: true})
	if len(g.Errors) != 0 || len(g.Findings) != 0 || row(t, g, "gone-0").Problem != "topic deleted" {
		t.Errorf("ignored: errors %v, findings %v", g.Errors, g.Findings)
	}
}

func TestFieldCase52_MissingChangelog(t *testing.T) {
	s := billing(streamsThread{process: "a", active: "0_0", offsets: map[string]int64{"0_0": 5}}).snapshot(1)
	for i := range s.Topics {
		if s.Topics[i].Name == "billing-bykey-changelog" {
			s.Topics = append(s.Topics[:i], s.Topics[i+1:]...)
			break
		}
	}
	var logs []snapshot.Log
	for _, l := range s.Logs {
		if l.Topic != "billing-bykey-changelog" {
			logs = append(logs, l)
		}
	}
	s.Logs, s.Missing = logs, []snapshot.MissingTopic{{Name: "billing-bykey-changelog", ErrorCode: 3}}
	g := build(t, s, groupmeta.BuildOptions{})
	if r := holding(t, g, "a", "0_0").Restore; r.State != model.RestoreUnknown || r.Note != "changelog missing" || r.RemainingRecords != nil {
		t.Errorf("got %+v", r)
	}
	if f := finding(g, model.FindingTopicMissing); !strings.Contains(f, "changelog billing-bykey-changelog is missing") {
		t.Errorf("findings %v", g.Findings)
	}
}

// A hidden source topic makes the lag unknown, not small.
func TestHiddenTopicIsSaid(t *testing.T) {
	s := plainApp(1, appMember{process: "a", active: "0_0"}).snapshot()
	s.Topics, s.Logs = nil, nil
	s.Missing = []snapshot.MissingTopic{{Name: "in", ErrorCode: 29}}
	s.Groups[0].Commits = []snapshot.Commit{{Topic: "in", Offset: -1, ErrorCode: 29}}
	g := build(t, s, groupmeta.BuildOptions{})
	if r := row(t, g, "in-0"); r.Lag != nil || r.Problem != "not visible" || g.Totals.Lag != nil || instance(t, g, "a").Lag != nil {
		t.Errorf("got %+v, total %s", r, num(g.Totals.Lag))
	}
	if finding(g, model.FindingNotVisible) != "topic in is missing or not visible" || len(g.Errors) != 1 || g.Errors[0].Code != "TOPIC_AUTHORIZATION_FAILED" {
		t.Errorf("findings %v, errors %v", g.Findings, g.Errors)
	}
}
