package worker_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/worker"
)

const (
	group     = "shop"
	input     = "orders"
	changelog = "shop-counts-changelog"
)

// rig is an embedded cluster with a job on it that counts by key.
type rig struct {
	t      *testing.T
	lab    *lab.Lab
	opts   []kgo.Opt // of every client
	cl     *kgo.Client
	adm    *kadm.Client
	parts  int32
	labels []int            // by partition: the number of the task as the story has it; nil: partition + 1
	dir    string           // with the state of each instance in a folder
	sent   map[string]int64 // records produced by key

	mu     sync.Mutex
	events []worker.Event
	gates  map[worker.TaskID]bool // tasks whose learners may become ready; nil: all
	counts map[worker.TaskID]map[string]int64
	live   map[string]*worker.Instance // by name
	names  map[string]string           // name by instance id
}

func newRig(t *testing.T, partitions int32) *rig { return newRigOf(t, partitions, lab.Options{}) }

// newRigOf is newRig with a cluster of one's own options; login is what clients
// need besides its address.
func newRigOf(t *testing.T, partitions int32, o lab.Options, login ...kgo.Opt) *rig {
	t.Helper()
	l, err := lab.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	l.LetTypesChange()
	if err := l.Cluster().CreateTopic(input, partitions, nil); err != nil {
		t.Fatal(err)
	}
	opts := append([]kgo.Opt{kgo.SeedBrokers(l.Bootstrap())}, login...)
	cl, err := kgo.NewClient(append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return &rig{
		t: t, opts: opts[:len(opts):len(opts)], dir: t.TempDir(), lab: l, cl: cl, adm: kadm.NewClient(cl), parts: partitions, sent: map[string]int64{},
		counts: map[worker.TaskID]map[string]int64{},
		live:   map[string]*worker.Instance{}, names: map[string]string{},
	}
}

// counter counts by key, in the store and where the test sees it.
type counter struct {
	r *rig
	t worker.TaskID
}

func (c counter) Process(rec worker.Record, s worker.Store) error {
	var n uint64
	if b, ok := s.Get(rec.Key); ok {
		n = binary.BigEndian.Uint64(b)
	}
	s.Put(rec.Key, binary.BigEndian.AppendUint64(nil, n+1))
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.r.counts[c.t] == nil {
		c.r.counts[c.t] = map[string]int64{}
	}
	c.r.counts[c.t][string(rec.Key)] = int64(n + 1)
	return nil
}

// heartbeat is Config.Heartbeat of the instances of a rig.
const heartbeat = 100 * time.Millisecond

func (r *rig) config(name string, change ...func(*worker.Config)) worker.Config {
	c := worker.Config{
		Group: group, Topology: []worker.Subtopology{{ID: 0, Sources: []string{input}, Changelog: changelog}},
		NewProcessor: func(t worker.TaskID) worker.Processor { return counter{r, t} },
		Client:       r.opts, ClientID: name, Host: name,
		Settings: worker.DefaultSettings(), SessionTimeout: 6 * time.Second, RebalanceTimeout: 10 * time.Second,
		Heartbeat: heartbeat, CommitInterval: 100 * time.Millisecond, MetadataMaxAge: 500 * time.Millisecond,
		Ready: r.mayBeReady, Observer: func(e worker.Event) { r.observe(name, e) },
	}
	c.StateDir = filepath.Join(r.dir, name)
	r.setID(name)
	for _, f := range change {
		f(&c)
	}
	return c
}

// setID gives an instance an id by which the order of ids is that of the names.
func (r *rig) setID(name string) {
	r.t.Helper()
	dir := filepath.Join(r.dir, name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		r.t.Fatal(err)
	}
	id := "00000000-0000-4000-8000-" + fmt.Sprintf("%012x", name)[:12]
	if pad := 12 - 2*len(name); pad > 0 {
		id = "00000000-0000-4000-8000-" + fmt.Sprintf("%x", name) + strings.Repeat("0", pad)
	}
	if err := os.WriteFile(filepath.Join(dir, "instance-id"), []byte(id+"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) mayBeReady(t worker.TaskID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gates == nil || r.gates[t]
}

func (r *rig) observe(name string, e worker.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[e.Instance] = name
	r.events = append(r.events, e)
}

func (r *rig) start(name string, change ...func(*worker.Config)) *worker.Instance {
	r.t.Helper()
	in, err := worker.Start(context.Background(), r.config(name, change...))
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.live[name] = in
	r.names[in.ID()] = name
	r.mu.Unlock()
	r.t.Cleanup(in.Kill)
	return in
}

// kill crashes an instance; what it ran is nobody's.
func (r *rig) kill(name string) {
	r.live[name].Kill()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, worker.Event{Kind: killed, At: time.Now(), Instance: r.live[name].ID()})
	delete(r.live, name)
}

// produce writes n records to each partition, of ten keys.
func (r *rig) produce(n int) {
	r.t.Helper()
	var list []*kgo.Record
	for p := range r.parts {
		for k := range n {
			key := fmt.Sprintf("p%d-k%d", p, k%10)
			r.sent[key]++
			list = append(list, &kgo.Record{Topic: input, Partition: p, Key: []byte(key), Value: []byte(strconv.Itoa(k))})
		}
	}
	if err := r.cl.ProduceSync(context.Background(), list...).FirstErr(); err != nil {
		r.t.Error(err)
	}
}

// counted waits until every key was counted as often as it was sent, at least.
func (r *rig) counted() (extra int64) {
	r.t.Helper()
	r.until("all records counted", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		extra = 0
		have := map[string]int64{}
		for _, keys := range r.counts {
			maps.Copy(have, keys)
		}
		for key, n := range r.sent {
			if have[key] < n {
				return false
			}
			extra += have[key] - n
		}
		return true
	})
	return extra
}

func (r *rig) until(what string, f func() bool) {
	r.t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("timed out: %s\nnow %s\n%s", what, r.picture(), r.tail(60))
		}
	}
}

