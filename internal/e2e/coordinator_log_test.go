//go:build realkafka

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// coordinatorLog follows what coordinators write down about classic groups: one
// record a round, with what everyone reported and was given.
type coordinatorLog struct {
	mu     sync.Mutex
	rounds map[string][]coordinatorRound // by group
	failed error
}

// coordinatorRound is one round of a group.
type coordinatorRound struct {
	at      time.Time // when it was written
	value   kmsg.GroupMetadataValue
	members []roundMember // by process and thread
}

// roundMember is one member of a round, lists ascending.
type roundMember struct {
	process         string
	thread          int
	active, standby []model.TaskID
	next            string // none, now or probing
	reported        string // for messages
}

// follow reads the log from now on, until the test ends.
func (c *cluster) follow(t testing.TB) *coordinatorLog {
	t.Helper()
	const topic = "__consumer_offsets"
	ends, err := c.admin.ListEndOffsets(t.Context(), topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		t.Fatalf("ends of %s: %v", topic, err)
	}
	from := map[int32]kgo.Offset{}
	for p, end := range ends[topic] {
		from[p] = kgo.NewOffset().At(end.Offset)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.addrs...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchMaxWait(200*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	l := &coordinatorLog{rounds: map[string][]coordinatorRound{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			fetches := client.PollFetches(ctx)
			fetches.EachRecord(l.take)
			if err := fetches.Err0(); err != nil && ctx.Err() == nil {
				l.fail(err)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		client.Close()
	})
	return l
}

func (l *coordinatorLog) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
}

// take keeps a record if it is a round of a Streams group. A generation that is
// written again replaces what it was.
func (l *coordinatorLog) take(r *kgo.Record) {
	const groupMetadata = 2 // version of the key
	if len(r.Key) < 2 || r.Key[0] != 0 || r.Key[1] != groupMetadata || r.Value == nil {
		return
	}
	var key kmsg.GroupMetadataKey
	round := coordinatorRound{at: r.Timestamp}
	if err := key.ReadFrom(r.Key); err != nil {
		l.fail(err)
		return
	}
	if err := round.value.ReadFrom(r.Value); err != nil {
		l.fail(fmt.Errorf("group %s: %w", key.Group, err))
		return
	}
	if round.value.ProtocolType != "consumer" || round.value.Protocol == nil || *round.value.Protocol != "stream" || len(round.value.Members) == 0 {
		return
	}
	for i := range round.value.Members {
		m, err := readMember(&round.value.Members[i])
		if err != nil {
			l.fail(fmt.Errorf("group %s: %w", key.Group, err))
			return
		}
		round.members = append(round.members, m)
	}
	slices.SortFunc(round.members, func(a, b roundMember) int {
		return cmp.Or(strings.Compare(a.process, b.process), cmp.Compare(a.thread, b.thread))
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.rounds[key.Group]
	if n := len(list); n > 0 && list[n-1].value.Generation == round.value.Generation {
		list = list[:n-1]
	}
	l.rounds[key.Group] = append(list, round)
}

func readMember(from *kmsg.GroupMetadataValueMember) (roundMember, error) {
	m := roundMember{next: "none"}
	_, m.thread = model.SplitThread(from.ClientID)
	frame, err := groupmeta.DecodeConsumerSubscription(from.Subscription)
	if err != nil {
		return m, err
	}
	said, err := groupmeta.DecodeSubscriptionInfo(frame.UserData)
	if err != nil {
		return m, err
	}
	m.process = said.ProcessID.String()
	m.reported = fmt.Sprint(said.TaskOffsetSums)
	given, err := groupmeta.DecodeConsumerAssignment(from.Assignment)
	if err != nil {
		return m, err
	}
	info, err := groupmeta.DecodeAssignmentInfo(given.UserData)
	if err != nil {
		return m, err
	}
	for _, task := range info.ActiveTasks {
		m.active = append(m.active, task.ID())
	}
	for _, task := range info.StandbyTasks {
		m.standby = append(m.standby, task.ID())
	}
	m.active, m.standby = tidyTasks(m.active), tidyTasks(m.standby)
	switch {
	case info.NextRebalanceMs == 0:
		m.next = "now"
	case info.NextRebalanceMs < groupmeta.NoRebalance:
		m.next = "probing"
	}
	return m, nil
}

// tidyTasks sorts tasks and drops those that are there twice: one with several
// source partitions is.
func tidyTasks(list []model.TaskID) []model.TaskID {
	slices.SortFunc(list, model.TaskID.Compare)
	return slices.Compact(list)
}

// of gives the rounds of a group so far.
func (l *coordinatorLog) of(t testing.TB, group string) []coordinatorRound {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		t.Fatalf("coordinator's log: %v", l.failed)
	}
	return slices.Clone(l.rounds[group])
}

// settled reports that no round follows by itself.
func (r *coordinatorRound) settled() bool {
	return !slices.ContainsFunc(r.members, func(m roundMember) bool { return m.next != "none" })
}
