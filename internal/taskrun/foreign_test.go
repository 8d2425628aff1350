package taskrun

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// alike waits until a copy holds what the owner's store does.
func (r *rig) alike(owner, other *Host) {
	r.t.Helper()
	r.until("the copy to be like the owner", func() bool {
		lag, known := other.Lag(task0())
		return known && lag == 0 && fmt.Sprint(other.state(task0())) == fmt.Sprint(owner.state(task0()))
	})
}

// A stale owner that still writes is overruled: the owner writes its own values
// again, so that whoever restores has them, and its position goes on.
func TestForeignWrites(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		h, o := r.host(dir, nil)
		other, _ := r.host("", nil)
		ok(t, other.Copy(task0()))
		ok(t, h.Activate(task0(), &commits{r: r}))
		r.put(input, numbered(0, 10, 10)...)
		r.until("a commit", func() bool { return r.committed() == 10 })
		r.put(clog, kgo.KeyStringRecord("k0", "77"), kgo.KeyStringRecord("ghost", "1"), &kgo.Record{Value: []byte("no key")})
		r.put(input, numbered(10, 10, 10)...)
		// 10 own, 3 foreign, 10 own, 2 written again.
		r.until("the position to pass, which is told", func() bool {
			return r.committed() == 20 && h.position(task0()).Next == 25 && o.count(Trouble) == 1
		})
		if e := o.last(Trouble).Err; e == nil || !strings.Contains(e.Error(), "another writer between offsets 10 and 23: the values of 2 keys") {
			t.Error(e)
		}
		r.alike(h, other)
		r.put(input, numbered(20, 10, 10)...)
		r.until("all", func() bool { return r.committed() == 30 })
		ok(t, h.Demote(soon(t), task0()))
		r.alike(h, other)
		want := map[string]string{}
		for i := range 10 {
			want[fmt.Sprint("k", i)] = "3"
		}
		if got := other.state(task0()); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatal(got)
		}
		if p := h.position(task0()); p.Next != 35 || o.count(Trouble) != 1 {
			t.Fatalf("%+v %v", p, o.tail())
		}
		if dir != "" {
			r.until("the copy is durable", func() bool { return h.position(task0()).Durable == 35 })
		}
	})
}

// Foreign records that come when the owner writes nothing more are overruled as
// it stops.
func TestForeignWritesAtTheEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, o := r.host("", nil)
	other, _ := r.host("", nil)
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.put(input, numbered(0, 10, 10)...)
	r.until("a commit", func() bool { return r.committed() == 10 })
	r.put(clog, kgo.KeyStringRecord("k3", "77"), &kgo.Record{Key: []byte("k4")})
	ok(t, h.Demote(soon(t), task0()))
	ok(t, other.Copy(task0()))
	r.caughtUp(other, 10)
	if got := other.state(task0()); got["k3"] != "1" || got["k4"] != "1" || !o.has(Trouble) {
		t.Fatal(got, o.kinds())
	}
}

// A few bytes of another writer that unpack to very many do not fill the memory
// of the owner: it says so, and goes on.
func TestForeignBatchIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	const bound, more = 4 << 10, 64 << 10
	h, o := r.host("", func(o *Options) { o.Opts = append(o.Opts, kgo.MaxDecompressBatchBytes(bound)) })
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.put(input, numbered(0, 10, 10)...)
	r.until("a commit", func() bool { return r.committed() == 10 })
	r.put(clog, &kgo.Record{Key: []byte("bomb"), Value: make([]byte, more)})
	r.put(input, numbered(10, 10, 10)...)
	r.until("it tells", func() bool {
		e, big := errors.AsType[*kgo.ErrDecompressTooLarge](o.last(Trouble).Err)
		return big && e != nil
	})
	r.until("it goes on", func() bool { return r.committed() == 20 })
}

// Who is the stale owner itself overrules nobody.
func TestFencedOwnerOverrulesNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, o := r.host("", nil)
	c := &commits{r: r}
	ok(t, h.Activate(task0(), c))
	r.put(input, numbered(0, 10, 10)...)
	r.until("a commit", func() bool { return r.committed() == 10 })
	c.refuse(kerr.IllegalGeneration)
	r.put(clog, kgo.KeyStringRecord("k0", "2"))
	r.put(input, numbered(1, 1, 10)...)
	r.until("the end", func() bool { return o.has(Fenced) && o.has(Stopped) })
	r.until("the changelog's truth", func() bool { p := h.position(task0()); return p.Next == 12 && p.End == 12 })
	if got := h.state(task0()); got["k0"] != "2" || got["k1"] != "2" {
		t.Fatal(got)
	}
}

func TestOwnRuns(t *testing.T) {
	t.Parallel()
	var r ownRuns
	for _, n := range []int64{5, 6, 7, 10, 12, 13} {
		r.add(n)
	}
	for n := range int64(16) {
		if want := n >= 5 && n < 8 || n == 10 || n == 12 || n == 13; r.has(n) != want {
			t.Errorf("%d: %v in %v", n, r.has(n), r)
		}
	}
	if len(r) != 3 {
		t.Error(r)
	}
}
