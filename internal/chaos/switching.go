package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// SwitchAndBack switches a job of three instances from upgrading to incremental
// and back, with traffic. It begins once the job has processed warm records, so
// that the pauses are those of a job that has run for a while. No pause may be
// longer than bound, nothing is counted twice, and every task stays where it is.
// It returns the pauses.
func SwitchAndBack(t testing.TB, group string, seeds []string, warm uint64, bound time.Duration) []time.Duration {
	t.Helper()
	o := Options{Seeds: seeds, Group: group, Tasks: 6, Workers: 2, Settings: worker.DefaultSettings(), Session: 6 * time.Second}
	o.Settings.Mode = worker.Upgrading
	j := New(t, o)
	j.Produce(100)
	for _, name := range []string{"a", "b", "c"} {
		j.Start(name)
	}
	j.Settled(60 * time.Second)
	stop := j.Traffic(2, 20*time.Millisecond)
	j.Counted(60*time.Second, warm)
	before := j.Picture()
	for n, mode := range []worker.Mode{worker.Incremental, worker.Upgrading} {
		j.Switch(mode, 30*time.Second)
		j.Until(60*time.Second, "the switch is over", func() bool { return j.Count(worker.SwitchDone) == 3*(n+1) })
		j.Running()
		if now := j.Picture(); now != before {
			t.Errorf("before the switch to %s %s, after it %s", mode, before, now)
		}
		if got, want := j.GroupType(), map[worker.Mode]string{worker.Upgrading: "consumer", worker.Incremental: "stream"}[mode]; got != want {
			t.Errorf("in mode %s the group is of type %q", mode, got)
		}
	}
	stop()
	var pauses []time.Duration
	for _, e := range j.Events(worker.SwitchDone) {
		pauses = append(pauses, e.Pause)
		if e.Pause > bound {
			t.Errorf("%s paused for %v, more than %v", e.Instance, e.Pause, bound)
		}
	}
	if g := j.gaps(); len(g) > 0 && g[0].length > bound {
		t.Errorf("task %s was without an active for %v, more than %v", j.label(g[0].task), g[0].length, bound)
	}
	j.Finish(false)
	return pauses
}

// Idle is the longest time that a task was without an active, whatever the cause;
// 0 when none was.
func (j *Job) Idle() time.Duration {
	if g := j.gaps(); len(g) > 0 {
		return g[0].length
	}
	return 0
}

// GroupType is the protocol type of the job's group.
func (j *Job) GroupType() string {
	d, err := j.adm.DescribeGroups(context.Background(), j.O.Group)
	if err != nil {
		return err.Error()
	}
	return d[j.O.Group].ProtocolType
}

// Counted waits until the job has processed so many records that were written.
func (j *Job) Counted(within time.Duration, records uint64) {
	j.T.Helper()
	j.Until(within, fmt.Sprintf("%d records are processed", records), func() bool {
		j.Book.mu.Lock()
		defer j.Book.mu.Unlock()
		n := 0
		for _, seen := range j.seen {
			n += len(seen)
		}
		return uint64(n) >= records
	})
}

// Processing is how many tasks are being processed.
func (j *Job) Processing() int { return j.processing() }
