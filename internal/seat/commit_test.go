package seat_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/seat"
)

// holdCommits holds every commit up until release is called, and counts them.
func holdCommits(c *kfake.Cluster) (commits *atomic.Int32, release func()) {
	commits = &atomic.Int32{}
	let := make(chan struct{})
	c.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		commits.Add(1)
		c.SleepControl(func() { <-let })
		return nil, nil, false
	})
	return commits, sync.OnceFunc(func() { close(let) })
}

// Tasks that stop at the same time commit together: a coordinator takes one
// commit of a connection after the other. Each hears of its own partitions.
func TestCommitsGoTogether(t *testing.T) {
	t.Parallel()
	c, adm := cluster(t)
	a := join(t, c, "a")
	generation := together(t, a)
	id := a.session().MemberID
	commits, release := holdCommits(c)
	t.Cleanup(release)
	results := make([]error, 5)
	var all sync.WaitGroup
	commit := func(n int, tp model.TopicPartition) {
		all.Go(func() {
			results[n] = a.Commit(context.Background(), generation, id, map[model.TopicPartition]int64{tp: int64(n + 1)})
		})
	}
	commit(0, model.TopicPartition{Topic: topic, Partition: 0})
	until(t, "the first is under way", func() bool { return commits.Load() == 1 })
	for p := range int32(3) {
		commit(int(p+1), model.TopicPartition{Topic: topic, Partition: p + 1})
	}
	commit(4, model.TopicPartition{Topic: topic, Partition: 77})
	until(t, "the others wait", func() bool { return a.Gathered() == 4 })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.Commit(ctx, generation, id, map[model.TopicPartition]int64{{Topic: topic, Partition: 1}: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("one that waits no more: %v", err)
	}
	release()
	all.Wait()
	for n, err := range results[:4] {
		if err != nil {
			t.Errorf("commit %d: %v", n, err)
		}
	}
	if !errors.Is(results[4], kerr.UnknownTopicOrPartition) {
		t.Errorf("the commit of a partition that does not exist: %v", results[4])
	}
	if n := commits.Load(); n != 2 {
		t.Errorf("%d requests for commits of five tasks, want the first and one more", n)
	}
	got, err := adm.FetchOffsets(context.Background(), group)
	if err != nil {
		t.Fatal(err)
	}
	for p := range int32(4) {
		if at := got.Offsets().KOffsets()[topic][p].EpochOffset().Offset; at != int64(p+1) {
			t.Errorf("partition %d is committed at %d, want %d", p, at, p+1)
		}
	}
}

// A batch for which nobody waits is not sent any more.
func TestCommitThatNobodyWaitsForIsGone(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a")
	generation := together(t, a)
	id := a.session().MemberID
	commits, release := holdCommits(c)
	t.Cleanup(release)
	one := map[model.TopicPartition]int64{{Topic: topic, Partition: 0}: 5}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var all sync.WaitGroup
	commit := func() {
		all.Go(func() {
			if err := a.Commit(ctx, generation, id, one); !errors.Is(err, context.Canceled) {
				t.Errorf("a commit whose caller went away: %v", err)
			}
		})
	}
	commit()
	until(t, "the first is under way", func() bool { return commits.Load() == 1 })
	commit()
	until(t, "the second waits for it", func() bool { return a.Gathered() == 1 })
	cancel()
	all.Wait()
	release()
	if err := a.Commit(context.Background(), generation, id, one); err != nil {
		t.Error(err)
	}
	if n := commits.Load(); n != 2 {
		t.Errorf("%d requests, want the one that hung and the last", n)
	}
}

// The first commit needs no look at the topics: what is in a hurry waits for
// nothing but the coordinator.
func TestFirstCommitKnowsTheTopics(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a")
	generation := together(t, a)
	until(t, "the ids are known", func() bool { return a.KnownIDs() == 1 })
	let := make(chan struct{})
	defer close(let)
	c.ControlKey(int16(kmsg.Metadata), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		c.SleepControl(func() { <-let })
		return nil, nil, false
	})
	time.Sleep(seat.TopicIDAge) // older than that, what the client itself knows does not count
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := a.Commit(ctx, generation, a.session().MemberID, map[model.TopicPartition]int64{{Topic: topic, Partition: 0}: 5}); err != nil {
		t.Error(err)
	}
}
