package worker_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/worker"
)

func (r *rig) groupType() string {
	d, err := r.adm.DescribeGroups(context.Background(), group)
	if err != nil {
		return err.Error()
	}
	return d[group].ProtocolType
}

// Incremental to upgrading and back, with traffic: every task stays where it
// is, learners and all, nothing restores cold, and the pause is short. Not
// parallel: it is measured.
func TestModeSwitchAndBack(t *testing.T) {
	r := three(t)
	r.start("S4")
	r.becomes("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	stop := r.traffic()
	for epoch, mode := range []worker.Mode{worker.Upgrading, worker.Incremental} {
		r.setMode(mode, int64(epoch+1), 20*time.Second)
		r.until("the switch is over", func() bool { return r.count(worker.SwitchDone) == 4*(epoch+1) })
		if want := map[worker.Mode]string{worker.Upgrading: "consumer", worker.Incremental: "stream"}[mode]; r.groupType() != want {
			t.Errorf("the group is of type %s in mode %s", r.groupType(), mode)
		}
		r.becomes("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
		r.running()
	}
	stop()
	if extra := r.counted(); extra > 0 {
		t.Errorf("%d records were counted twice", extra)
	}
	for _, p := range r.pauses() {
		if p > 5*time.Second {
			t.Errorf("a pause of %v", p)
		}
	}
	if n := r.count(worker.CopyClosed); n > 3 { // those of the bring-up
		t.Errorf("%d copies were closed", n)
	}
	r.noTaskTwice()
	t.Log("pauses", r.pauses())
}

// Two records right after each other: the last one counts, and nobody is left
// behind in the group that is given up.
func TestModeSwitchedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	r := three(t)
	r.setMode(worker.Upgrading, 1, 20*time.Second)
	r.setMode(worker.Incremental, 2, 20*time.Second)
	r.until("all follow the last one", func() bool {
		for _, in := range r.live {
			if s := in.Stats(); s.Mode != worker.Incremental || s.Epoch != 2 {
				return false
			}
		}
		return r.runningTasks() == 5
	})
	r.becomes("S1[T1,T2] S2[T3,T4] S3[T5]")
	r.produce(20)
	r.running()
	r.counted()
	r.noTaskTwice()
}

func (r *rig) pauses() (list []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == worker.SwitchDone && e.Pause > 0 {
			list = append(list, e.Pause)
		}
	}
	return list
}

// traffic produces until it is stopped.
func (r *rig) traffic() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(20 * time.Millisecond):
				r.produce(10)
			}
		}
	}()
	stop = sync.OnceFunc(func() { close(quit); <-done })
	r.t.Cleanup(stop)
	return stop
}

// A member of the old type that does not follow: when the time is up, the
// first that is still refused takes all back to the old mode.
func TestModeSwitchRollsBack(t *testing.T) {
	t.Parallel()
	r := three(t)
	straggler := r.straggle()
	r.setMode(worker.Upgrading, 1, 1500*time.Millisecond)
	r.until("all are back in the old mode", func() bool {
		n := 0
		for _, in := range r.live {
			if s := in.Stats(); s.Mode == worker.Incremental && s.Epoch == 2 {
				n++
			}
		}
		return n == 3
	})
	straggler()
	r.until("all tasks run", func() bool { return r.runningTasks() == 5 })
	if m := r.state().Mode; m == nil || m.Mode != control.Incremental || m.Epoch != 2 {
		t.Errorf("mode record %+v", m)
	}
	r.produce(20)
	r.counted()
	if r.count(worker.SwitchRolledBack) == 0 {
		t.Error("nobody said that it rolled back")
	}
}

