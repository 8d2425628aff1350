//go:build realkafka

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A group of the streams protocol: who has what, as the app and the broker's
// tool say; from 4.4 on also how far a task is that is being restored.
func TestStreamsGroup(t *testing.T) {
	t.Parallel()
	for _, version := range []string{v431, v440} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := env.cluster(t, version)
			c.createTopic(t, "invoices", 6)
			c.produce(t, "invoices", 200_000, 100_000, 80_000)
			a := c.startApp(t, appSpec{group: "billing", topic: "invoices", streams: true})
			a.add(t, "pod-a")
			a.waitActive(t, "pod-a", 12)
			c.waitCommitted(t, "billing", "invoices", "billing-byvalue-repartition")

			if version == v440 {
				a.add(t, "pod-b", "app.restore.sleep.ms=100")
				c.checkRestore(t)
			} else {
				a.add(t, "pod-b")
			}
			a.waitActive(t, "pod-b", 6)
			c.waitMembers(t, "billing", true, 4)

			d := c.describe(t, "billing")
			if d.GroupKind != "streams" || d.State != "Stable" || d.Totals.Tasks != 12 || d.Totals.Moving != 0 || d.Topology.Source != "broker" {
				t.Errorf("kind %s, state %s, totals %+v, topology from %s", d.GroupKind, d.State, d.Totals, d.Topology.Source)
			}
			if raw := c.describeStreams(t, "billing"); d.Epoch == nil || *d.Epoch != int64(raw.Epoch) {
				t.Errorf("epoch %v, want %d", d.Epoch, raw.Epoch)
			}
			sameLines(t, "roles", d.holdings(true), a.holdings(t, "pod-a", "pod-b"))
			sameLines(t, "members", d.memberIDs(), toolMembers(t, c.tool(t, streamsGroups, "--describe", "--group", "billing", "--members")))
			c.compareSnapshot(t, "billing")
			c.refusedOfStreams(t, "billing", "pod-b")

			a.closeInstance(t, "pod-a")
			a.closeInstance(t, "pod-b")
			eventually(t, 20*time.Second, "billing is Empty", func() bool { return c.describeStreams(t, "billing").State == "Empty" })
			c.produce(t, "invoices", 100, 100, 100)
			if d = c.describe(t, "billing"); d.State != "Empty" || d.Totals.Lag == nil || *d.Totals.Lag != 100 {
				t.Errorf("after the end: state %s, lag %v, want Empty and 100", d.State, d.Totals.Lag)
			}
		})
	}
}

// checkRestore waits until a task is being restored and its position grows.
func (c *cluster) checkRestore(t *testing.T) {
	t.Helper()
	first := map[string]int64{}
	eventually(t, 60*time.Second, "a task of pod-b is restoring and gets on", func() bool {
		d := c.describe(t, "billing")
		for _, in := range d.Instances {
			for _, m := range in.Members {
				if !strings.HasPrefix(m.ClientID, "pod-b-") {
					continue
				}
				for _, task := range m.Tasks {
					r := task.Restore
					if task.Role != "active" || r.State != "restoring" || r.Position == nil || r.End == nil {
						continue
					}
					if r.Basis != "broker task offset" || *r.Position > *r.End || r.Remaining == nil || *r.Remaining != *r.End-*r.Position {
						t.Fatalf("task %s: restore %+v, position %d, end %d", task.ID, r, *r.Position, *r.End)
					}
					before, seen := first[task.ID]
					if seen && *r.Position > before {
						return true
					}
					if !seen {
						first[task.ID] = *r.Position
					}
				}
			}
		}
		return false
	})
}

// memberIDs lists "CLIENT MEMBER-ID ACTIVE-TASKS".
func (d groupDoc) memberIDs() []string {
	var out []string
	for _, in := range d.Instances {
		for _, m := range in.Members {
			n := 0
			for _, task := range m.Tasks {
				if task.Role == "active" && !task.TargetOnly {
					n++
				}
			}
			out = append(out, fmt.Sprintf("%s %d", m.ID, n))
		}
	}
	slices.Sort(out)
	return out
}

// toolMembers reads the same from kafka-streams-groups --members, whose tasks
// look like "ACTIVE: 0:[0,1]; 1:[0]".
func toolMembers(t testing.TB, text string) []string {
	t.Helper()
	var out []string
	for _, row := range table(t, text) {
		n := 0
		for column, v := range row {
			if strings.HasPrefix(column, "ASSIGNMENT") || strings.HasPrefix(column, "CURRENT-ASSIGNMENT") {
				active, _, _ := strings.Cut(strings.TrimPrefix(v, "ACTIVE:"), "STANDBY:")
				for part := range strings.SplitSeq(active, "[") {
					if ids, _, ok := strings.Cut(part, "]"); ok && ids != "" {
						n += 1 + strings.Count(ids, ",")
					}
				}
			}
		}
		out = append(out, fmt.Sprintf("%s %d", row["MEMBER"], n))
	}
	slices.Sort(out)
	return out
}

// refusedOfStreams holds that what only other kinds of groups know is refused,
// with exit code 1, and leaves the group as it is.
func (c *cluster) refusedOfStreams(t *testing.T, group, instance string) {
	t.Helper()
	before := c.describeStreams(t, group)
	for _, x := range []struct {
		args []string
		says string
	}{
		{[]string{"remove-member", group, "--instance", instance, "--yes"}, "there is no request that throws a member of it out"},
		{[]string{"mode", "set", group, "incremental", "--yes"}, "it has no modes"},
		{[]string{"rebalance", group, "--yes"}, "is a streams group"},
		{[]string{"replace", group, "--with", "1", "--yes"}, "streams group"},
	} {
		if res := c.streamctl(t, x.args...); res.code != 1 || !strings.Contains(oneText(res.stderr), x.says) {
			t.Errorf("%v: exit %d, want 1 and %q\n%s%s", x.args, res.code, x.says, res.stdout, res.stderr)
		}
	}
	if after := c.describeStreams(t, group); after.Epoch != before.Epoch || len(after.Members) != len(before.Members) {
		t.Errorf("epoch %d with %d members, before %d with %d", after.Epoch, len(after.Members), before.Epoch, len(before.Members))
	}
}
