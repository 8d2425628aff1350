package taskrun

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
)

// Subtopology is what all tasks of one subtopology share.
type Subtopology struct {
	ID        int
	Sources   []string // topics; partition p of each belongs to task ID_p
	Changelog string   // topic with as many partitions; "" means stateless. It must exist: this package creates no topic
}

// topics are all that the subtopology reads or writes.
func (s Subtopology) topics() []string {
	if s.Changelog == "" {
		return s.Sources
	}
	return append(slices.Clone(s.Sources), s.Changelog)
}

// Options is what a host needs.
type Options struct {
	Opts           []kgo.Opt // seed brokers and security; nothing about groups or what to consume
	Group          string    // whose committed input offsets count
	Subtopologies  []Subtopology
	Topics         *Topics                      // what is known of all topics of the subtopologies; nil: the host looks by itself
	Dir            string                       // directory for stores and checkpoints, of this instance alone; "" keeps all in memory
	NewProcessor   func(model.TaskID) Processor // a new one each time a task begins to process
	AcceptableLag  int64                        // records; where Within and Beyond lie
	RestoreRate    int                          // records a second that all tasks together restore, 0 without limit
	CommitInterval time.Duration                // 0 means 30 seconds
	Events         func(Event)                  // must return quickly and must not call the host; nil for none. Events of one task come in order
}

// defaultCommitInterval is what Options.CommitInterval is when it is 0.
const defaultCommitInterval = 30 * time.Second

// check refuses what cannot work, fills in defaults, and gives the
// subtopologies by their id as tasks name it.
func (o *Options) check() (map[string]Subtopology, error) {
	switch {
	case o.Group == "":
		return nil, errors.New("tasks without a group")
	case o.NewProcessor == nil:
		return nil, errors.New("tasks without a processor")
	}
	if o.CommitInterval <= 0 {
		o.CommitInterval = defaultCommitInterval
	}
	subs := map[string]Subtopology{}
	use := map[string]string{} // topic → what reads or writes it
	for _, s := range o.Subtopologies {
		id := strconv.Itoa(s.ID)
		if _, ok := subs[id]; ok || s.ID < 0 {
			return nil, fmt.Errorf("subtopology %d: twice, or negative", s.ID)
		}
		for _, topic := range s.Sources {
			if was, ok := use[topic]; ok {
				return nil, fmt.Errorf("topic %q: source of subtopology %d and %s", topic, s.ID, was)
			}
			use[topic] = fmt.Sprintf("source of subtopology %d", s.ID)
		}
		if s.Changelog != "" {
			if was, ok := use[s.Changelog]; ok {
				return nil, fmt.Errorf("topic %q: changelog of subtopology %d and %s", s.Changelog, s.ID, was)
			}
			use[s.Changelog] = fmt.Sprintf("changelog of subtopology %d", s.ID)
		}
		subs[id] = s
	}
	return subs, nil
}
