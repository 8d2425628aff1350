package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/worker"
)

// Several workers share an instance: its tasks are spread over them, and one
// that changes worker is never processed by two.
func TestSeveralWorkers(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6)
	two := func(c *worker.Config) { c.Workers = 2 }
	a := r.start("a", two)
	r.until("three tasks a worker", func() bool { return spread(a) == "3/3" && r.runningTasks() == 6 })
	b := r.start("b", two, func(c *worker.Config) { c.Settings.BalancingFactor = 1000 })
	r.until("b has some", func() bool { return len(b.Stats().Tasks) > 0 })
	r.produce(20)
	r.until("all run, evenly inside", func() bool {
		return r.runningTasks() == 6 && even(spread(a)) && even(spread(b))
	})
	if extra := r.counted(); extra > 0 {
		t.Errorf("%d records were counted twice", extra)
	}
	if err := a.Close(context.Background()); err != nil {
		t.Error(err)
	}
	delete(r.live, "a")
	r.until("b runs all", func() bool { return spread(b) == "3/3" && r.runningTasks() == 6 })
	r.noTaskTwice()
}

// spread is how many actives each of two workers has.
func spread(in *worker.Instance) string {
	n := [2]int{}
	for _, t := range in.Stats().Tasks {
		if t.Role == "active" {
			n[t.Worker]++
		}
	}
	return fmt.Sprintf("%d/%d", n[0], n[1])
}

func even(s string) bool { return s[0] == s[2] || s[0] == s[2]+1 || s[0]+1 == s[2] }

// A worker that is thrown out stops its actives first, and comes back with
// copies, which it gets back as they are caught up.
func TestThrownOutComesBackWithCopies(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	r.start("a")
	r.becomes("a[T1,T2,T3,T4]")
	r.running()
	r.produce(20)
	r.counted()
	r.lab.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: group, Err: kerr.IllegalGeneration, Count: 1})
	r.until("lost", func() bool { return r.count(worker.MembershipLost) == 1 })
	r.until("all run again", func() bool { return r.runningTasks() == 4 && r.count(worker.ActiveStarted) == 8 })
	r.produce(20)
	r.counted()
	r.noTaskTwice()
	lost := false
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == worker.MembershipLost {
			lost = errors.Is(e.Err, kerr.IllegalGeneration)
		}
	}
	if !lost {
		t.Error("the loss does not say why")
	}
}

// A task whose commit was refused for good stops, and is started again if the
// worker turns out to own it all the same.
func TestFencedTaskStartsAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.start("a")
	r.becomes("a[T1,T2]")
	r.running()
	r.lab.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: group, Err: kerr.UnknownMemberID, Count: 1})
	r.produce(20)
	r.until("one stops", func() bool { return r.count(worker.ActiveStopped) == 1 })
	r.until("it runs again", func() bool { return r.runningTasks() == 2 && r.count(worker.ActiveStarted) == 3 })
	r.produce(20)
	r.counted()
	r.noTaskTwice()
	if n := r.count(worker.MembershipLost); n > 0 {
		t.Errorf("%d memberships were lost", n)
	}
}

// An instance that is cut off stops by itself before the group gives its tasks
// away, and comes back.
func TestCutOffStopsByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	a := r.start("a")
	r.becomes("a[T1,T2,T3,T4]")
	r.start("b")
	r.becomes("a[T2,T3,T4] b[T1]")
	r.running()
	a.Pause()
	r.until("b has all", func() bool { return len(r.live["b"].Stats().Tasks) == 4 })
	r.noTaskTwice()
	a.Resume()
	r.produce(20)
	r.until("a is back", func() bool { return len(r.live["a"].Stats().Tasks) > 0 && r.runningTasks() == 4 })
	r.counted()
	r.noTaskTwice()
}

// The identity and the state on disk survive a clean restart: nothing is
// restored from the start of a changelog again.
func TestRestartKeepsIdentityAndState(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.produce(50)
	a := r.start("a")
	r.becomes("a[T1,T2]")
	r.running()
	r.counted()
	id := a.ID()
	if err := a.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := r.start("a")
	if again.ID() != id {
		t.Errorf("id %s became %s", id, again.ID())
	}
	r.becomes("a[T1,T2]")
	r.running()
	r.produce(10)
	if extra := r.counted(); extra > 0 {
		t.Errorf("%d records were counted twice", extra)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == worker.CaughtUp && e.Records > 0 {
			t.Errorf("task %s restored %d records", e.Task, e.Records)
		}
	}
}

func TestBadIdentityIsSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c := r.config("a")
	if err := os.WriteFile(filepath.Join(c.StateDir, "instance-id"), []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := worker.Start(context.Background(), c); err == nil || !strings.Contains(err.Error(), "remove it to get a new one") {
		t.Errorf("error %v", err)
	}
}

// Tasks of new partitions are taken up; the changelog grows with them.
func TestNewPartitions(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.start("a")
	r.becomes("a[T1,T2]")
	if _, err := r.adm.CreatePartitions(context.Background(), 1, input); err != nil {
		t.Fatal(err)
	}
	r.parts = 3
	r.becomes("a[T1,T2,T3]")
	r.until("records of the new partition can be sent", func() bool {
		return r.cl.ProduceSync(context.Background(), &kgo.Record{Topic: input, Partition: 2, Key: []byte("p2-k0")}).FirstErr() == nil
	})
	r.sent["p2-k0"]++
	r.counted()
}

// Stateless tasks move without a learner: released by one, taken by the other.
func TestStatelessTasksAreReleased(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	plain := func(c *worker.Config) {
		c.Topology = []worker.Subtopology{{ID: 0, Sources: []string{input}}}
		c.NewProcessor = func(worker.TaskID) worker.Processor { return nowhere{} }
	}
	r.start("a", plain)
	r.becomes("a[T1,T2,T3,T4]")
	r.start("b", plain)
	r.becomes("a[T2,T3,T4] b[T1]")
	r.running()
	r.mark("a", "m", time.Hour)
	r.until("a is gone", func() bool {
		select {
		case <-r.live["a"].Done():
			return true
		default:
			return false
		}
	})
	delete(r.live, "a")
	r.becomes("b[T1,T2,T3,T4]")
	r.noTaskTwice()
}

type nowhere struct{}

func (nowhere) Process(worker.Record, worker.Store) error { return nil }

// Without the right to the control topic a worker works on, and says so.
func TestWorksWithoutTheControlTopic(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.lab.Cluster().ControlKey(int16(kmsg.CreateTopics), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r.lab.Cluster().KeepControl()
		create := req.(*kmsg.CreateTopicsRequest)
		if !strings.HasSuffix(create.Topics[0].Topic, "-control") {
			return nil, nil, false
		}
		resp := create.ResponseKind().(*kmsg.CreateTopicsResponse)
		for _, t := range create.Topics {
			rt := kmsg.NewCreateTopicsResponseTopic()
			rt.Topic, rt.ErrorCode = t.Topic, kerr.TopicAuthorizationFailed.Code
			resp.Topics = append(resp.Topics, rt)
		}
		return resp, nil, true
	})
	r.start("a")
	r.becomes("a[T1,T2]")
	r.running()
	r.until("the trouble names the topic", func() bool {
		return strings.Contains(r.tail(100), "shop-streamctl-control") && r.count(worker.Trouble) > 0
	})
	r.produce(5)
	r.counted()
}
