package groupmeta_test

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// shown writes how the copies of a task look: instance, role, and what is not
// sure about it.
func shown(g *model.Group, task string) string {
	var out []string
	for _, in := range g.Instances {
		for _, m := range in.Members {
			for _, t := range m.Tasks {
				if t.ID.String() != task || t.Role == model.Active {
					continue
				}
				s := in.Name + " " + string(t.Role)
				switch {
				case t.Uncertain:
					s += "?"
				case t.Parked:
					s += " parked"
				case t.Inferred:
					s += "~"
				}
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, ", ")
}

// Section 10 of the wire formats, row by row.
func TestLearnersByEvidence(t *testing.T) {
	zero, one := 0, 1
	probing := start().Add(5 * time.Minute).UnixMilli()
	owner := func(next int64) appMember {
		return appMember{process: "own", active: all0 + " " + all1, sums: running(all0 + " " + all1), next: next}
	}
	copies := func(process, tasks string, sums map[string]int64) appMember {
		return appMember{process: process, standby: tasks, sums: sums}
	}
	all := all0 + " " + all1
	for name, c := range map[string]struct {
		members  []appMember
		format   int32
		standbys *int
		want     string // of 0_0
	}{
		"planned, more than the estimate":    {[]appMember{owner(probing), copies("b", "0_0", nil)}, 11, nil, "b learner~"},
		"given, planned":                     {[]appMember{owner(probing), copies("b", "0_0", nil)}, 11, &zero, "b learner~"},
		"given, not more than wanted":        {[]appMember{owner(probing), copies("b", "0_0", nil)}, 11, &one, "b standby"},
		"nothing planned":                    {[]appMember{owner(0), copies("b", "0_0", nil)}, 11, nil, "b standby"},
		"nothing planned, and none wanted":   {[]appMember{owner(0), copies("b", "0_0", nil)}, 11, &zero, "b standby?"},
		"only a hand-over, estimated":        {[]appMember{owner(atOnce), copies("b", "0_0", nil)}, 11, nil, "b standby?"},
		"only a hand-over, given":            {[]appMember{owner(atOnce), copies("b", "0_0", nil)}, 11, &zero, "b learner~"},
		"a format without learners":          {[]appMember{owner(probing), copies("b", "0_0", nil)}, 6, nil, "b standby"},
		"the one that is furthest behind":    {[]appMember{owner(probing), copies("b", all, map[string]int64{"0_0": 4056}), copies("c", "0_0", map[string]int64{"0_0": 99})}, 11, nil, "b standby, c learner~"},
		"the one that reported nothing":      {[]appMember{owner(probing), copies("b", all, map[string]int64{"0_0": 99}), copies("c", "0_0", nil)}, 11, &one, "b standby, c learner~"},
		"two that are equally far":           {[]appMember{owner(probing), copies("b", all, nil), copies("c", "0_0", nil)}, 11, &one, "b standby?, c standby?"},
		"every task has as many: any may be": {[]appMember{owner(probing), copies("b", all, nil)}, 11, nil, "b standby?"},
	} {
		a := twelve(c.members...)
		a.format = c.format
		g := build(t, a.snapshot(), groupmeta.BuildOptions{Standbys: c.standbys})
		wantText(t, name, shown(g, "0_0"), c.want)
		learned := strings.Contains(c.want, "learner~")
		if task := holding(t, g, "own", "0_0"); task.Inferred != learned || (len(task.Tags) == 2) != learned {
			t.Errorf("%s: the active is %+v", name, task)
		}
	}
}

// Threads of one process are one copy.
func TestCopiesCountByProcess(t *testing.T) {
	two := func(n, standby string) appMember {
		return appMember{process: "b", client: "b-StreamThread-" + n + "-consumer", standby: standby}
	}
	a := twelve(
		appMember{process: "a", active: all0 + " " + all1, sums: running(all0 + " " + all1), next: start().Add(time.Minute).UnixMilli()},
		two("1", "0_0 0_1"), two("2", "0_2"),
	)
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	if in := instance(t, g, "b"); in.Learner != 3 || len(in.Members) != 2 {
		t.Errorf("got %+v", in)
	}
}

// Where a member's tasks are not known, nothing is estimated and every copy is
// doubtful.
func TestLearnersBesideAnUnknownMember(t *testing.T) {
	s := twelve(
		appMember{process: "a", active: all0, sums: running(all0), next: start().Add(time.Minute).UnixMilli()},
		appMember{process: "b", standby: "0_0"}, appMember{process: "c"},
	).snapshot()
	s.Groups[0].Classic.Members[2].Assignment = must((&groupmeta.ConsumerAssignment{Version: 3, UserData: future()}).Encode())
	g := build(t, s, groupmeta.BuildOptions{})
	wantText(t, "copy", shown(g, "0_0"), "b standby?")
	if g.Timing.Standbys != nil || len(g.Unassigned) != 0 {
		t.Errorf("timing %+v, unassigned %v", g.Timing, g.Unassigned)
	}
}

// Formats 5 and 6 may list no running task: what a member owns runs.
func TestOldFormats(t *testing.T) {
	for format, want := range map[int32]model.RestoreState{4: model.RestoreUnknown, 5: model.Running, 6: model.Running} {
		a := twelve(appMember{process: "a", active: all0 + " " + all1, owned: all0, sums: map[string]int64{"1_0": groupmeta.SumUnknown}})
		a.format = format
		g := build(t, a.snapshot(), groupmeta.BuildOptions{})
		if r := holding(t, g, "a", "0_0").Restore; r.State != want {
			t.Errorf("format %d: %+v", format, r)
		}
		if r := holding(t, g, "a", "1_0").Restore; r.State != model.RestoreUnknown || r.Position != nil || !r.Reported {
			t.Errorf("format %d, unknown sum: %+v", format, r)
		}
	}
}

func TestPositionsAndSizes(t *testing.T) {
	a := twelve(
		appMember{process: "a", active: all0 + " " + all1, sums: running(all0 + " " + all1), next: start().Add(time.Minute).UnixMilli()},
		appMember{process: "b", standby: "0_0 0_1 0_2 0_3 0_4", sums: map[string]int64{"0_0": 1014, "0_1": 5000, "0_2": groupmeta.SumOverflow, "0_3": 3975}},
	)
	s := a.snapshot()
	for p := range int32(6) {
		s.LogSizes = append(s.LogSizes, size("shop-bykey-changelog", p, 2, 9000), size("shop-bykey-changelog", p, 1, 4000))
	}
	setLog(s, "shop-bykey-changelog", 4, 4000, 4097)
	g := build(t, s, groupmeta.BuildOptions{})
	for task, want := range map[string]string{
		"0_0": "restoring 1014 3042 3000", // of the leader's 4,000 bytes three quarters
		"0_1": "caught-up 5000 0 0 position beyond the end",
		"0_2": "unknown 9223372036854775807 - - the sum overflowed",
		"0_3": "caught-up 3975 0 0",
		"0_4": "restoring - 97 4000", // the log begins at 4,000
	} {
		r := holding(t, g, "b", task).Restore
		got := strings.TrimSpace(strings.Join([]string{string(r.State), num(r.Position), num(r.RemainingRecords), num(r.RemainingBytes), r.Note}, " "))
		wantText(t, task, got, want)
	}
	if num(g.Totals.RemainingRecords) != "3139" {
		t.Errorf("total %s", num(g.Totals.RemainingRecords))
	}
}
