package taskrun

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
)

// both runs a test with stores in memory and on disk.
func both(t *testing.T, f func(t *testing.T, dir string)) {
	t.Run("memory", func(t *testing.T) { t.Parallel(); f(t, "") })
	t.Run("disk", func(t *testing.T) { t.Parallel(); f(t, t.TempDir()) })
}

// A copy restores what is there, says so, and follows what comes.
func TestCopyCatchesUpAndFollows(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		r.put(clog, numbered(0, 1000, 100)...)
		h, o := r.host(dir, nil)
		if _, known := h.Lag(task0()); known {
			t.Fatal("the lag of a task that is not held is known")
		}
		ok(t, h.Copy(task0()))
		r.caughtUp(h, 100)
		r.until("the event", func() bool { return o.has(CaughtUp) && o.has(Within) })
		for i := range 5 {
			r.put(clog, kgo.KeyStringRecord("late"+strconv.Itoa(i), "x"))
			r.until("the new record", func() bool { return len(h.state(task0())) == 101+i })
		}
		r.put(clog, &kgo.Record{Key: []byte("late0")}) // a tombstone
		r.until("the delete", func() bool { return len(h.state(task0())) == 104 })
		if p := h.position(task0()); p.Next != 1006 || p.Restored != 1006 {
			t.Fatalf("%+v", p)
		}
		if got := h.state(task0())["k7"]; got != "907" {
			t.Fatalf("k7 is %q", got)
		}
		if h := h.Held(); !slices.Equal(h, []taskID{task0()}) {
			t.Fatal(h)
		}
		ok(t, h.Shutdown(soon(t)))
	})
}

// An empty changelog is caught up as soon as its end is known.
func TestEmptyChangelog(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		h, o := r.host(dir, nil)
		ok(t, h.Copy(task0()))
		r.until("caught up", func() bool { return o.has(CaughtUp) })
		if lag, known := h.Lag(task0()); lag != 0 || !known {
			t.Fatal(lag, known)
		}
		ok(t, h.Close(soon(t), task0(), false))
		if len(h.Held()) != 0 {
			t.Fatal("still held")
		}
	})
}

// Transactions: markers count as read, open ones hold the end back, aborted
// records do not arrive.
func TestTransactionalChangelog(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	tx, err := kgo.NewClient(kgo.SeedBrokers(r.c.ListenAddrs()...), kgo.TransactionalID("x"), kgo.DefaultProduceTopic(clog))
	ok(t, err)
	defer tx.Close()
	ctx := context.Background()
	h, _ := r.host("", nil)
	ok(t, h.Copy(task0()))
	write := func(key string) {
		ok(t, tx.BeginTransaction())
		ok(t, tx.ProduceSync(ctx, kgo.KeyStringRecord(key, "v")).FirstErr())
	}
	write("a")
	ok(t, tx.EndTransaction(ctx, kgo.TryCommit))
	r.until("the marker to count", func() bool { return h.position(task0()).Next == 2 })
	r.caughtUp(h, 1)
	write("b")
	ok(t, tx.EndTransaction(ctx, kgo.TryAbort))
	r.until("the abort to count", func() bool { return h.position(task0()).Next == 4 })
	r.caughtUp(h, 1)
	write("c") // stays open
	r.until("a look after it", func() bool { lag, known := h.Lag(task0()); return known && lag == 0 })
	if p := h.position(task0()); p.End != 4 || p.Next != 4 {
		t.Fatalf("an open transaction counts: %+v", p)
	}
	ok(t, tx.EndTransaction(ctx, kgo.TryCommit))
	r.until("c", func() bool { return h.state(task0())["c"] == "v" && h.position(task0()).Next == 6 })
}

