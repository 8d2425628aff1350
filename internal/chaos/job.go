package chaos

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/worker"
)

// Options says what job is to run, and where.
type Options struct {
	Seeds     []string // addresses of the cluster
	Group     string   // also the start of the topics' names
	Tasks     int      // stateful ones
	Stateless int      // tasks without state
	Workers   int      // of each instance
	Settings  worker.Settings
	Session   time.Duration
	Heartbeat time.Duration // 0: 100 ms
	Restore   int           // records a second that one instance restores; 0: without limit
	Labels    []int         // by partition: the number of the task in a story; nil: partition + 1
	Replicas  int16         // of the topics; 0: as the brokers do by default
}

// Job is a job of worker instances with all that is known about it.
type Job struct {
	T   testing.TB
	O   Options
	adm *kadm.Client
	cl  *kgo.Client
	dir string // with the state of each instance in a folder
	*Book
	*Journal

	producing sync.Mutex

	mu    sync.Mutex
	pods  map[string]*Pod
	gates map[worker.TaskID]bool // tasks whose learners may become ready; nil: all
}

// Pod is one instance of a job, by its name.
type Pod struct {
	Name   string
	In     *worker.Instance
	ID     string
	Life   int  // how often it was started
	Cut    bool // paused
	Mark   string
	Hurry  bool   // the mark has a timeout
	Rough  bool   // it was killed, closed or cut off since its mark
	State  string // "up", "killed", "closed", "ended" by itself
	Orders worker.Settings
}

