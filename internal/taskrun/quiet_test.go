package taskrun

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A position that stands still below the end counts as caught up only after
// enough answered fetches of one leader, and enough time.
func TestQuietTail(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	for _, c := range []struct {
		name    string
		next    int64
		leader  int32
		fetches int64
		after   time.Duration
		want    bool
	}{
		{"enough of both", 5, 1, 10 + quietFetches, quietTime, true},
		{"too few fetches", 5, 1, 10 + quietFetches - 1, time.Hour, false},
		{"too soon", 5, 1, 1000, quietTime - 1, false},
		{"it moved", 6, 1, 1000, time.Hour, false},
		{"another leader", 5, 2, 1000, time.Hour, false},
		{"no leader", 5, -1, 1000, time.Hour, false},
	} {
		var q quiet
		q.look(5, 1, 10, at)
		q.look(c.next, c.leader, c.fetches, at.Add(c.after))
		if q.reached != c.want {
			t.Errorf("%s: %v", c.name, q.reached)
		}
	}
}

// Only fetches that were answered count.
func TestFetchCounter(t *testing.T) {
	t.Parallel()
	c := fetchCounter{n: map[int32]int64{}}
	c.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 1}, int16(kmsg.Fetch), kgo.BrokerE2E{})
	c.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 1}, int16(kmsg.Fetch), kgo.BrokerE2E{ReadErr: errors.New("cut")})
	c.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 1}, int16(kmsg.Produce), kgo.BrokerE2E{})
	if c.of(1) != 1 || c.of(2) != 0 {
		t.Fatal(c.n)
	}
}
