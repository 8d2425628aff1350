package groupmeta_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

const (
	all0 = "0_0 0_1 0_2 0_3 0_4 0_5"
	all1 = "1_0 1_1 1_2 1_3 1_4 1_5"
)

// running reports every task of a list as running.
func running(list string) map[string]int64 {
	out := make(map[string]int64)
	for _, s := range strings.Fields(list) {
		out[s] = groupmeta.SumRunning
	}
	return out
}

func with(sums map[string]int64, more map[string]int64) map[string]int64 {
	for k, v := range more {
		sums[k] = v
	}
	return sums
}

// An active task that its member reports no sum for is not reported: never 0.
func TestFieldCase2_OffsetSumNotReported(t *testing.T) {
	sums := running(all0 + " " + all1)
	delete(sums, "0_1")
	g := build(t, twelve(appMember{process: "a", active: all0 + " " + all1, sums: sums}).snapshot(), groupmeta.BuildOptions{})
	r := holding(t, g, "a", "0_1").Restore
	if r.Reported || r.Position != nil || r.RemainingRecords != nil || r.State != model.RestoreUnknown || r.Basis != "none" {
		t.Errorf("got %+v", r)
	}
	if r := holding(t, g, "a", "0_0").Restore; !r.Reported || r.State != model.Running || num(r.Position) != "4056" || num(r.RemainingRecords) != "0" {
		t.Errorf("0_0 runs, got %+v", r)
	}
}

func TestFieldCase4_NextRebalance(t *testing.T) {
	at := start().Add(252 * time.Second)
	of := func(next int64) *model.Group {
		return build(t, twelve(
			appMember{process: "a", active: all0, next: next, sums: running(all0)},
			appMember{process: "b", active: all1, sums: running(all1)},
		).snapshot(), groupmeta.BuildOptions{})
	}
	g := of(at.UnixMilli())
	n := g.NextRebalance
	if n == nil || n.InMs != 252000 || n.RawMs != at.UnixMilli() || !n.At.Equal(at) || !strings.HasPrefix(n.ByMember, "a-StreamThread-1") {
		t.Errorf("planned: got %+v", n)
	}
	if as := g.Positions.AsOf; as == nil || !as.Equal(at.Add(-10*time.Minute)) || !g.Positions.Estimated || g.Positions.Basis != "last round" {
		t.Errorf("positions: got %+v", g.Positions)
	}
	if n := of(atOnce).NextRebalance; n == nil || n.RawMs != 0 || n.InMs != 0 || n.At != nil {
		t.Errorf("at once: got %+v", n)
	}
	if n := of(math.MaxInt64).NextRebalance; n != nil {
		t.Errorf("none planned: got %+v", n)
	}
	if n := of(math.MaxInt64 - 1).NextRebalance; n != nil {
		t.Errorf("in three hundred million years: got %+v", n)
	}
	late := of(start().Add(-59 * time.Second).UnixMilli())
	if late.NextRebalance.InMs != -59000 || finding(late, model.FindingOverdue) != "" {
		t.Errorf("59 s late: got %+v, %v", late.NextRebalance, late.Findings)
	}
	late = of(start().Add(-3 * time.Minute).UnixMilli())
	wantText(t, "3 min late", finding(late, model.FindingOverdue), "the rebalance planned by a/T1 for 01:11:07 UTC by the leader's clock is 3m overdue")
	late = of(start().Add(-200 * time.Second).UnixMilli())
	if f := finding(late, model.FindingOverdue); !strings.Contains(f, "is 3m20s overdue") {
		t.Errorf("200 s late: %q", f)
	}
	if negative := of(-5); finding(negative, model.FindingOverdue) == "" || negative.NextRebalance.At != nil {
		t.Errorf("negative: got %+v, %v", negative.NextRebalance, negative.Findings)
	}
}

