package chaos

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// fixed are the seeds of every run: two calm ones and two with all that can go
// wrong, each of which has found something once.
func fixed() []uint64 { return []uint64{12, 20, 22, 14} }

// seeds are those that the environment asks for: CHAOS_SEED one, CHAOS_SEEDS
// that many from CHAOS_FIRST (1) on.
func seeds(t *testing.T) []uint64 {
	t.Helper()
	number := func(name string) uint64 {
		n, err := strconv.ParseUint(os.Getenv(name), 10, 32)
		if err != nil && os.Getenv(name) != "" {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	if n := number("CHAOS_SEED"); n > 0 {
		return []uint64{n}
	}
	n := number("CHAOS_SEEDS")
	if n == 0 {
		return fixed()
	}
	var list []uint64
	for s := max(1, number("CHAOS_FIRST")); uint64(len(list)) < n; s++ {
		list = append(list, s)
	}
	return list
}

// Nothing is lost and nothing runs twice, whatever happens to the instances and
// to the cluster. make chaos runs more seeds.
func TestSeeds(t *testing.T) {
	t.Run("all", func(t *testing.T) {
		for _, seed := range seeds(t) {
			t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
				t.Parallel()
				oneSeed(t, seed)
			})
		}
	})
	if left := Leftover(t); left != "" {
		t.Errorf("goroutines are left:\n%s", left)
	}
}

func oneSeed(t *testing.T, seed uint64) {
	l := cluster(t, time.Second)
	began := time.Now()
	defer func() {
		if t.Failed() {
			fmt.Fprintf(os.Stdout, "chaos: seed %d failed; it alone: make chaos SEED=%d\n", seed, seed)
		}
	}()
	o := Run(t, seed, Cluster{Seeds: l.Cluster().ListenAddrs(), Fake: l.Cluster(), Session: 3 * time.Second, Settle: 60 * time.Second})
	fmt.Fprintf(os.Stdout, "chaos: seed %d: %v; took %v\n", seed, o, time.Since(began).Round(100*time.Millisecond))
}
