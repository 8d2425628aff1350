//go:build realkafka && bench

package e2e

import (
	"strings"
	"testing"
)

// Whole processes against the same real broker and the same group of 12 tasks,
// our describe by turns with the least that it has to ask, and Kafka's own tool
// with the JVM settings of its start script.
func TestSpeedBroker(t *testing.T) {
	plainHome(t)
	c := env.cluster(t, v431)
	c.createTopic(t, "orders", 6)
	c.produce(t, "orders", 12_000, 3000, 2000)
	a := c.startApp(t, appSpec{group: "shop", topic: "orders"})
	a.add(t, "pod-a")
	a.waitActive(t, "pod-a", 12)
	c.waitMembers(t, "shop", false, 2)
	c.waitCommitted(t, "shop", "orders", "shop-byvalue-repartition")

	addr := c.addrs[0]
	ours := &contender{name: "streamctl describe group", runs: 101, argv: []string{buildAt(t, "."), "describe", "group", "shop", "--bootstrap-server", addr}}
	bare := &contender{name: "bare DescribeGroups, OffsetFetch, ListOffsets", runs: 101, argv: []string{buildAt(t, "./internal/e2e/testdata/bare"), addr, "shop"}}
	tool := &contender{name: "kafka-consumer-groups --members --verbose", runs: 9, argv: []string{
		"java", "-Xmx256M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
		"-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true", "-cp", env.classpath(v431),
		consumerGroups, "--bootstrap-server", addr, "--describe", "--group", "shop", "--members", "--verbose",
	}}
	race(t, ours, bare)
	race(t, tool)
	if !strings.Contains(ours.out, "12") || !strings.Contains(tool.out, "pod-a") {
		t.Fatalf("not what was to be measured:\n%s\n%s", ours.out, tool.out)
	}
	faster := float64(tool.median()) / float64(ours.median())
	slower := float64(ours.median()) / float64(bare.median())
	bar(t, "faster than kafka-consumer-groups", faster, "x", faster >= 40, "at least 40x")
	bar(t, "against the bare requests", slower, "x", slower <= 1.5, "at most 1.5x")
	t.Logf("against the bare requests in CPU time: %.3gx", float64(middle(ours.cpu))/float64(middle(bare.cpu)))
	bar(t, "less memory than kafka-consumer-groups", float64(tool.memory())/float64(ours.memory()), "x", true, "none")
}
