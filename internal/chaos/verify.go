package chaos

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/taskrun"
	"github.com/streamctl/streamctl/worker"
)

// counts holds the owners' stores and the processed records against what was
// written. It returns the records that were counted twice.
func (j *Job) counts() (twice int, bad []string) {
	j.Book.mu.Lock()
	defer j.Book.mu.Unlock()
	bad = append(bad, j.wrong...)
	for _, t := range j.tasks() {
		n := uint64(0)
		for k := range keysPerTask {
			key := fmt.Sprintf("%s-k%d", t, k)
			n += j.sent[key]
			if t.Subtopology != 0 {
				continue
			}
			c := j.dumps[t].counts[key]
			if c.next != j.sent[key] || c.lost > 0 || c.n < j.sent[key] {
				bad = append(bad, fmt.Sprintf("key %s on %s: %d written, %d counted, %d next, %d left out", key, j.dumps[t].name, j.sent[key], c.n, c.next, c.lost))
			}
			twice += int(c.n) - int(j.sent[key])
		}
		if processed := uint64(len(j.seen[t])); processed != n {
			bad = append(bad, fmt.Sprintf("task %s: %d records written, %d processed; not those at the offsets %v", j.label(t), n, processed, j.missing(t)))
		}
		if t.Subtopology != 0 {
			for _, times := range j.seen[t] {
				twice += times - 1
			}
		}
	}
	return twice, bad
}

// missing are the offsets of a task's input that nobody processed, of records
// and of probes.
func (j *Job) missing(t worker.TaskID) (offsets []uint64) {
	ends, err := j.adm.ListEndOffsets(context.Background(), j.topic(t))
	if err != nil {
		return nil
	}
	end, _ := ends.Lookup(j.topic(t), t.Partition)
	for o := range uint64(max(0, end.Offset)) {
		if j.seen[t][o] == 0 {
			offsets = append(offsets, o)
		}
	}
	return offsets
}

// Written is how many records were written.
func (j *Job) Written() (n uint64) {
	j.Book.mu.Lock()
	defer j.Book.mu.Unlock()
	for _, x := range j.sent {
		n += x
	}
	return n
}

// copies compares every store that an instance left on disk, once it has what
// the changelog holds after it, with the owner's. All instances must have
// ended.
func (j *Job) copies() (bad []string) {
	j.T.Helper()
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		j.T.Fatal(err)
	}
	for round, e := range entries {
		dir := filepath.Join(j.dir, e.Name(), "tasks")
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		dumps := j.restored(dir, e.Name(), fmt.Sprintf("copies-%d", round))
		for _, t := range slices.SortedFunc(maps.Keys(dumps), func(a, b worker.TaskID) int { return int(a.Partition - b.Partition) }) {
			if want := j.dumps[t]; !maps.Equal(dumps[t].counts, want.counts) {
				bad = append(bad, fmt.Sprintf("the copy of task %s on %s differs from the owner's on %s: %v, want %v", j.label(t), e.Name(), want.name, dumps[t].counts, want.counts))
			}
		}
	}
	return bad
}

// noCommit lets nothing move the group's offsets.
type noCommit struct{}

func (noCommit) Commit(context.Context, map[model.TopicPartition]int64) error { return nil }

// restored opens the stores of one instance, has them follow their changelogs
// to the end, and gives what is in them.
func (j *Job) restored(dir, name, probe string) map[worker.TaskID]dump {
	j.T.Helper()
	book := newBook()
	h, err := taskrun.Open(taskrun.Options{
		Opts: []kgo.Opt{kgo.SeedBrokers(j.O.Seeds...)}, Group: j.O.Group, Dir: dir, CommitInterval: time.Hour,
		Subtopologies: []taskrun.Subtopology{{ID: 0, Sources: []string{j.input()}, Changelog: j.changelog()}},
		NewProcessor: func(t model.TaskID) taskrun.Processor {
			return onlyProbes{book.processor(worker.TaskID{Partition: t.Partition}, name), probe}
		},
	})
	if err != nil {
		j.T.Fatal(err)
	}
	defer h.Crash()
	held := h.Held()
	var list []*kgo.Record
	for _, t := range held {
		if err := h.Activate(t, noCommit{}); err != nil {
			j.T.Error(err)
		}
		list = append(list, &kgo.Record{Topic: j.input(), Partition: t.Partition, Key: []byte(probeKey), Value: []byte(probe)})
	}
	if err := j.cl.ProduceSync(context.Background(), list...).FirstErr(); err != nil {
		j.T.Fatal(err)
	}
	j.Until(30*time.Second, "copies of "+name+" are restored", func() bool {
		book.mu.Lock()
		defer book.mu.Unlock()
		return len(book.dumps) == len(held)
	})
	return book.dumps
}

// onlyProbes answers one probe and changes nothing.
type onlyProbes struct {
	p     *processor
	probe string
}

// Process dumps the store for the probe.
func (o onlyProbes) Process(r taskrun.Record, s taskrun.Store) error {
	if string(r.Key) != probeKey || string(r.Value) != o.probe {
		return nil
	}
	return o.p.Process(worker.Record(r), s)
}
