//go:build realkafka

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every task of a balanced classic group with standbys has the role that the
// app itself names; partitions are those that Kafka's own tool lists; a snapshot
// of the group gives the same document.
func TestClassicRoles(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	c.createTopic(t, "clicks", 6)
	c.produce(t, "clicks", 12_000, 3000, 2000)
	a := c.startApp(t, appSpec{group: "stats", topic: "clicks", settings: map[string]string{"num.standby.replicas": "1", "internal.leave.group.on.close": "true"}})
	a.add(t, "pod-a")
	a.add(t, "pod-b")
	eventually(t, 90*time.Second, "6 and 6 active tasks, as many standbys", func() bool {
		x, xs := a.count(t, "pod-a")
		y, ys := a.count(t, "pod-b")
		return x == 6 && y == 6 && xs == 6 && ys == 6
	})
	c.waitMembers(t, "stats", false, 4)
	c.waitCommitted(t, "stats", "clicks", "stats-byvalue-repartition")

	d := c.describe(t, "stats", "--standbys", "1")
	if d.GroupKind != "classic" || d.State != "Stable" || len(d.Instances) != 2 || d.Totals.Tasks != 12 {
		t.Errorf("kind %s, state %s, %d instances, %d tasks", d.GroupKind, d.State, len(d.Instances), d.Totals.Tasks)
	}
	sameLines(t, "roles", d.holdings(true), a.holdings(t, "pod-a", "pod-b"))
	if d.Totals.Standby != 12 || d.Totals.Learner != 0 {
		t.Errorf("%d standbys and %d learners, want 12 and 0", d.Totals.Standby, d.Totals.Learner)
	}
	sameLines(t, "active partitions", d.activePartitions(), toolPartitions(t, c.tool(t, consumerGroups, "--describe", "--group", "stats", "--members", "--verbose")))
	c.compareLag(t, d, "stats")
	c.compareSnapshot(t, "stats", "--standbys", "1")

	// Nobody reads on, and the lag is no longer 0.
	a.closeInstance(t, "pod-a")
	a.closeInstance(t, "pod-b")
	c.produce(t, "clicks", 777, 100, 100)
	eventually(t, 30*time.Second, "stats is Empty", func() bool { return c.describeClassic(t, "stats").State == "Empty" })
	d = c.describe(t, "stats")
	if d.Totals.Lag == nil || *d.Totals.Lag != 777 {
		t.Errorf("lag of the Empty group is %v, want 777", d.Totals.Lag)
	}
	c.compareLag(t, d, "stats")
}

