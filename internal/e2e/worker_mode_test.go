//go:build realkafka

package e2e

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/chaos"
)

// switchWarm is how many records a job has processed before its modes are
// switched: some seconds of traffic.
const switchWarm = 1500

// Upgrading to incremental and back under traffic, on a broker that forms new
// groups without delay. Tests that measure a pause run alone: none of them is
// parallel, and those that are wait until all others are over.
func TestWorkerSwitch(t *testing.T) {
	c := env.cluster(t, v431)
	t.Log("pauses", chaos.SwitchAndBack(t, "switch", c.addrs, switchWarm, 2*time.Second))
}

// The same on three brokers that wait a second for members of a new group: a
// pause takes no more than two seconds and twice that.
func TestWorkerSwitchDelayed(t *testing.T) {
	c := env.cluster(t, "workers")
	t.Log("pauses", chaos.SwitchAndBack(t, "delayed", c.addrs, switchWarm, 2*time.Second+2*delayOfWorkers))
}
