package lab

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func job(t *testing.T, o JobOptions) *Job {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	l, err := Start(Options{MinSession: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	t.Cleanup(func() {
		if !closed {
			l.Close()
		}
	})
	o.Group, o.SessionTimeout = "clicks", cmp.Or(o.SessionTimeout, time.Second)
	if o.Log == nil {
		o.Log = func(s string) { t.Log(s) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	j, err := l.StartJob(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closed = true
		begin := time.Now()
		l.Close()
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("took %s to end", took)
		}
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return j
}

func (j *Job) becomes(t *testing.T, what string, holds func(Status) bool) Status {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		s := j.Status()
		if holds(s) {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("timed out: %s\n%+v", what, s)
		}
	}
}

func (s Status) pod(name string) PodStatus {
	for _, p := range s.Instances {
		if p.Name == name {
			return p
		}
	}
	return PodStatus{}
}

// The whole life of a job: scaled up, crashed, started again, cut off; its
// counts are right at the end.
func TestJobLives(t *testing.T) {
	// A machine that is busy for a second is no crash: records would be counted twice.
	j := job(t, JobOptions{Instances: 2, Tasks: 4, Records: 4000, Rate: 400, SessionTimeout: 4 * time.Second})
	ctx := context.Background()
	s := j.Status()
	if s.pod("pod-a").Active != 2 || s.pod("pod-b").Active != 2 || s.Records.Counted < 4000 || s.Mode != "incremental" {
		t.Fatalf("begins with %+v", s)
	}
	if names, err := j.Add(ctx, 2); err != nil || strings.Join(names, " ") != "pod-c pod-d" {
		t.Fatal(names, err)
	}
	even := func(s Status) bool {
		for _, p := range s.Instances {
			if p.Active != 1 || p.Learner != 0 {
				return false
			}
		}
		return len(s.Instances) == 4
	}
	s = j.becomes(t, "one task each", even)
	if s.Records.Twice != 0 || s.Records.Lost != 0 {
		t.Errorf("nobody crashed: %+v", s.Records)
	}
	if err := j.Kill("pod-b"); err != nil {
		t.Fatal(err)
	}
	if s := j.Status(); s.pod("pod-b").State != Killed || len(s.Idle) != 1 {
		t.Errorf("after a crash: %+v", s)
	}
	j.becomes(t, "its task runs again", func(s Status) bool { return len(s.Idle) == 0 })
	if err := j.Restart(ctx, "pod-b"); err != nil {
		t.Fatal(err)
	}
	j.becomes(t, "one task each again", even)
	if err := j.Pause("pod-c"); err != nil {
		t.Fatal(err)
	}
	if s := j.Status(); len(s.Idle) != 1 {
		t.Errorf("paused: %+v", s)
	}
	j.becomes(t, "others run its task", func(s Status) bool { return len(s.Idle) == 0 })
	if err := j.Resume("pod-c"); err != nil {
		t.Fatal(err)
	}
	if err := j.Stop(ctx, "pod-d"); err != nil {
		t.Fatal(err)
	}
	s = j.becomes(t, "three have four", func(s Status) bool {
		return len(s.Idle) == 0 && s.pod("pod-c").Active > 0 && s.pod("pod-d").State == Stopped && s.Records.Waiting < 50
	})
	if s.Records.Lost != 0 || s.Records.Foreign {
		t.Errorf("counts: %+v", s.Records)
	}
}

// What cannot be done says so, and changes nothing.
func TestJobRefuses(t *testing.T) {
	j := job(t, JobOptions{Instances: 1, Tasks: 2})
	ctx := context.Background()
	for _, err := range []error{j.Kill("pod-z"), j.Stop(ctx, "pod-z"), j.Pause("pod-z"), j.Resume("pod-z"), j.Restart(ctx, "pod-z")} {
		if !errors.Is(err, ErrNoInstance) {
			t.Errorf("%v", err)
		}
	}
	for name, err := range map[string]error{
		"there": j.AddNamed(ctx, "pod-a"), "name": j.AddNamed(ctx, "../x"), "twice": j.AddNamed(ctx, "x", "x"), "not paused": j.Resume("pod-a"),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if s := j.Status(); len(s.Instances) != 1 {
		t.Errorf("%+v", s.Instances)
	}
}

// The next names are pod-a to pod-z, pod-aa and so on.
func TestPodNames(t *testing.T) {
	for i, want := range map[int]string{0: "pod-a", 25: "pod-z", 26: "pod-aa", 52: "pod-ba"} {
		if got := podName(i); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}
