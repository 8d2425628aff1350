//go:build realkafka

package e2e

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/chaos"
)

// Three brokers that wait a second for members of a new group. A mode switch
// there and back takes no more than two seconds and twice that; then instances
// come, go and crash while records are written, and half way the broker that
// coordinates the group is killed.
func TestWorkersInTrouble(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "workers")
	t.Log("pauses", chaos.SwitchAndBack(t, "delayed", c.addrs, 2*time.Second+2*delayOfWorkers))
	const seed = 22
	began := time.Now()
	o := chaos.Run(t, seed, chaos.Cluster{
		Seeds: c.addrs, Session: 6 * time.Second, Settle: 90 * time.Second,
		Break: func() { c.nodes[c.coordinator(t, "chaos-22")-1].kill() },
	})
	t.Logf("seed %d: %v; took %v", seed, o, time.Since(began).Round(time.Second))
}