// becomes waits for a picture.
func (r *rig) becomes(want string) {
	r.t.Helper()
	r.until("group becomes "+want, func() bool { return r.picture() == want })
}

// running waits until each task is processed by the instance that owns it.
func (r *rig) running() {
	r.t.Helper()
	r.until("all tasks run", func() bool {
		n := 0
		for _, in := range r.live {
			for _, t := range in.Stats().Tasks {
				if t.Processing {
					n++
				}
			}
		}
		return n == int(r.parts)
	})
}

func (r *rig) count(kind worker.EventKind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (r *rig) topic() *controltopic.Topic {
	r.t.Helper()
	t, err := controltopic.Open(r.opts, group)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(t.Close)
	return t
}

func (r *rig) write(rec control.Record, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.topic().Write(context.Background(), rec); err != nil {
		r.t.Fatal(err)
	}
}

// mark marks an instance; timeout 0 leaves it to the instance.
func (r *rig) mark(name, id string, timeout time.Duration) {
	r.t.Helper()
	l := control.Leaving{Mark: id, At: time.Now(), Who: "test"}
	if timeout > 0 {
		l.Timeout = &timeout
	}
	r.write(l.Record(r.live[name].ID()))
}

func (r *rig) setMode(m worker.Mode, epoch int64, allowed time.Duration) {
	r.t.Helper()
	r.write(control.Mode{Mode: control.RebalanceMode(m), Epoch: epoch, Allowed: allowed, At: time.Now(), Who: "test"}.Record())
}

func (r *rig) state() control.State {
	r.t.Helper()
	c, err := r.topic().Read(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	return control.Fold(c.Records)
}

// open lets the learners of tasks become ready; none: no learner may.
func (r *rig) open(tasks ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gates = map[worker.TaskID]bool{}
	for p := range r.parts {
		id := worker.TaskID{Partition: p}
		r.gates[id] = slices.Contains(tasks, r.label(id))
	}
}

func (r *rig) openAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gates = nil
}
