package taskrun

import (
	"context"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
)

const (
	group = "g"
	input = "in"
	clog  = "g-counts-changelog"
)

// rig is an embedded cluster with the topics of a job that counts by key.
type rig struct {
	t   testing.TB
	c   *kfake.Cluster
	cl  *kgo.Client // produces; a partition is always named
	adm *kadm.Client

	seen []*observer
}

func newRig(t testing.TB, partitions int32) *rig {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.WithLogger(kfake.BasicLogger(io.Discard, kfake.LogLevelNone)))
	if err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, c: c, cl: cl, adm: kadm.NewClient(cl)}
	t.Cleanup(func() {
		cl.Close()
		c.Close()
	})
	r.create(input, partitions, nil)
	r.create(clog, partitions, compacted())
	return r
}

// hostGoroutines counts those that run this package's code, tests apart.
func hostGoroutines() int {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	n := 0
	for _, g := range strings.Split(string(buf), "\n\n") {
		if strings.Contains(g, "taskrun.(*Host)") || strings.Contains(g, "taskrun.(*activation)") {
			n++
		}
	}
	return n
}

func compacted() map[string]*string {
	v := "compact"
	return map[string]*string{"cleanup.policy": &v}
}

func (r *rig) create(topic string, partitions int32, conf map[string]*string) {
	r.t.Helper()
	if _, err := r.adm.CreateTopic(context.Background(), partitions, 1, conf, topic); err != nil {
		r.t.Fatal(err)
	}
}

// until waits for a condition.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			for _, o := range r.seen {
				r.t.Logf("events: %v", o.tail())
			}
			r.t.Fatalf("waited too long for %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// put produces records to partition 0 of a topic.
func (r *rig) put(topic string, records ...*kgo.Record) {
	r.t.Helper()
	for _, rec := range records {
		rec.Topic = topic
	}
	if err := r.cl.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		r.t.Fatal(err)
	}
}

// numbered gives n records with keys k0… in turn and their numbers as values.
func numbered(from, n, keys int) []*kgo.Record {
	out := make([]*kgo.Record, n)
	for i := range out {
		out[i] = kgo.KeyStringRecord("k"+strconv.Itoa((from+i)%keys), strconv.Itoa(from+i))
	}
	return out
}

// observer keeps events.
type observer struct {
	mu  sync.Mutex
	all []Event
}

func (o *observer) tell(e Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, e)
}

// tail gives the last events, for a failed test.
func (o *observer) tail() []Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.all[max(0, len(o.all)-8):])
}

func (o *observer) kinds() []Kind {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []Kind
	for _, e := range o.all {
		out = append(out, e.Kind)
	}
	return out
}

func (o *observer) has(k Kind) bool { return slices.Contains(o.kinds(), k) }

func (o *observer) count(k Kind) (n int) {
	for _, got := range o.kinds() {
		if got == k {
			n++
		}
	}
	return n
}

func (o *observer) last(k Kind) Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := len(o.all) - 1; i >= 0; i-- {
		if o.all[i].Kind == k {
			return o.all[i]
		}
	}
	return Event{}
}

// counter counts by key.
type counter struct{}

func (counter) Process(r Record, s Store) error {
	n := 0
	if v, ok := s.Get(r.Key); ok {
		n, _ = strconv.Atoi(string(v))
	}
	s.Put(r.Key, []byte(strconv.Itoa(n+1)))
	return nil
}

// commits is a committer without a generation; fail is what it answers instead.
type commits struct {
	r    *rig
	mu   sync.Mutex
	fail error
	n    int
}

func (c *commits) Commit(ctx context.Context, offsets map[model.TopicPartition]int64) error {
	c.mu.Lock()
	fail := c.fail
	c.n++
	c.mu.Unlock()
	if fail != nil {
		return fail
	}
	var os kadm.Offsets = map[string]map[int32]kadm.Offset{}
	for tp, at := range offsets {
		os.AddOffset(tp.Topic, tp.Partition, at, -1)
	}
	resp, err := c.r.adm.CommitOffsets(ctx, group, os)
	if err != nil {
		return err
	}
	return resp.Error()
}

func (c *commits) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = err
}

// committed is the group's committed offset of the input's partition 0.
func (r *rig) committed() int64 {
	os, err := r.adm.FetchOffsets(context.Background(), group)
	if err != nil {
		return -1
	}
	o, ok := os.Lookup(input, 0)
	if !ok {
		return -1
	}
	return o.At
}

// host opens a host that counts by key, and an observer of it.
func (r *rig) host(dir string, change func(*Options)) (*Host, *observer) {
	r.t.Helper()
	o := &observer{}
	opts := Options{
		Opts: []kgo.Opt{kgo.SeedBrokers(r.c.ListenAddrs()...)}, Group: group,
		Subtopologies: []Subtopology{{ID: 0, Sources: []string{input}, Changelog: clog}},
		Dir:           dir, NewProcessor: func(model.TaskID) Processor { return counter{} },
		AcceptableLag: 10, CommitInterval: 20 * time.Millisecond, Events: o.tell,
	}
	if change != nil {
		change(&opts)
	}
	h, err := Open(opts)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(h.Crash)
	r.seen = append(r.seen, o)
	return h, o
}

func task0() model.TaskID { return model.ClassicTask("", 0, 0) }

// state gives the contents of a task's store.
func (h *Host) state(id model.TaskID) map[string]string {
	h.mu.Lock()
	t := h.tasks[id]
	h.mu.Unlock()
	out := map[string]string{}
	if t == nil {
		return out
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.st != nil {
		t.st.each(func(k, v []byte) bool { out[string(k)] = string(v); return true })
	}
	return out
}

// total adds up counts.
func total(counts map[string]string) (n int) {
	for _, v := range counts {
		i, _ := strconv.Atoi(v)
		n += i
	}
	return n
}

func (h *Host) position(id model.TaskID) Position {
	for _, p := range h.Positions() {
		if p.Task == id {
			return p
		}
	}
	return Position{Next: -1, End: -1}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// soon ends late enough for what must succeed.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// caughtUp waits until a copy's lag is known to be 0 and it holds n records.
func (r *rig) caughtUp(h *Host, keys int) {
	r.t.Helper()
	r.until("the copy to catch up", func() bool {
		lag, known := h.Lag(task0())
		return known && lag == 0 && len(h.state(task0())) == keys
	})
}

type (
	taskID      = model.TaskID
	kadmOffsets = kadm.Offsets
	kadmOffset  = kadm.Offset
)

// put2 is put by a client that has not seen the topic before.
func (r *rig) put2(topic string, records ...*kgo.Record) {
	r.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(topic), kgo.MetadataMinAge(50*time.Millisecond))
	if err != nil {
		r.t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		r.t.Fatal(err)
	}
}
