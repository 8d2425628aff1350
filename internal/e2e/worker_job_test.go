//go:build realkafka

package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/chaos"
	"github.com/streamctl/streamctl/worker"
)

// workerJob is a job of worker instances in this process, whose group is steered
// by streamctl from outside.
type workerJob struct {
	*chaos.Job
	t testing.TB
	c *cluster
}

// startJob starts a job of 12 stateful tasks with these instances, and records
// that come until stop is called.
func (c *cluster) startJob(t testing.TB, o chaos.Options, names ...string) (j workerJob, stop func()) {
	t.Helper()
	o.Seeds, o.Tasks = c.addrs, 12
	if o.Session == 0 {
		o.Session = 10 * time.Second
	}
	j = workerJob{chaos.New(t, o), t, c}
	j.Produce(200)
	for _, name := range names {
		j.Start(name)
	}
	j.Settled(90 * time.Second)
	return j, j.Traffic(2, 50*time.Millisecond)
}

// end waits until the job has settled, stops the records, and looks whether all
// was right; crashed says that some may have been counted twice.
func (j workerJob) end(stop func(), crashed bool) {
	j.t.Helper()
	j.Settled(60 * time.Second)
	stop()
	j.Finish(crashed)
}

// owned lists the active tasks of an instance, sorted.
func (j workerJob) owned(name string) []string {
	var out []string
	for _, x := range j.Pod(name).In.Stats().Tasks {
		if x.Role == "active" {
			out = append(out, x.ID.String())
		}
	}
	slices.Sort(out)
	return out
}

// mark is the mark of an instance in the control topic, "" when there is none.
func (j workerJob) mark(name string) string { return j.State().Leaving[j.Pod(name).ID].Mark }

// must runs a command that is to end with this exit code.
func (j workerJob) must(code int, args ...string) result {
	j.t.Helper()
	res := j.c.streamctl(j.t, args...)
	if res.code != code {
		j.t.Fatalf("%v: exit %d, want %d\nstdout: %s\nstderr: %s", args, res.code, code, res.stdout, res.stderr)
	}
	return res
}

// gone waits until an instance has ended by itself, in good order.
func (j workerJob) gone(name string) {
	j.t.Helper()
	in := j.Pod(name).In
	select {
	case <-in.Done():
	case <-time.After(30 * time.Second):
		j.t.Fatalf("%s is still there", name)
	}
	if err := in.Wait(); err != nil {
		j.t.Errorf("%s ended with %v", name, err)
	}
}

// evenly are the settings of a job whose instances get as many tasks each, and
// whose learners are ready with little left to restore.
func evenly() worker.Settings {
	s := worker.DefaultSettings()
	s.BalancingFactor, s.AcceptableLag = 1000, 50
	return s
}

// upgrading are the same for a job that begins in that mode.
func upgrading() worker.Settings {
	s := evenly()
	s.Mode = worker.Upgrading
	return s
}
