package taskrun

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// The committed offset passes the end of a transaction, so that nothing is left
// to read.
func TestTransactionalInput(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	tx, err := kgo.NewClient(kgo.SeedBrokers(r.c.ListenAddrs()...), kgo.TransactionalID("x"), kgo.DefaultProduceTopic(input))
	ok(t, err)
	defer tx.Close()
	h, o := r.host("", nil)
	ok(t, h.Activate(task0(), &commits{r: r}))
	for round := int64(1); round <= 2; round++ {
		ok(t, tx.BeginTransaction())
		ok(t, tx.ProduceSync(context.Background(), numbered(0, 10, 10)...).FirstErr())
		ok(t, tx.EndTransaction(context.Background(), kgo.TryCommit))
		r.until("a commit behind the marker", func() bool { return r.committed() == 11*round })
	}
	if n := total(h.state(task0())); n != 20 || o.has(Trouble) {
		t.Fatal(n, o.kinds())
	}
}

// A leader that moves, of an input or of a changelog, makes nobody read again
// what was processed.
func TestLeadersMove(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, _ := r.host("", nil)
	ok(t, h.Activate(task0(), &commits{r: r}))
	for round := 1; round <= 4; round++ {
		r.put2(input, numbered(0, 100, 10)...)
		r.until("all so far", func() bool { return r.committed() == int64(100*round) })
		for _, topic := range []string{input, clog} {
			ok(t, r.c.MoveTopicPartition(topic, 0, 1-r.c.LeaderFor(topic, 0)))
		}
	}
	r.put2(input, numbered(0, 100, 10)...)
	r.until("all", func() bool { return r.committed() == 500 })
	if n := total(h.state(task0())); n != 500 {
		t.Fatalf("counted %d of 500", n)
	}
}

// An offset that is not in the log any more: what was deleted is told and passed
// over; a log that is shorter than what was read begins again, which is told too.
func TestInputOutOfRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		commit        int64
		deleted       int64
		total, behind int
		says          string
	}{
		{"deleted", 5, 20, 30, 50, "records 5 to 19 were deleted before they were processed: it goes on at 20"},
		{"shorter", 90, 0, 50, 50, "the log ends at 50, but was read up to 90: records are lost; it begins again at the log's start, 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 1)
			r.put(input, numbered(0, 50, 10)...)
			var at kadmOffsets = map[string]map[int32]kadmOffset{}
			at.AddOffset(input, 0, c.commit, -1)
			ok(t, r.adm.CommitAllOffsets(context.Background(), group, at))
			if c.deleted > 0 {
				var to kadm.Offsets = map[string]map[int32]kadmOffset{}
				to.AddOffset(input, 0, c.deleted, -1)
				_, err := r.adm.DeleteRecords(context.Background(), to)
				ok(t, err)
			}
			h, o := r.host("", nil)
			ok(t, h.Activate(task0(), &commits{r: r}))
			r.until("the rest to be processed", func() bool { return total(h.state(task0())) == c.total && r.committed() == int64(c.behind) })
			if e := o.last(Trouble).Err; o.count(Trouble) != 1 || !strings.Contains(e.Error(), c.says) {
				t.Error(o.tail())
			}
		})
	}
}

// held processes nothing before it is let go on, and says that it has something.
type held struct{ has, on chan struct{} }

func (c held) Process(Record, Store) error {
	select {
	case c.has <- struct{}{}:
	default:
	}
	<-c.on
	return nil
}

// Large records that wait for a slow processor pause their inputs long before
// there are many of them, and all are processed in the end.
func TestLargeRecordsThatWait(t *testing.T) {
	t.Parallel()
	const n, size = 90, 900_000
	if n*size < boxAll || n > boxMax {
		t.Fatal("too few bytes, or too many records")
	}
	r := newRig(t, 1)
	c := held{make(chan struct{}, 1), make(chan struct{})}
	h, _ := r.host("", func(o *Options) { o.NewProcessor = func(model.TaskID) Processor { return c } })
	ok(t, h.Activate(task0(), &commits{r: r}))
	for k := range n {
		r.put(input, kgo.KeySliceRecord([]byte("k"), make([]byte, size)))
		if k == 0 {
			<-c.has // alone: what is taken together with it would not wait
		}
	}
	r.until("a pause", func() bool {
		h.mu.Lock()
		task := h.tasks[task0()]
		h.mu.Unlock()
		task.mu.Lock()
		s := task.act.stint
		task.mu.Unlock()
		if s == nil {
			return false
		}
		s.box.mu.Lock()
		defer s.box.mu.Unlock()
		return s.box.paused
	})
	close(c.on)
	r.until("all", func() bool { return r.committed() == n })
}

// What waits is counted in bytes too, and no more once it was taken.
func TestInboxCountsBytes(t *testing.T) {
	t.Parallel()
	tp := model.TopicPartition{Topic: input}
	b := inbox{next: map[model.TopicPartition]int64{tp: 0}, ready: make(chan struct{}, 1)}
	record := func(offset int64) []*kgo.Record {
		return []*kgo.Record{{Offset: offset, Key: make([]byte, 10), Value: make([]byte, 50)}}
	}
	for _, what := range []string{"one record", "one that is there already"} {
		if b.put(tp, record(0), 100) {
			t.Fatalf("%s paused", what)
		}
	}
	if len(b.take(nil)) != 1 || b.put(tp, record(1), 100) {
		t.Fatal("what was taken still counts")
	}
	if !b.put(tp, record(2), 100) || b.put(tp, record(3), 100) {
		t.Fatal("120 bytes did not pause, or paused twice")
	}
}

// The id of an input that was made anew is found out when the coordinator does
// not know the one of the last look, not when that look is too old.
func TestInputMadeAnewBeforeStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.put(input, numbered(0, 10, 10)...)
	h, o := r.host("", nil)
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.until("the first records", func() bool { return r.committed() == 10 })
	ok(t, h.Demote(soon(t), task0()))
	seen, err := h.topics.Find(soon(t), time.Now().Add(-time.Hour), map[string][]int32{input: {0}})
	ok(t, err)
	_, err = r.adm.DeleteTopic(context.Background(), input)
	ok(t, err)
	r.create(input, 1, nil)
	r.c.ControlKey(int16(kmsg.OffsetFetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		r.c.KeepControl()
		req := kreq.(*kmsg.OffsetFetchRequest)
		if len(req.Groups) == 0 || len(req.Groups[0].Topics) == 0 || req.Groups[0].Topics[0].TopicID != seen[input].ID {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
		group, topic, part := kmsg.NewOffsetFetchResponseGroup(), kmsg.NewOffsetFetchResponseGroupTopic(), kmsg.NewOffsetFetchResponseGroupTopicPartition()
		part.ErrorCode = kerr.UnknownTopicID.Code
		topic.TopicID, topic.Partitions = seen[input].ID, append(topic.Partitions, part)
		group.Group, group.Topics = req.Groups[0].Group, append(group.Topics, topic)
		resp.Groups = append(resp.Groups, group)
		return resp, nil, true
	})
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.until("the second start", func() bool { return o.count(Started) == 2 })
}
