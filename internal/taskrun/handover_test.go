package taskrun

import (
	"errors"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// next is what a store keeps for a key in TestHandOverUnderFaults: the number of
// the record to come. One that comes too early is one that was lost before.
type next struct{ lost chan<- string }

func (p next) Process(r Record, s Store) error {
	number, err := strconv.Atoi(string(r.Value))
	if err != nil {
		return err
	}
	want := 0
	if v, ok := s.Get(r.Key); ok {
		want, _ = strconv.Atoi(string(v))
	}
	if number > want {
		select {
		case p.lost <- string(r.Key) + " got " + strconv.Itoa(number) + ", the next was " + strconv.Itoa(want):
		default:
		}
	}
	s.Put(r.Key, []byte(strconv.Itoa(max(want, number+1))))
	return nil
}

// A task goes to and fro between two hosts under traffic, while requests of one
// kind after the other are held up and cut. Nothing is lost: neither a record
// that nobody processes, nor state that the next owner lacks.
func TestHandOverUnderFaults(t *testing.T) {
	t.Parallel()
	const keys = 3
	r := newRig(t, 1)
	lost := make(chan string, 1)
	count := func(o *Options) {
		o.CommitInterval = 5 * time.Millisecond
		o.NewProcessor = func(model.TaskID) Processor { return next{lost} }
	}
	a, _ := r.host(t.TempDir(), count)
	b, _ := r.host("", count)
	hosts, sent := []*Host{a, b}, [keys]int{}
	send := func(n int) {
		var list []*kgo.Record
		for i := range n {
			list = append(list, kgo.KeyStringRecord("k"+strconv.Itoa(i%keys), strconv.Itoa(sent[i%keys])))
			sent[i%keys]++
		}
		r.put2(input, list...)
	}
	for round, key := range []kmsg.Key{
		kmsg.Produce, kmsg.OffsetCommit, kmsg.ListOffsets, kmsg.Fetch, kmsg.OffsetFetch, kmsg.Produce, kmsg.Fetch, kmsg.OffsetCommit, kmsg.ListOffsets, kmsg.Metadata,
	} {
		h := hosts[round%2]
		ok(t, h.Activate(task0(), &commits{r: r}))
		send(20)
		r.until("some are processed", func() bool { return h.position(task0()).Active && len(h.state(task0())) == keys })
		n := 6
		r.c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			if n--; n < 0 {
				r.c.DropControl()
				return nil, nil, false
			}
			r.c.KeepControl()
			if n%3 == 0 {
				return nil, io.EOF, true
			}
			r.c.SleepControl(func() { time.Sleep(20 * time.Millisecond) })
			return nil, nil, false
		})
		send(30)
		if err := h.Demote(soon(t), task0()); err != nil && !errors.Is(err, errStopped) {
			t.Fatal(round, err)
		}
	}
	ok(t, a.Activate(task0(), &commits{r: r}))
	r.until("all", func() bool {
		for i, n := range sent {
			if a.state(task0())["k"+strconv.Itoa(i)] != strconv.Itoa(n) {
				return false
			}
		}
		return true
	})
	select {
	case what := <-lost:
		t.Error("lost:", what)
	default:
	}
}
