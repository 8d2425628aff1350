package taskrun

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
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
