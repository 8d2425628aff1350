//go:build realkafka

package e2e

import (
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/chaos"
	"github.com/streamctl/streamctl/worker"
)

// The walk-throughs of docs/protocol/stream-protocol.md with real workers on a
// real broker: the sequence of assignments is the protocol's.
func TestWorkerStories(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	for _, s := range chaos.Stories() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Tell(t, c.addrs)
		})
	}
}

// Workers in mode upgrading beside plain consumers of the group, one of Go and
// one of Java: while those are there, each partition is read by one of all; when
// the last has gone, the learner protocol wins.
func TestWorkerRollingUpgrade(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	o := chaos.Options{Seeds: c.addrs, Group: "rolling", Tasks: 6, Workers: 1, Settings: worker.DefaultSettings(), Session: 6 * time.Second}
	o.Settings.Mode = worker.Upgrading
	j := chaos.New(t, o)
	const topic = "rolling-orders"
	plain, err := kgo.NewClient(
		kgo.SeedBrokers(c.addrs...), kgo.ConsumerGroup(o.Group), kgo.ConsumeTopics(topic), kgo.Balancers(kgo.RangeBalancer()),
		kgo.HeartbeatInterval(200*time.Millisecond), kgo.SessionTimeout(6*time.Second), kgo.DisableAutoCommit(),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	java, err := env.start("plain-consumer", env.java(v431, 128, "org.apache.kafka.tools.consumer.ConsoleConsumer",
		"--bootstrap-server", c.addrs[0], "--topic", topic, "--group", o.Group, "--command-property", "session.timeout.ms=6000",
		"--command-property", "heartbeat.interval.ms=200", "--command-property", "enable.auto.commit=false"))
	if err != nil {
		t.Fatal(err)
	}
	members := func(n int) {
		t.Helper()
		eventually(t, 60*time.Second, "a stable group of that many members", func() bool {
			d, err := c.admin.DescribeGroups(t.Context(), o.Group)
			if java.ended() {
				t.Fatal(java.failure("ended"))
			}
			return err == nil && d[o.Group].State == "Stable" && len(d[o.Group].Members) == n
		})
	}
	members(2)
	j.Start("a")
	members(3)
	eventually(t, 30*time.Second, "a third of the partitions is a's", func() bool { return j.Processing() == 2 })
	j.Start("b")
	members(4)
	eventually(t, 30*time.Second, "a and b have half of the six partitions", func() bool { return j.Processing() >= 2 && j.Processing() <= 4 })
	if j.Count(worker.RoundLed) > 0 || j.Count(worker.OlderWon) == 0 {
		t.Errorf("%d rounds led beside plain consumers, %d won by an older protocol", j.Count(worker.RoundLed), j.Count(worker.OlderWon))
	}
	plain.Close()
	if err := java.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-java.done
	eventually(t, 30*time.Second, "the learner protocol wins", func() bool { return j.Count(worker.RoundLed) > 0 && j.Processing() == 6 })
	j.Produce(50)
	j.Settled(60 * time.Second)
	j.Finish(true) // the plain consumers took some of the records
}
