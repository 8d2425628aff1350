package chaos

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/worker"
)

// keysPerTask is how many keys each partition has.
const keysPerTask = 12

// topic is the input of a task.
func (j *Job) topic(t worker.TaskID) string {
	if t.Subtopology == 0 {
		return j.input()
	}
	return j.plain()
}

// Produce writes n numbered records to the input of every task and returns when
// all are acknowledged.
func (j *Job) Produce(n int) {
	j.producing.Lock()
	defer j.producing.Unlock()
	var list []*kgo.Record
	j.Book.mu.Lock()
	first := map[string]uint64{}
	for _, t := range j.tasks() {
		for k := range n {
			key := fmt.Sprintf("%s-k%d", t, k%keysPerTask)
			if _, ok := first[key]; !ok {
				first[key] = j.sent[key]
			}
			list = append(list, &kgo.Record{
				Topic: j.topic(t), Partition: t.Partition, Key: []byte(key), Value: []byte(strconv.FormatUint(first[key], 10)),
			})
			first[key]++
		}
	}
	j.Book.mu.Unlock()
	// Numbers go on only when all are written: the client tries until they are.
	if err := j.cl.ProduceSync(context.Background(), list...).FirstErr(); err != nil {
		j.T.Errorf("produce: %v", err)
	}
	j.Book.mu.Lock()
	defer j.Book.mu.Unlock()
	for key, next := range first {
		j.sent[key] = next
	}
}

// Traffic writes records until stop is called.
func (j *Job) Traffic(n int, every time.Duration) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(every):
				j.Produce(n)
			}
		}
	}()
	stop = sync.OnceFunc(func() { close(quit); <-done })
	j.T.Cleanup(stop)
	return stop
}

// Probe asks every task's owner for its store and waits for the answers.
func (j *Job) Probe(probe string) {
	j.T.Helper()
	var list []*kgo.Record
	for _, t := range j.tasks() {
		list = append(list, &kgo.Record{Topic: j.topic(t), Partition: t.Partition, Key: []byte(probeKey), Value: []byte(probe)})
	}
	if err := j.cl.ProduceSync(context.Background(), list...).FirstErr(); err != nil {
		j.T.Fatal(err)
	}
	j.Until(30*time.Second, "every task counts to the end", func() bool {
		j.Book.mu.Lock()
		defer j.Book.mu.Unlock()
		for _, t := range j.tasks() {
			if j.dumps[t].probe != probe {
				return false
			}
		}
		return true
	})
}
