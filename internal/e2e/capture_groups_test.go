//go:build realkafka && capture

package e2e

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fill makes the topic and writes so many records that each of the 12 tasks of
// StreamsApp has more changelog records than acceptable.recovery.lag.
func (c *cluster) fill(t testing.TB, topic string, n int) {
	c.createTopic(t, topic, 6)
	c.produce(t, topic, n, n/2, n*2/5)
}

func TestCaptureClassic(t *testing.T) {
	c := env.cluster(t, v431)
	c.plainGroups(t)

	t.Run("learners", func(t *testing.T) {
		t.Parallel()
		c.fill(t, "orders", 300_000)
		a := c.startApp(t, appSpec{group: "shop", topic: "orders"})
		a.add(t, "pod-a", "app.process.id=7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001")
		a.waitActive(t, "pod-a", 12)
		c.waitCommitted(t, "shop", "orders", "shop-byvalue-repartition")
		c.capture(t, "classic-one-instance", "one instance of two threads runs all 12 tasks, caught up", "shop", false)
		a.add(t, "pod-b", "app.process.id=c1d2e3f4-0a1b-4c2d-8e3f-4a5b6c7d8e9f")
		c.waitMembers(t, "shop", false, 4)
		a.waitState(t, "pod-b", "RUNNING")
		c.capture(t, "classic-learners", "a second instance of two threads has joined: it has two warm-ups and no active task; next probing rebalance in ten minutes", "shop", false)
	})

	t.Run("halfway", func(t *testing.T) {
		t.Parallel()
		c.fill(t, "payments", 300_000)
		a := c.startApp(t, appSpec{group: "checkout", topic: "payments", settings: map[string]string{"probing.rebalance.interval.ms": "60000"}})
		a.add(t, "pod-a", "app.process.id=11111111-2222-4333-8444-000000000001")
		a.waitActive(t, "pod-a", 12)
		c.waitCommitted(t, "checkout", "payments", "checkout-byvalue-repartition")
		a.add(t, "pod-b", "app.process.id=11111111-2222-4333-8444-000000000002")
		eventually(t, 120*time.Second, "pod-b runs two tasks", func() bool {
			active, _ := a.count(t, "pod-b")
			return active == 2
		})
		c.waitMembers(t, "checkout", false, 4)
		time.Sleep(2 * time.Second) // the follow-up round of the hand-over
		c.waitMembers(t, "checkout", false, 4)
		c.produce(t, "payments", 500, 500, 500)
		c.waitCommitted(t, "checkout", "payments", "checkout-byvalue-repartition")
		c.capture(t, "classic-halfway", "after the first probing rebalance (interval 60 s): 10 and 2 active tasks, two new warm-ups on pod-b", "checkout", false)
	})

	t.Run("standbys", func(t *testing.T) {
		t.Parallel()
		c.fill(t, "clicks", 20_000)
		a := c.startApp(t, appSpec{group: "stats", topic: "clicks", settings: map[string]string{"num.standby.replicas": "1"}})
		a.add(t, "pod-a")
		a.add(t, "pod-b")
		eventually(t, 90*time.Second, "6 and 6 active tasks", func() bool {
			x, xs := a.count(t, "pod-a")
			y, ys := a.count(t, "pod-b")
			return x == 6 && y == 6 && xs == 6 && ys == 6
		})
		c.waitMembers(t, "stats", false, 4)
		c.waitCommitted(t, "stats", "clicks", "stats-byvalue-repartition")
		c.capture(t, "classic-standbys", "two instances of two threads, num.standby.replicas 1, balanced", "stats", false)
	})

	t.Run("mixed", func(t *testing.T) {
		t.Parallel()
		c.fill(t, "parcels", 20_000)
		old := c.startApp(t, appSpec{group: "delivery", topic: "parcels", version: v282})
		old.add(t, "pod-old")
		old.waitActive(t, "pod-old", 12)
		c.waitCommitted(t, "delivery", "parcels", "delivery-byvalue-repartition")
		c.capture(t, "classic-old", "one instance of Kafka Streams 2.8.2 alone", "delivery", false)
		young := c.startApp(t, appSpec{group: "delivery", topic: "parcels"})
		young.add(t, "pod-new")
		young.waitState(t, "pod-new", "RUNNING")
		c.waitMembers(t, "delivery", false, 4)
		time.Sleep(3 * time.Second) // version probing and hand-over rounds
		c.waitMembers(t, "delivery", false, 4)
		c.capture(t, "classic-mixed", "an instance of Kafka Streams 2.8.2 and one of 4.3.1 in one group", "delivery", false)
	})

	t.Run("rebalancing", func(t *testing.T) {
		t.Parallel()
		c.fill(t, "alerts", 20_000)
		a := c.startApp(t, appSpec{group: "fraud", topic: "alerts", settings: map[string]string{"session.timeout.ms": "30000"}})
		a.add(t, "pod-a")
		a.waitActive(t, "pod-a", 12)
		hung := c.startApp(t, appSpec{group: "fraud", topic: "alerts", settings: map[string]string{"session.timeout.ms": "30000"}})
		hung.add(t, "pod-b")
		c.waitMembers(t, "fraud", false, 4)
		hung.waitState(t, "pod-b", "RUNNING")
		time.Sleep(3 * time.Second)
		if err := syscall.Kill(-hung.proc.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		a.add(t, "pod-c")
		c.captureState(t, "classic-preparing", "a third instance joins while the second hangs (SIGSTOP): PreparingRebalance, the assignments of the round before", "fraud", false, "PreparingRebalance",
			func(resp kmsg.Response) bool { return len(resp.(*kmsg.DescribeGroupsResponse).Groups[0].Members) == 6 })
		if err := syscall.Kill(-hung.proc.cmd.Process.Pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		a.waitState(t, "pod-c", "RUNNING")
	})

	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		c.fill(t, "entries", 6_000)
		a := c.startApp(t, appSpec{group: "ledger", topic: "entries", settings: map[string]string{"internal.leave.group.on.close": "true"}})
		a.add(t, "pod-a")
		a.waitActive(t, "pod-a", 12)
		c.waitCommitted(t, "ledger", "entries", "ledger-byvalue-repartition")
		a.closeInstance(t, "pod-a")
		c.captureState(t, "classic-empty", "the only instance has left: Empty, with commits and changelogs", "ledger", false, "Empty", nil)
	})
}

