package taskrun

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The tail of a compacted changelog can consist of batches without records: no
// position that counts records reaches its end. When many fetches from its
// leader were answered over some time without a record for a copy, its leader
// is asked whether that is so: records may just as well wait in the client.
const (
	quietFetches = 6
	quietTime    = 6 * fetchWait
)

// quiet watches one copy for such a tail.
type quiet struct {
	next    int64 // where it stood
	leader  int32
	fetches int64 // answered by the leader when it came to stand there
	since   time.Time
	suspect bool  // it is worth asking
	upTo    int64 // from next on there is no record below this offset; 0: not known
}

// look is called at each look at the ends while the copy is short of its end.
// What it found holds until the position moves.
func (q *quiet) look(next int64, leader int32, fetches int64, now time.Time) {
	if q.since.IsZero() || q.next != next || q.leader != leader || leader < 0 {
		*q = quiet{next: next, leader: leader, fetches: fetches, since: now}
		return
	}
	if fetches-q.fetches >= quietFetches && now.Sub(q.since) >= quietTime {
		q.suspect = true
	}
}

// fetchCounter counts the fetches that each broker answered.
type fetchCounter struct {
	mu sync.Mutex
	n  map[int32]int64
}

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (c *fetchCounter) OnBrokerE2E(meta kgo.BrokerMetadata, key int16, e kgo.BrokerE2E) {
	if key != int16(kmsg.Fetch) || e.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[meta.NodeID]++
}

func (c *fetchCounter) of(broker int32) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[broker]
}
