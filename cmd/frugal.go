package cmd

import (
	"math"
	"runtime"
	"runtime/debug"
)

// firstCollection is the memory in bytes at which garbage is first collected.
const firstCollection = 64 << 20

// frugal sets up the runtime for a command that asks a cluster and ends. Most of
// its time it waits for brokers, and hands what they answer from one goroutine
// to the next: that is cheaper on one thread than between several.
func frugal() {
	runtime.GOMAXPROCS(1)
	collectLate()
}

// collectLate sets up the runtime for a command that reads and ends. What it
// allocates is mostly kept until then, so no garbage is collected before
// firstCollection; from then on as usual.
func collectLate() {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(firstCollection)
	if percent < 0 || limit != math.MaxInt64 { // the environment says otherwise
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
		return
	}
	runtime.AddCleanup(new(*int), func(int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}, 0)
}
