package lab

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// atOnce calls f from eight goroutines and counts the calls without an error.
func atOnce(f func() error) (done int32) {
	var n atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if f() == nil {
				n.Add(1)
			}
		})
	}
	all.Wait()
	return n.Load()
}

// Of several who steer one instance the same way at once, one does it.
func TestOneSteers(t *testing.T) {
	j := job(t, JobOptions{Instances: 2, Tasks: 2})
	if n := atOnce(func() error { return j.Pause("pod-a") }); n != 1 {
		t.Errorf("paused %d times", n)
	}
	if n := atOnce(func() error { return j.Resume("pod-a") }); n != 1 {
		t.Errorf("resumed %d times", n)
	}
	if n := atOnce(func() error { return j.Kill("pod-b") }); n != 1 {
		t.Errorf("killed %d times", n)
	}
}

// An instance that crashed says nothing any more of what it cannot do.
func TestCrashIsSilent(t *testing.T) {
	const sentinel = "-- crashed"
	var mu sync.Mutex
	var lines []string
	j := job(t, JobOptions{Instances: 2, Tasks: 4, Rate: 200, Log: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, s)
	}})
	if err := j.Kill("pod-b"); err != nil {
		t.Fatal(err)
	}
	j.say(sentinel)
	j.becomes(t, "the other runs all", func(s Status) bool { return s.pod("pod-a").Active == 4 })
	j.say(sentinel)
	j.becomes(t, "the log is written", func(Status) bool {
		mu.Lock()
		defer mu.Unlock()
		return len(lines) > 0 && lines[len(lines)-1] == sentinel
	})
	mu.Lock()
	defer mu.Unlock()
	_, after, _ := strings.Cut(strings.Join(lines, "\n"), sentinel)
	if strings.Contains(after, "\npod-b ") || strings.Contains(after, "\npod-b:") {
		t.Errorf("after its crash:%s", after)
	}
}

// A lab bounds the workers of all its instances, and does not tell each of many
// that did not start.
func TestManyInstances(t *testing.T) {
	j := job(t, JobOptions{Instances: 1, Tasks: 2})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	started, err := j.Add(ctx, 9)
	if err == nil || len(started) != 0 {
		t.Fatalf("started %v, %v", started, err)
	}
	if text := err.Error(); strings.Count(text, "instance \"pod-") != failuresTold || !strings.HasSuffix(text, "and 4 more instances did not start") {
		t.Errorf("%s", text)
	}
	j.o.Workers = MaxWorkers / 10
	if err := j.AddNamed(context.Background(), "x"); err == nil || !strings.Contains(err.Error(), "10 instances of 100 each") {
		t.Errorf("%v", err)
	}
}