// plainGroups makes two groups that are no stream groups: one of the classic
// protocol, one of KIP-848.
func (c *cluster) plainGroups(t *testing.T) {
	c.createTopic(t, "mails", 4)
	for group, opts := range map[string][]kgo.Opt{
		"mailer":     {kgo.Balancers(kgo.RangeBalancer())},
		"audit-sink": {kgo.Balancers(kgo.CooperativeStickyBalancer())},
	} {
		opts = append(opts, kgo.SeedBrokers(c.addrs...), kgo.ConsumerGroup(group), kgo.ConsumeTopics("mails"), kgo.ClientID(group+"-1"))
		cl, err := kgo.NewClient(opts...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		c.waitMembers(t, group, false, 1)
		c.capture(t, "plain-"+group, "a plain consumer: protocol type consumer, but no stream group", group, false)
	}
}

func TestCaptureStreams(t *testing.T) {
	for _, version := range []string{v431, v440} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := env.cluster(t, version)
			suffix := "-" + version
			t.Run("moving", func(t *testing.T) {
				t.Parallel()
				c.fill(t, "invoices", 300_000)
				a := c.startApp(t, appSpec{group: "billing", topic: "invoices", streams: true})
				a.add(t, "pod-a")
				a.waitActive(t, "pod-a", 12)
				c.waitCommitted(t, "billing", "invoices", "billing-byvalue-repartition")
				c.capture(t, "streams-stable-one"+suffix, "one instance of two threads, Stable", "billing", true)
				c.setGroupConfig(t, "billing", "streams.heartbeat.interval.ms", "5000")
				b := c.startApp(t, appSpec{group: "billing", topic: "invoices", streams: true, settings: map[string]string{"app.restore.sleep.ms": "100"}})
				b.add(t, "pod-b")
				c.captureState(t, "streams-reconciling"+suffix, "a second instance has joined: Reconciling, tasks between two owners", "billing", true, "Reconciling", moving)
				if version == v440 {
					c.captureState(t, "streams-restoring"+suffix, "the second instance restores, with reported task offsets", "billing", true, "Stable", restoring)
				}
				b.waitActive(t, "pod-b", 6)
				c.waitMembers(t, "billing", true, 4)
				time.Sleep(2 * time.Second) // two heartbeats, so that the positions are reported
				c.capture(t, "streams-stable"+suffix, "two instances of two threads, Stable", "billing", true)
				a.closeInstance(t, "pod-a")
				b.closeInstance(t, "pod-b")
				c.captureState(t, "streams-empty"+suffix, "both instances have left: Empty, with its topology", "billing", true, "Empty", nil)
			})
			t.Run("standbys", func(t *testing.T) {
				t.Parallel()
				c.fill(t, "visits", 30_000)
				c.setGroupConfig(t, "visitors", "streams.num.standby.replicas", "1")
				a := c.startApp(t, appSpec{group: "visitors", topic: "visits", streams: true})
				a.add(t, "pod-a")
				a.add(t, "pod-b")
				eventually(t, 90*time.Second, "6 and 6 active tasks with standbys", func() bool {
					x, xs := a.count(t, "pod-a")
					y, ys := a.count(t, "pod-b")
					return x == 6 && y == 6 && xs == 6 && ys == 6
				})
				c.waitMembers(t, "visitors", true, 4)
				c.waitCommitted(t, "visitors", "visits", "visitors-byvalue-repartition")
				c.capture(t, "streams-standbys"+suffix, "two instances, streams.num.standby.replicas 1, Stable", "visitors", true)
			})
			t.Run("not-ready", func(t *testing.T) {
				t.Parallel()
				a := c.startApp(t, appSpec{group: "returns", topic: "parcels-back", streams: true})
				a.add(t, "pod-a")
				c.captureState(t, "streams-not-ready"+suffix, "the source topic does not exist: NotReady", "returns", true, "NotReady",
					func(resp kmsg.Response) bool {
						return len(resp.(*kmsg.StreamsGroupDescribeResponse).Groups[0].Members) > 0
					})
			})
		})
	}
}