// New makes the topics of a job and nothing else.
func New(t testing.TB, o Options) *Job {
	t.Helper()
	if o.Heartbeat == 0 {
		o.Heartbeat = 100 * time.Millisecond
	}
	if o.Replicas == 0 {
		o.Replicas = -1
	}
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(o.Seeds...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.MetadataMinAge(100*time.Millisecond), kgo.UnknownTopicRetries(-1),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	j := &Job{T: t, O: o, cl: cl, adm: kadm.NewClient(cl), dir: t.TempDir(), pods: map[string]*Pod{}}
	j.Book, j.Journal = newBook(), newJournal(j.label)
	for topic, n := range map[string]int{j.input(): o.Tasks, j.plain(): o.Stateless} {
		if n == 0 {
			continue
		}
		if _, err := j.adm.CreateTopic(context.Background(), int32(n), o.Replicas, nil, topic); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func (j *Job) input() string     { return j.O.Group + "-orders" }
func (j *Job) plain() string     { return j.O.Group + "-clicks" }
func (j *Job) changelog() string { return j.O.Group + "-counts-changelog" }

// topology is one subtopology with state, and one without if there are tasks of
// it.
func (j *Job) topology() []worker.Subtopology {
	list := []worker.Subtopology{{ID: 0, Sources: []string{j.input()}, Changelog: j.changelog()}}
	if j.O.Stateless > 0 {
		list = append(list, worker.Subtopology{ID: 1, Sources: []string{j.plain()}})
	}
	return list
}

// tasks are all tasks of the job, sorted.
func (j *Job) tasks() []worker.TaskID {
	var list []worker.TaskID
	for sub, n := range []int{j.O.Tasks, j.O.Stateless} {
		for p := range int32(n) {
			list = append(list, worker.TaskID{Subtopology: int32(sub), Partition: p})
		}
	}
	return list
}

// label is the name of a task in a story.
func (j *Job) label(t worker.TaskID) string {
	switch {
	case t.Subtopology != 0:
		return t.String()
	case j.O.Labels != nil:
		return fmt.Sprintf("T%d", j.O.Labels[t.Partition])
	}
	return fmt.Sprintf("T%d", t.Partition+1)
}

// config is that of one life of an instance.
func (j *Job) config(p *Pod) worker.Config {
	name, life := p.Name, p.Life
	return worker.Config{
		Group: j.O.Group, Topology: j.topology(),
		NewProcessor: func(t worker.TaskID) worker.Processor { return j.processor(t, name) },
		Client:       []kgo.Opt{kgo.SeedBrokers(j.O.Seeds...)}, ClientID: name, Host: name,
		StateDir: filepath.Join(j.dir, name), Workers: j.O.Workers, Settings: p.Orders,
		SessionTimeout: j.O.Session, RebalanceTimeout: j.rebalance(), Heartbeat: j.O.Heartbeat,
		CommitInterval: 200 * time.Millisecond, MetadataMaxAge: time.Second, RestoreRate: j.O.Restore,
		Ready: j.mayBeReady, Observer: func(e worker.Event) { j.observe(name, life, e) },
	}
}

// rebalance is how long the group waits for a member in a round. On the embedded
// cluster one that died in the middle of a join is waited for that long, not for
// its session.
func (j *Job) rebalance() time.Duration { return 2 * j.O.Session }

// Start starts an instance: a new one, or one that ended, with the state and
// the identity that it had.
func (j *Job) Start(name string, change ...func(*worker.Config)) *Pod {
	j.T.Helper()
	j.mu.Lock()
	p := j.pods[name]
	if p == nil {
		p = &Pod{Name: name, Orders: j.O.Settings}
		j.pods[name] = p
	}
	p.Life++
	p.Mark, p.Hurry, p.Rough, p.Cut = "", false, false, false
	j.mu.Unlock()
	j.setID(name)
	c := j.config(p)
	for _, f := range change {
		f(&c)
	}
	for try := 0; ; try++ {
		in, err := worker.Start(context.Background(), c)
		if err == nil {
			j.mu.Lock()
			defer j.mu.Unlock()
			p.In, p.ID, p.State = in, in.ID(), "up"
			j.began(name, p.Life, in.ID())
			j.T.Cleanup(in.Kill)
			return p
		}
		if try == 20 {
			j.T.Fatalf("start %s: %v", name, err)
		}
		j.T.Logf("start %s again: %v", name, err)
		time.Sleep(200 * time.Millisecond)
	}
}

// setID gives an instance an id by which the order of ids is that of the names.
func (j *Job) setID(name string) {
	j.T.Helper()
	dir := filepath.Join(j.dir, name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		j.T.Fatal(err)
	}
	hex := fmt.Sprintf("%x", name)
	hex += strings.Repeat("0", max(0, 12-len(hex)))
	file := filepath.Join(dir, "instance-id")
	if err := os.WriteFile(file, []byte("00000000-0000-4000-8000-"+hex[:12]+"\n"), 0o600); err != nil {
		j.T.Fatal(err)
	}
}

// Kill crashes an instance.
func (j *Job) Kill(name string) {
	p := j.Pod(name)
	began := time.Now()
	p.In.Kill()
	j.note(name, p, "killed", began)
}

// Close closes an instance: it commits and leaves the group.
func (j *Job) Close(name string) {
	p := j.Pod(name)
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := p.In.Close(ctx); err != nil {
		j.Say("%s closed: %v", name, err)
	}
	j.note(name, p, "closed", began)
}

// Pause cuts an instance off from the cluster.
func (j *Job) Pause(name string) {
	p := j.Pod(name)
	p.In.Pause()
	j.mu.Lock()
	defer j.mu.Unlock()
	p.Cut, p.Rough = true, true
}

// Resume ends a Pause.
func (j *Job) Resume(name string) {
	p := j.Pod(name)
	p.In.Resume()
	j.mu.Lock()
	defer j.mu.Unlock()
	p.Cut = false
}

// note notes the end of an instance that the test brought about.
func (j *Job) note(name string, p *Pod, state string, began time.Time) {
	j.ended(name, p.Life, state, began)
	j.mu.Lock()
	defer j.mu.Unlock()
	p.State, p.Rough, p.Cut = state, true, false
}

// Pod is the instance of a name; the test ends when there is none.
func (j *Job) Pod(name string) *Pod {
	j.T.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.pods[name]
	if p == nil || p.In == nil {
		j.T.Fatalf("no instance %q", name)
	}
	return p
}

// Pods are the instances for which a condition holds, by name. Those that ended
// by themselves are noted before.
func (j *Job) Pods(holds func(*Pod) bool) []*Pod {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []*Pod
	for _, name := range slices.Sorted(maps.Keys(j.pods)) {
		p := j.pods[name]
		if p.State == "up" {
			select {
			case <-p.In.Done():
				p.State = "ended"
				j.ended(name, p.Life, "ended", time.Now())
			default:
			}
		}
		if holds(p) {
			list = append(list, p)
		}
	}
	return list
}

func up(p *Pod) bool { return p.State == "up" }

// mayBeReady is the job's word on learners.
func (j *Job) mayBeReady(t worker.TaskID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.gates == nil || j.gates[t]
}

// Gate lets only the learners of these tasks, by their names in the story,
// become ready.
func (j *Job) Gate(open ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gates = map[worker.TaskID]bool{}
	for _, t := range j.tasks() {
		j.gates[t] = slices.Contains(open, j.label(t))
	}
}

// Ungate lets all learners become ready.
func (j *Job) Ungate() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gates = nil
}
