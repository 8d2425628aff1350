package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/worker"
)

// PodState is what became of an instance of a job.
type PodState string

// The states. Only those that run and those that are paused have tasks.
const (
	Running PodState = "running"
	Paused  PodState = "paused"  // cut off from the broker
	Stopped PodState = "stopped" // it left the group by itself
	Killed  PodState = "killed"  // as in a crash: the group does not know yet
	Drained PodState = "drained" // it was marked as leaving and owned nothing any more
	Expired PodState = "expired" // it was marked as leaving and its time was up
	Failed  PodState = "failed"
)

// pod is one instance of a job, with the directory that survives it.
type pod struct {
	name  string
	in    *worker.Instance // nil while it is being started
	state PodState
	why   string // what it failed of
}

// ErrNoInstance is wrapped by errors about a name that no instance has.
var ErrNoInstance = errors.New("no such instance")

// Add starts so many new instances, with the next names that are free, and
// returns the names of those that were started.
func (j *Job) Add(ctx context.Context, n int) ([]string, error) {
	var names []string
	j.mu.Lock()
	for i := 0; len(names) < n; i++ {
		if name := podName(i); j.pods[name] == nil {
			names = append(names, name)
		}
	}
	j.mu.Unlock()
	return j.addNamed(ctx, names)
}

// podName is pod-a, pod-b … pod-z, pod-aa.
func podName(i int) string {
	s := ""
	for ; i >= 0; i = i/26 - 1 {
		s = string(rune('a'+i%26)) + s
	}
	return "pod-" + s
}

const (
	maxPods      = 200 // instances of a job, gone ones included
	failuresTold = 5   // instances that did not start, of which each is told

	// MaxWorkers bounds the workers of all instances of a job: each has its own
	// clients, and all run in one process.
	MaxWorkers = 1_000
)

// AddNamed starts new instances with these names.
func (j *Job) AddNamed(ctx context.Context, names ...string) error {
	_, err := j.addNamed(ctx, names)
	return err
}

// addNamed is AddNamed, and says which were started, in the order given.
func (j *Job) addNamed(ctx context.Context, names []string) (started []string, err error) {
	j.steer.Lock()
	defer j.steer.Unlock()
	j.mu.Lock()
	err = j.mayAdd(names)
	if err == nil {
		for _, n := range names {
			j.pods[n] = &pod{name: n, state: Running}
		}
	}
	j.mu.Unlock()
	if err != nil {
		return nil, err
	}
	failed := make([]error, len(names))
	var all sync.WaitGroup
	for i, n := range names {
		all.Go(func() { failed[i] = j.start(ctx, n) })
	}
	all.Wait()
	var errs []error
	for i, n := range names {
		if failed[i] == nil {
			started = append(started, n)
			continue
		}
		errs = append(errs, failed[i])
	}
	if more := len(errs) - failuresTold; more > 1 { // of one cause, as a rule
		errs = append(errs[:failuresTold], fmt.Errorf("and %d more instances did not start", more))
	}
	return started, errors.Join(errs...)
}

func (j *Job) mayAdd(names []string) error {
	if len(j.pods)+len(names) > maxPods {
		return fmt.Errorf("a lab has at most %d instances", maxPods)
	}
	if each := max(1, j.o.Workers); (len(j.pods)+len(names))*each > MaxWorkers {
		return fmt.Errorf("a lab has at most %d workers: %d instances of %d each", MaxWorkers, MaxWorkers/each, each)
	}
	for i, n := range names {
		if !validName(n) {
			return fmt.Errorf("instance %q: a name has 1 to 40 of a-z, 0-9 and -", n)
		}
		if j.pods[n] != nil {
			return fmt.Errorf("instance %q is there already: %s", n, j.pods[n].state)
		}
		for _, o := range names[:i] {
			if o == n {
				return fmt.Errorf("instance %q is named twice", n)
			}
		}
	}
	return nil
}

// validName keeps names fit for a client id and a directory.
func validName(s string) bool {
	return s != "" && len(s) <= 40 && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// start brings an instance up; j.steer is held.
func (j *Job) start(ctx context.Context, name string) error {
	if j.ctx.Err() != nil {
		return fmt.Errorf("instance %q: the lab has ended", name)
	}
	j.mu.Lock()
	rate := j.restoreRate
	j.mu.Unlock()
	in, err := worker.Start(ctx, worker.Config{
		Group: j.o.Group, Topology: []worker.Subtopology{{Sources: []string{j.o.input()}, Changelog: j.o.changelog()}},
		NewProcessor: func(t worker.TaskID) worker.Processor { return &counter{l: j.ledger, task: t} },
		Client:       []kgo.Opt{kgo.SeedBrokers(j.l.cluster.ListenAddrs()...)},
		ClientID:     name, Host: name, StateDir: filepath.Join(j.dir, name), Workers: j.o.Workers, Settings: j.settings,
		SessionTimeout: j.o.SessionTimeout, RebalanceTimeout: 20 * time.Second, Heartbeat: heartbeat,
		CommitInterval: time.Second, MetadataMaxAge: 2 * time.Second, RestoreRate: rate,
		Observer: func(e worker.Event) { j.observe(name, e) },
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.pods[name]
	if err != nil {
		p.state, p.why = Failed, err.Error()
		return fmt.Errorf("instance %q: %w", name, err)
	}
	p.in, p.state, p.why = in, Running, ""
	j.work.Go(func() { j.await(p, in) })
	return nil
}

// await notes how an instance ended that was neither stopped nor killed.
func (j *Job) await(p *pod, in *worker.Instance) {
	err := in.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	if p.in != in || p.state != Running && p.state != Paused {
		return
	}
	if err != nil {
		p.state, p.why = Failed, err.Error()
		j.say("%s failed: %v", p.name, err)
		return
	}
	p.state = Stopped
}

// live finds an instance that runs or is paused, and says which; j.steer is
// held, so that nobody else steers it meanwhile.
func (j *Job) live(name string) (*worker.Instance, PodState, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.pods[name]
	switch {
	case p == nil:
		return nil, "", fmt.Errorf("instance %q: %w", name, ErrNoInstance)
	case p.in == nil || p.state != Running && p.state != Paused:
		return nil, "", fmt.Errorf("instance %q is %s", name, p.state)
	}
	return p.in, p.state, nil
}

// mark sets the state of an instance that live found, unless it came to its end
// by itself meanwhile.
func (j *Job) mark(name string, s PodState) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.pods[name]; p.state == Running || p.state == Paused {
		p.state = s
	}
}