// moving holds when a task is current for nobody and a target for somebody.
func moving(resp kmsg.Response) bool {
	current, target := 0, 0
	for _, m := range resp.(*kmsg.StreamsGroupDescribeResponse).Groups[0].Members {
		for _, a := range m.Assignment.ActiveTasks {
			current += len(a.Partitions)
		}
		for _, a := range m.TargetAssignment.ActiveTasks {
			target += len(a.Partitions)
		}
	}
	return target == 12 && current < 12
}

// restoring holds when two members report the position of a task that they have
// got and do not run yet.
func restoring(resp kmsg.Response) bool {
	n := 0
	for _, m := range resp.(*kmsg.StreamsGroupDescribeResponse).Groups[0].Members {
		if slices.ContainsFunc(m.TaskOffsets, func(o kmsg.TaskOffset) bool {
			return o.Offset > 0 && slices.ContainsFunc(m.Assignment.ActiveTasks, func(a kmsg.TaskIDs) bool {
				return a.SubtopologyID == o.SubtopologyID && slices.Contains(a.Partitions, o.Partition)
			})
		}) {
			n++
		}
	}
	return n == 2
}

// setGroupConfig sets one config of a group.
func (c *cluster) setGroupConfig(t testing.TB, group, key, value string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	cfg.Name, cfg.Value = key, &value
	res.Configs = append(res.Configs, cfg)
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(t.Context(), c.client)
	if err != nil || resp.Resources[0].ErrorCode != 0 {
		t.Fatalf("set %s of group %s: %v, %+v", key, group, err, resp)
	}
}