// activePartitions lists who owns which partition: "pod-a-StreamThread-1 clicks-0".
func (d groupDoc) activePartitions() []string {
	var out []string
	for _, in := range d.Instances {
		for _, m := range in.Members {
			for _, task := range m.Tasks {
				for _, p := range task.Partitions {
					if task.Role == "active" {
						out = append(out, fmt.Sprintf("%s %s-%d", strings.TrimSuffix(m.ClientID, "-consumer"), p.Topic, p.Partition))
					}
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// toolPartitions reads the same from kafka-consumer-groups --members --verbose,
// whose assignments look like "clicks:0,2;stats-byvalue-repartition:1".
func toolPartitions(t testing.TB, text string) []string {
	t.Helper()
	var out []string
	for _, row := range table(t, text) {
		for topic := range strings.SplitSeq(row["CURRENT-ASSIGNMENT"], ";") {
			name, partitions, ok := strings.Cut(topic, ":")
			if !ok {
				continue
			}
			for p := range strings.SplitSeq(partitions, ",") {
				out = append(out, fmt.Sprintf("%s %s-%s", strings.TrimSuffix(row["CLIENT-ID"], "-consumer"), name, p))
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no partitions in\n%s", text)
	}
	slices.Sort(out)
	return out
}

// compareLag compares offsets and lag with kafka-consumer-groups, producers at
// rest.
func (c *cluster) compareLag(t testing.TB, d groupDoc, group string) {
	t.Helper()
	var got, want []string
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return strconv.FormatInt(*n, 10)
	}
	for _, o := range d.Offsets {
		got = append(got, fmt.Sprintf("%s-%d committed %s end %s lag %s", o.Topic, o.Partition, number(o.Committed), number(o.LogEnd), number(o.Lag)))
	}
	for _, row := range table(t, c.tool(t, consumerGroups, "--describe", "--group", group)) {
		want = append(want, fmt.Sprintf("%s-%s committed %s end %s lag %s", row["TOPIC"], row["PARTITION"], row["CURRENT-OFFSET"], row["LOG-END-OFFSET"], row["LAG"]))
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(want) < 12 {
		t.Fatalf("the tool shows only %d partitions", len(want))
	}
	sameLines(t, "lag", got, want)
}

// compareSnapshot holds that a snapshot of the group, read with --from, gives
// the same bytes as the group itself, but for the time. What the group does
// meanwhile (Streams deletes what it has read of a repartition topic) shows in
// two looks that differ; then all is looked at again.
func (c *cluster) compareSnapshot(t testing.TB, group string, args ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "group.json")
	args = append([]string{"describe", "group", group, "-o", "json"}, args...)
	// What depends on when one looks: the time itself, and the way to the next rebalance.
	times := regexp.MustCompile(`"(taken_at|in_ms)": ?("[^"]*"|\d+)`)
	look := func(args ...string) string {
		r := runCmd(t, streamctlCmd(t.Context(), t, args...))
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.stderr)
		}
		return times.ReplaceAllString(r.stdout, "$1")
	}
	live, filed := slices.Concat(args, []string{"--bootstrap-server", c.addrs[0]}), slices.Concat(args, []string{"--from", file})
	var before, from string
	eventually(t, 60*time.Second, "two looks at "+group+" that are the same", func() bool {
		before = look(live...)
		shot := c.streamctl(t, "snapshot", group)
		if shot.code != 0 {
			t.Fatalf("snapshot: exit %d: %s", shot.code, shot.stderr)
		}
		if err := os.WriteFile(file, []byte(shot.stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		from = look(filed...)
		return look(live...) == before
	})
	if before != from {
		t.Errorf("read live and from its snapshot, the documents differ:\n%s\n%s", before, from)
	}
}

// A second instance joins a group with a lot of state: it gets warm-ups only.
// Kafka's own tool shows it with 0 partitions; we show what it learns, and when
// the next rebalance comes.
func TestClassicScaleOut(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	c.createTopic(t, "orders", 6)
	c.produce(t, "orders", 300_000, 150_000, 120_000)
	a := c.startApp(t, appSpec{group: "shop", topic: "orders"})
	a.add(t, "pod-a")
	a.waitActive(t, "pod-a", 12)
	c.waitCommitted(t, "shop", "orders", "shop-byvalue-repartition")
	if d := c.describe(t, "shop"); !d.Verdict.OK || d.Next != nil {
		t.Errorf("before: verdict %+v, next rebalance %+v, want OK and none", d.Verdict, d.Next)
	}

	a.add(t, "pod-b")
	a.waitState(t, "pod-b", "RUNNING")
	c.waitMembers(t, "shop", false, 4)
	eventually(t, 60*time.Second, "pod-b has two warm-ups", func() bool {
		_, warm := a.count(t, "pod-b")
		return warm == 2
	})
	for _, row := range table(t, c.tool(t, consumerGroups, "--describe", "--group", "shop", "--members")) {
		if strings.HasPrefix(row["CLIENT-ID"], "pod-b-") && row["#PARTITIONS"] != "0" {
			t.Errorf("the broker's own tool shows %s with %s partitions", row["CLIENT-ID"], row["#PARTITIONS"])
		}
	}

	d := c.describe(t, "shop")
	sameLines(t, "roles", d.holdings(true), a.holdings(t, "pod-a", "pod-b"))
	b := d.instance(t, "pod-b")
	if b.Active != 0 || b.Learner != 2 || b.Standby != 0 || d.Totals.Learner != 2 {
		t.Errorf("pod-b: %d active, %d standby, %d learners, want 0, 0, 2", b.Active, b.Standby, b.Learner)
	}
	for _, m := range b.Members {
		for _, task := range m.Tasks {
			if task.Role != "learner" || !task.Inferred {
				t.Errorf("task %s of pod-b: role %s, inferred %v", task.ID, task.Role, task.Inferred)
			}
		}
	}
	if codes := d.codes(); !slices.Contains(codes, "learning") || d.Verdict.OK {
		t.Errorf("findings %v, ok %v", codes, d.Verdict.OK)
	}
	switch n := d.Next; {
	case n == nil:
		t.Error("no next rebalance, though a probing one is planned")
	case n.InMs < 400_000 || n.InMs > 600_000:
		t.Errorf("next rebalance in %d ms, want a little less than ten minutes", n.InMs)
	case time.Until(time.UnixMilli(n.RawMs)) > 10*time.Minute || n.At == nil || !memberOf(d, "pod-a", n.ByMember):
		t.Errorf("next rebalance %+v", *n)
	}

	text := c.streamctl(t, "describe", "group", "shop").stdout
	for _, want := range []string{"learning", "pod-b", "Next rebalance", "learner~"} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen lacks %q:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("line of %d columns: %s", n, line)
		}
	}
}

func memberOf(d groupDoc, client, member string) bool {
	for _, in := range d.Instances {
		for _, m := range in.Members {
			if m.ID == member {
				return strings.HasPrefix(m.ClientID, client+"-")
			}
		}
	}
	return false
}

// A probing rebalance that was announced comes about when it was announced.
// Its interval is a minute, the shortest that Kafka Streams allows.
func TestNextRebalanceComes(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	c.createTopic(t, "payments", 6)
	c.produce(t, "payments", 300_000, 150_000, 120_000)
	a := c.startApp(t, appSpec{group: "checkout", topic: "payments", settings: map[string]string{"probing.rebalance.interval.ms": "60000"}})
	a.add(t, "pod-a")
	a.waitActive(t, "pod-a", 12)
	c.waitCommitted(t, "checkout", "payments", "checkout-byvalue-repartition")
	a.add(t, "pod-b")
	a.waitState(t, "pod-b", "RUNNING")
	c.waitMembers(t, "checkout", false, 4)
	d := c.describe(t, "checkout")
	if d.Next == nil {
		t.Fatal("no next rebalance")
	}
	due := time.UnixMilli(d.Next.RawMs)
	eventually(t, time.Until(due)+20*time.Second, "pod-b runs two tasks", func() bool {
		active, _ := a.count(t, "pod-b")
		return active == 2
	})
	if late := time.Since(due); late < -time.Second {
		t.Errorf("the rebalance came %v before it was due", -late)
	}
	c.waitMembers(t, "checkout", false, 4)
	d = c.describe(t, "checkout")
	if b := d.instance(t, "pod-b"); b.Active != 2 {
		t.Errorf("pod-b has %d active tasks, want 2", b.Active)
	}
}

// An app of an old release and one of a new one in the same group.
func TestMixedVersions(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	c.createTopic(t, "parcels", 6)
	c.produce(t, "parcels", 12_000, 3000, 2000)
	old := c.startApp(t, appSpec{group: "delivery", topic: "parcels", version: v282})
	old.add(t, "pod-old")
	old.waitActive(t, "pod-old", 12)
	young := c.startApp(t, appSpec{group: "delivery", topic: "parcels"})
	young.add(t, "pod-new")
	eventually(t, 90*time.Second, "6 and 6 active tasks", func() bool {
		x, _ := old.count(t, "pod-old")
		y, _ := young.count(t, "pod-new")
		return x == 6 && y == 6
	})
	c.waitMembers(t, "delivery", false, 4)

	d := c.describe(t, "delivery")
	want := append(old.holdings(t, "pod-old"), young.holdings(t, "pod-new")...)
	slices.Sort(want)
	sameLines(t, "roles", d.holdings(true), want)
	for client, supported := range map[string]int{"pod-old": 9, "pod-new": 11} {
		for _, m := range d.instance(t, client).Members {
			if m.Metadata == nil || m.Metadata.Status != "ok" || m.Metadata.Used != 9 || m.Metadata.Supported != supported {
				t.Errorf("%s: metadata %+v, want version 9 used, %d supported", m.ClientID, m.Metadata, supported)
			}
		}
	}
	if codes := d.codes(); !slices.Contains(codes, "mixed-versions") {
		t.Errorf("findings %v lack mixed-versions", codes)
	}
}