// A thread of a process that has more threads than the others is a possible
// leftover; once it is gone, numbers with a gap are none.
func TestFieldCase7_ReplacedThread(t *testing.T) {
	thread := func(process, n, active string) appMember {
		return appMember{process: process, client: "pod-" + process + "-StreamThread-" + n + "-consumer", active: active, sums: running(active)}
	}
	silent := thread("a", "1", "")
	a := twelve(silent, thread("a", "2", "0_0 0_1 0_2"), thread("a", "3", "0_3 0_4 0_5"), thread("b", "1", "1_0 1_1 1_2"), thread("b", "2", "1_3 1_4 1_5"))
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	for _, m := range instance(t, g, "pod-a").Members {
		if m.Leftover != (m.Thread == 1) {
			t.Errorf("%s: leftover %v", m.Name, m.Leftover)
		}
	}
	if finding(g, model.FindingPossibleLeftover) == "" {
		t.Errorf("no finding: %v", g.Findings)
	}
	a.members = a.members[1:]
	g = build(t, a.snapshot(), groupmeta.BuildOptions{})
	if f := finding(g, model.FindingPossibleLeftover); f != "" {
		t.Errorf("without thread 1: %s", f)
	}
	// Alone in its group: thread 1 got nothing although there is enough for all.
	a = twelve(silent, thread("a", "2", all0), thread("a", "3", all1))
	if f := finding(build(t, a.snapshot(), groupmeta.BuildOptions{}), model.FindingPossibleLeftover); !strings.HasPrefix(f, "pod-a/T1: ") {
		t.Errorf("alone: %q", f)
	}
	// While the group prepares: thread 3 is new, 1 and 2 have what they had.
	a = twelve(thread("a", "1", all0), thread("a", "2", all1), appMember{process: "a", client: "pod-a-StreamThread-3-consumer", noMetadata: true, noAssignment: true})
	a.state = model.StatePreparingRebalance
	for i := range a.members {
		a.members[i].noMetadata = true
	}
	if f := finding(build(t, a.snapshot(), groupmeta.BuildOptions{}), model.FindingPossibleLeftover); !strings.HasPrefix(f, "pod-a/T1: ") {
		t.Errorf("preparing: %q", f)
	}
	// Processes of different sizes that all have work are no sign of anything.
	a = twelve(thread("a", "1", "0_0"), thread("a", "2", "0_1"), thread("a", "3", "0_2"), thread("b", "1", "0_3 0_4 0_5 "+all1))
	if f := finding(build(t, a.snapshot(), groupmeta.BuildOptions{}), model.FindingPossibleLeftover); f != "" {
		t.Errorf("three threads and one: %s", f)
	}
}

// The same bytes of a classic group at each look: restoring as of its last
// round.
func TestFieldCase9_RestoringAsOfTheLastRound(t *testing.T) {
	a := twelve(appMember{process: "a", active: all0 + " " + all1, sums: with(running(all0+" "+all1), map[string]int64{"0_0": 1000})})
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	r := holding(t, g, "a", "0_0").Restore
	if r.State != model.Restoring || r.Basis != "offset sum" || num(r.Position) != "1000" || num(r.RemainingRecords) != "3056" {
		t.Errorf("got %+v", r)
	}
	if g.Positions.Basis != "last round" {
		t.Errorf("positions %+v", g.Positions)
	}
}

func TestFieldCase16_IdleThread(t *testing.T) {
	thread := func(n, active, standby string) appMember {
		return appMember{process: "a", client: "pod-a-StreamThread-" + n + "-consumer", active: active, standby: standby, sums: running(active)}
	}
	a := twelve(thread("1", "0_0 0_1", "0_2 0_3"), thread("2", "0_4", "0_5"), thread("3", "", ""))
	a.subs = a.subs[:1]
	in := instance(t, build(t, a.snapshot(), groupmeta.BuildOptions{}), "pod-a")
	var got []int
	for _, m := range in.Members {
		got = append(got, len(m.Tasks))
	}
	if in.Active != 3 || in.Standby != 3 || !slices.Equal(got, []int{4, 2, 0}) {
		t.Errorf("active %d, standby %d, tasks of the threads %v", in.Active, in.Standby, got)
	}
}

