//go:build realkafka

package e2e

import (
	"slices"
	"strings"
	"testing"
)

// The rig itself: a broker, a classic app of two threads, one of the streams
// protocol, records through both, and Kafka's own tools see them.
func TestRig(t *testing.T) {
	for _, version := range []string{v431, v440} {
		t.Run(version, func(t *testing.T) {
			c := env.cluster(t, version)
			for _, streams := range []bool{false, true} {
				group, tool := "smoke", consumerGroups
				if streams {
					group, tool = "smoke-streams", streamsGroups
				}
				c.createTopic(t, group+"-in", 2)
				c.produce(t, group+"-in", 1000, 100, 100)
				a := c.startApp(t, appSpec{group: group, topic: group + "-in", streams: streams})
				a.add(t, "pod-a")
				a.waitActive(t, "pod-a", 4)
				c.waitMembers(t, group, streams, 2)
				c.waitCommitted(t, group, group+"-in")

				text := c.tool(t, tool, "--describe", "--group", group, "--members")
				rows := table(t, text)
				if len(rows) != 2 {
					t.Fatalf("want 2 members:\n%s", text)
				}
				if !strings.Contains(text, "pod-a-StreamThread-1") && !streams {
					t.Errorf("no client id in\n%s", text)
				}
				var all []string
				for _, th := range a.tasks(t, "pod-a") {
					all = append(all, th.Active...)
				}
				slices.Sort(all)
				if want := []string{"0_0", "0_1", "1_0", "1_1"}; !slices.Equal(all, want) {
					t.Errorf("tasks %v, want %v", all, want)
				}
			}
		})
	}
}