// straggle joins a foreign member of type stream that ignores the mode. Its
// metadata are not ours.
func (r *rig) straggle() (leave func()) {
	r.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.lab.Bootstrap()), kgo.ConsumerGroup(group), kgo.GroupProtocol("stream"),
		kgo.ConsumeTopics(input), kgo.Balancers(foreign{}), kgo.HeartbeatInterval(100*time.Millisecond), kgo.SessionTimeout(6*time.Second))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(cl.Close)
	r.until("the straggler is in", func() bool {
		d, err := r.adm.DescribeGroups(context.Background(), group)
		return err == nil && len(d[group].Members) == 4 && d[group].State == "Stable"
	})
	return cl.Close
}

// foreign says and takes anything; as a leader it gives nobody anything.
type foreign struct{}

func (foreign) ProtocolName() string { return "learner" }
func (foreign) IsCooperative() bool  { return true }
func (foreign) JoinGroupMetadata([]string, map[string][]int32, int32) []byte {
	return []byte("not ours")
}
func (foreign) ParseSyncAssignment([]byte) (map[string][]int32, error) { return nil, nil }

// A rolling upgrade: while a plain range consumer is in the group, ours work
// as plain consumers beside it; when it has gone, the learner protocol wins.
func TestUpgradingBesidePlainConsumers(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	r.produce(10)
	plain, err := kgo.NewClient(kgo.SeedBrokers(r.lab.Bootstrap()), kgo.ConsumerGroup(group), kgo.ConsumeTopics(input),
		kgo.Balancers(kgo.RangeBalancer()), kgo.HeartbeatInterval(100*time.Millisecond), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	r.until("the plain consumer has all", func() bool {
		d, err := r.adm.DescribeGroups(context.Background(), group)
		return err == nil && len(d[group].Members) == 1 && d[group].State == "Stable"
	})
	up := func(c *worker.Config) { c.Settings.Mode = worker.Upgrading }
	r.start("a", up)
	r.until("two tasks as a plain consumer", func() bool { return r.runningTasks() == 2 && r.count(worker.OlderWon) > 0 })
	r.start("b", up)
	r.until("three tasks as plain consumers", func() bool { return r.runningTasks() == 3 || r.runningTasks() == 2 })
	plain.Close()
	r.until("learner wins", func() bool { return r.count(worker.RoundLed) > 0 && r.runningTasks() == 4 })
	r.counted()
	r.noTaskTwice()
}

// runningTasks is how many tasks are processed.
func (r *rig) runningTasks() int {
	n := 0
	for _, in := range r.live {
		for _, t := range in.Stats().Tasks {
			if t.Processing {
				n++
			}
		}
	}
	return n
}

// A worker whose setting names the other type than the group has finds its way
// in: without a record the group decides.
func TestWrongTypeFindsItsWayIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	r.start("a")
	r.becomes("a[T1,T2,T3,T4]")
	b := r.start("b", func(c *worker.Config) { c.Settings.Mode = worker.Upgrading })
	r.until("b is in", func() bool { return b.Stats().Generation > 0 })
	if m := b.Stats().Mode; m != worker.Incremental {
		t.Errorf("b follows mode %s", m)
	}
	r.becomes("a[T2,T3,T4] b[T1]")
}

// A record from before the start counts more than the setting.
func TestStartsInTheModeOfTheRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.setMode(worker.Upgrading, 7, time.Second)
	a := r.start("a")
	r.becomes("a[T1,T2]")
	if s := a.Stats(); s.Mode != worker.Upgrading || s.Epoch != 7 || r.groupType() != "consumer" {
		t.Errorf("%+v, group of type %s", s, r.groupType())
	}
}

func (foreign) MemberBalancer(members []kmsg.JoinGroupResponseMember) (kgo.GroupMemberBalancer, map[string]struct{}, error) {
	return nothing{}, map[string]struct{}{input: {}}, nil
}

// nothing is the plan by which nobody gets anything.
type nothing struct{}

func (nothing) Balance(map[string]int32) kgo.IntoSyncAssignment            { return nothing{} }
func (nothing) IntoSyncAssignment() []kmsg.SyncGroupRequestGroupAssignment { return nil }