func TestFieldCase17_StatefulWhereStateIsReported(t *testing.T) {
	a := &app{group: "shop", subs: []appSub{
		{id: 0, partitions: 4, sources: []string{"orders"}},
		{id: 1, partitions: 4, sources: []string{"users"}, changelogs: []string{"shop-users-changelog"}},
	}, members: []appMember{
		{process: "a", active: "0_0 0_1 0_2 0_3"},
		{process: "b", active: "1_0 1_1 1_2 1_3", sums: map[string]int64{"1_0": groupmeta.SumRunning}},
	}}
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	for _, id := range []string{"0_0", "0_3"} {
		if s := holding(t, g, "a", id).Stateful; s == nil || *s {
			t.Errorf("%s: %v", id, s)
		}
	}
	for _, id := range []string{"1_0", "1_3"} {
		task := holding(t, g, "b", id)
		if task.Stateful == nil || !*task.Stateful || !slices.Contains(task.Tags, model.IsStateful) {
			t.Errorf("%s: %+v", id, task)
		}
	}
	// Nobody reports anything and no topic is known: it cannot be told.
	a.members[1].sums = nil
	s := a.snapshot()
	s.Topics, s.Logs = nil, nil
	g = build(t, s, groupmeta.BuildOptions{})
	if st := holding(t, g, "b", "1_0").Stateful; st != nil {
		t.Errorf("stateful %v without any evidence", *st)
	}
}

func TestFieldCase18_MissingStandby(t *testing.T) {
	one := 1
	a := twelve(
		appMember{process: "a", active: "0_0 0_2 0_4", standby: "0_1 0_5", sums: running("0_0 0_2 0_4")},
		appMember{process: "b", active: "0_1 0_3 0_5", standby: "0_0 0_2 0_4", sums: running("0_1 0_3 0_5")},
	)
	a.subs = a.subs[:1]
	g := build(t, a.snapshot(), groupmeta.BuildOptions{Standbys: &one})
	wantText(t, "classic", finding(g, model.FindingMissingStandby), "5 of 6 standbys are there (missing: 0_3)")
	if g.Timing.StandbysSource != "user" || *g.Timing.Standbys != 1 {
		t.Errorf("timing %+v", g.Timing)
	}
	if g := build(t, a.snapshot(), groupmeta.BuildOptions{}); finding(g, model.FindingMissingStandby) != "" || *g.Timing.Standbys != 0 || g.Timing.StandbysSource != "estimate" {
		t.Errorf("an estimate misses nothing: %v %+v", g.Findings, g.Timing)
	}
	two := 2
	wantText(t, "too few instances", finding(build(t, a.snapshot(), groupmeta.BuildOptions{Standbys: &two}), model.FindingMissingStandby),
		"5 of 12 standbys are there (missing: 0_0 0_1 0_2 0_3 0_4 0_5); 2 instances can hold 1")
}

func TestFieldCase26_StaticMembers(t *testing.T) {
	a := &app{group: "shop", subs: []appSub{{id: 0, partitions: 8, sources: []string{"orders"}}}}
	for i, static := range []string{"s0", "s1", "s2", "s3", "s4", "s5", "", ""} {
		a.members = append(a.members, appMember{process: string(rune('a' + i)), static: static, active: ids("0_0")[0].String()[:2] + string(rune('0'+i))})
	}
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	if g.Metadata.StaticMembers != 6 {
		t.Errorf("%d static members", g.Metadata.StaticMembers)
	}
}

func TestFieldCase28_InstanceID(t *testing.T) {
	g := build(t, twelve(appMember{process: "a", static: "i-1", active: all0}, appMember{process: "b", active: all1}).snapshot(), groupmeta.BuildOptions{})
	if id := instance(t, g, "a").Members[0].InstanceID; id != "i-1" {
		t.Errorf("static member: %q", id)
	}
	if id := instance(t, g, "b").Members[0].InstanceID; id != "" {
		t.Errorf("dynamic member: %q", id)
	}
}
