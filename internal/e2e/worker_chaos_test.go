//go:build realkafka

package e2e

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/chaos"
)

// Instances come, go and crash while records are written to three brokers, and
// half way the broker that coordinates the group is killed.
func TestWorkersInTrouble(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "workers")
	const seed = 22
	began := time.Now()
	o := chaos.Run(t, seed, chaos.Cluster{
		Seeds: c.addrs, Session: 6 * time.Second, Settle: 90 * time.Second,
		Break: func() { c.nodes[c.coordinator(t, "chaos-22")-1].kill() },
	})
	t.Logf("seed %d: %v; took %v", seed, o, time.Since(began).Round(time.Second))
}
