package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

func TestCheckStop(t *testing.T) {
	behind := func(g *model.Group, n int64) *model.Group {
		task(g, "pod-b/T1", "0_0").Restore = model.Restore{State: model.Restoring, RemainingRecords: &n}
		return g
	}
	stateful := func(g *model.Group, v bool) *model.Group {
		eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) { t.Stateful = &v })
		return g
	}
	alone := func() *model.Group { return stateful(group("pod-a/T1: 0_0", "pod-b/T1: 0_1"), true) }
	copied := func() *model.Group { return stateful(group("pod-a/T1: 0_0", "pod-b/T1: 0_1 0_0s"), true) }
	for _, c := range []struct {
		name  string
		g     *model.Group
		want  Answer
		words string
	}{
		{"no copy", alone(), No, "has no copy elsewhere"},
		{"no copy, perhaps no state", group("pod-a/T1: 0_0", "pod-b/T1: 0_1"), Unknown, "not known whether it has state"},
		{"stateless", stateful(alone(), false), Yes, ""},
		{"copy at the present end, old positions", behind(copied(), 0), Yes, ""},
		{"copy that lagged in the last round", behind(copied(), 81_004), Unknown, "as of the last round: up to 81,004 records behind"},
		{"copy that never reported", copied(), Unknown, "has not reported its position"},
		{"live copy that lags", func() *model.Group {
			g := behind(copied(), 7)
			g.Kind, g.Positions.Basis = model.Worker, "status"
			return g
		}(), No, "still restores 7 records"},
		{"rebalance", in(copied(), model.StatePreparingRebalance), Unknown, ""},
		{"nothing to stop", group("pod-a/T1: 0_0s", "pod-b/T1: 0_0"), Yes, ""},
		{"streams, nothing to stop", func() *model.Group { g := group("pod-a/T1:", "pod-b/T1: 0_0"); g.Kind = model.Streams; return g }(), Yes, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := CheckStop(c.g, &c.g.Instances[0])
			if got.Answer != c.want {
				t.Fatalf("answer %s, want %s: %+v", got.Answer, c.want, got)
			}
			if c.words != "" && (len(got.Blockers) != 1 || !strings.Contains(got.Blockers[0].Why, c.words)) {
				t.Errorf("blockers %+v, want %q", got.Blockers, c.words)
			}
			if h := got.Headline("pod-a"); !strings.HasPrefix(h, strings.Replace(string(c.want), "unknown", "cannot tell", 1)+":") {
				t.Errorf("headline %q", h)
			}
		})
	}
}

// That a copy was caught up bears no yes once its worker has gone silent, or all
// have: what was written since may be missing. Copies that speak still do.
func TestCheckStopTrustsNoOldStatus(t *testing.T) {
	silent := model.Finding{Code: model.FindingSilent, Object: "instance pod-b"}
	for _, c := range []struct {
		name     string
		age      time.Duration
		findings []model.Finding
		copies   []string
		want     Answer
		words    string
	}{
		{"all speak", 5 * time.Second, nil, []string{"pod-b/T1: 0_0s"}, Yes, ""},
		{"all are silent", 90 * time.Second, nil, []string{"pod-b/T1: 0_0s"}, Unknown, "copy on pod-b was caught up, but no worker has written a status for 1m30s, by the clock here"},
		{"the clock here is late", -time.Hour, nil, []string{"pod-b/T1: 0_0s"}, Yes, ""},
		{"one is silent", 5 * time.Second, []model.Finding{silent}, []string{"pod-b/T1: 0_0s"}, Unknown, "copy on pod-b was caught up, but it has written no status since, as the others did"},
		{"another copy speaks", 5 * time.Second, []model.Finding{silent}, []string{"pod-b/T1: 0_0s", "pod-c/T1: 0_0s"}, Yes, ""},
		{"another is silent", 5 * time.Second, []model.Finding{silent}, []string{"pod-b/T1:", "pod-c/T1: 0_0s"}, Yes, ""},
	} {
		g := group(append([]string{"pod-a/T1: 0_0"}, c.copies...)...)
		g.Kind, g.Findings = model.Worker, c.findings
		g.Positions = model.Positions{Basis: model.PositionsStatus, AsOf: &start}
		g.TakenAt = ptr(start.Add(c.age))
		eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) {
			t.Stateful = ptr(true)
			if t.Role != model.Active {
				t.Restore.State = model.CaughtUp
			}
		})
		got := CheckStop(g, &g.Instances[0])
		if got.Answer != c.want || c.words != "" && (len(got.Blockers) != 1 || got.Blockers[0].Why != c.words) {
			t.Errorf("%s: %s, want %s: %+v", c.name, got.Answer, c.want, got.Blockers)
		}
	}
}

// The headline of a no counts what would wait for certain; the age of the last
// round is said where it is known.
func TestCheckStopHeadline(t *testing.T) {
	g := group("pod-a/T1: 0_0 0_1", "pod-b/T1: 0_1s")
	eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) { t.Stateful = ptr(true) })
	task(g, "pod-b/T1", "0_1").Restore = model.Restore{State: model.Restoring, RemainingRecords: ptr(int64(9))}
	g.TakenAt, g.Positions.AsOf, g.Positions.Estimated = ptr(start.Add(12*time.Minute)), &start, true
	c := CheckStop(g, &g.Instances[0])
	if h := c.Headline("pod-a"); h != "no: 1 task on pod-a would wait for state (0_0)" || len(c.Blockers) != 2 {
		t.Errorf("headline %q, %+v", h, c.Blockers)
	}
	if why := c.Blockers[1].Why; why != "copy on pod-b as of the last round, ~12m0s ago: up to 9 records behind" {
		t.Errorf("blocker %q", why)
	}
}

func TestCheckStopDoesNotTrustUnreadableMembers(t *testing.T) {
	g := group("pod-a/T1:", "pod-b/T1: 0_0")
	g.Instances[0].Members[0].Metadata.Status = model.MetadataNewer
	if c := CheckStop(g, &g.Instances[0]); c.Answer != Unknown {
		t.Errorf("answer %s for a member that is not understood", c.Answer)
	}
}