// What no writer of ours would write breaks nothing.
func TestHostileChangelog(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		long := strings.Repeat("L", 40_000)
		r.put(clog,
			&kgo.Record{Key: nil, Value: []byte("no key")},
			&kgo.Record{Key: []byte{}, Value: []byte("empty key")},
			&kgo.Record{Key: []byte("empty value"), Value: []byte{}},
			&kgo.Record{Key: []byte("gone"), Value: []byte("x")},
			&kgo.Record{Key: []byte("gone"), Value: nil},
			&kgo.Record{Key: []byte("never was"), Value: nil},
			&kgo.Record{Key: []byte(long + "1"), Value: []byte("one")},
			&kgo.Record{Key: []byte(long + "2"), Value: []byte("two")},
			&kgo.Record{Key: []byte("huge"), Value: make([]byte, 900_000)},
			&kgo.Record{Key: []byte{0xff, 0, 0xfe}, Value: []byte{0, 1, 2}},
		)
		h, _ := r.host(dir, nil)
		ok(t, h.Copy(task0()))
		r.caughtUp(h, 6)
		check := func() {
			t.Helper()
			got := h.state(task0())
			want := map[string]string{"": "empty key", "empty value": "", long + "1": "one", long + "2": "two", "\xff\x00\xfe": "\x00\x01\x02"}
			for k, v := range want {
				if got[k] != v {
					t.Fatalf("%.20q is %.20q, not %q", k, got[k], v)
				}
			}
			if v, there := got["gone"]; there || len(got["huge"]) != 900_000 {
				t.Fatal(v, len(got["huge"]))
			}
		}
		check()
		if dir != "" { // and the same from the file
			r.until("durable", func() bool { return h.position(task0()).Durable == 10 })
			check()
		}
	})
}

// The rate bounds what is restored, and a change of it works at once.
func TestRestoreRate(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.put(clog, numbered(0, 20_000, 20_000)...)
	h, o := r.host("", func(o *Options) { o.RestoreRate = 500 })
	began := time.Now()
	ok(t, h.Copy(task0()))
	r.until("some records", func() bool { return h.position(task0()).Restored >= 250 })
	// One step ahead at the most.
	if n, most := h.position(task0()).Restored, 25+int64(500*time.Since(began).Seconds()); n > most {
		t.Fatalf("%d records, at most %d", n, most)
	}
	if !o.has(Progress) || o.has(CaughtUp) {
		t.Fatal(o.kinds())
	}
	if lag, known := h.Lag(task0()); !known || lag < 10_000 {
		t.Fatal(lag, known)
	}
	h.SetRestoreRate(0)
	r.caughtUp(h, 20_000)
}

// A task that is to become active is restored before all copies, which go on
// afterwards.
func TestActivationComesFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	var all []*kgo.Record
	for p := range int32(3) {
		for _, rec := range numbered(0, 2000, 2000) {
			rec.Partition = p
			all = append(all, rec)
		}
	}
	r.put(clog, all...)
	h, o := r.host("", func(o *Options) { o.RestoreRate = 4000 })
	id := func(p int32) taskID { return model.ClassicTask("", 0, p) }
	for p := range int32(3) {
		ok(t, h.Copy(id(p)))
	}
	copies := func() int64 { return h.position(id(1)).Restored + h.position(id(2)).Restored }
	r.until("all to be on their way", func() bool { return copies() > 0 })
	before := copies()
	ok(t, h.Activate(id(0), &commits{r: r}))
	r.until("the start", func() bool { return o.has(Started) })
	// What a step brought before the activation, and after it until this look.
	if n := copies() - before; n > 1000 {
		t.Errorf("copies restored %d records meanwhile", n)
	}
	r.until("the copies to be restored", func() bool { return copies() == 4000 })
}

// A changelog that was deleted and made anew, and one that lost its beginning,
// clear the store.
func TestChangelogMadeAnew(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		r.put(clog, numbered(0, 50, 50)...)
		h, o := r.host(dir, nil)
		ok(t, h.Copy(task0()))
		r.caughtUp(h, 50)
		_, err := r.adm.DeleteTopic(context.Background(), clog)
		ok(t, err)
		r.create(clog, 1, compacted())
		// More than the old one had: only the topic's id tells.
		var anew []*kgo.Record
		for i := range 80 {
			anew = append(anew, kgo.KeyStringRecord("new"+strconv.Itoa(i), "v"))
		}
		r.put2(clog, anew...)
		r.until("the new contents", func() bool { s := h.state(task0()); return len(s) == 80 && s["k0"] == "" })
		if o.count(Cleared) != 1 {
			t.Fatal(o.kinds())
		}
		r.caughtUp(h, 80)

		ok(t, h.Close(soon(t), task0(), true)) // rests at 80
		r.put2(clog, numbered(0, 20, 20)...)
		var offsets kadmOffsets = map[string]map[int32]kadmOffset{}
		offsets.AddOffset(clog, 0, 90, -1)
		_, err = r.adm.DeleteRecords(context.Background(), offsets)
		ok(t, err)
		r.until("the lag of a misfit", func() bool { lag, known := h.Lag(task0()); return known && lag == 10 })
		ok(t, h.Copy(task0()))
		r.caughtUp(h, 10)
		if o.count(Cleared) != 2 {
			t.Fatal(o.kinds())
		}
	})
}
