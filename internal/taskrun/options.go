package taskrun

import (
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

// Options is what a host needs.
type Options struct {
	Opts           []kgo.Opt // seed brokers and security; nothing about groups or what to consume
	Group          string    // whose committed input offsets count
	Subtopologies  []Subtopology
	Dir            string // directory for stores and checkpoints, of this instance alone; "" keeps all in memory
	NewProcessor   func(model.TaskID) Processor
	AcceptableLag  int64         // records; where Within and Beyond lie
	RestoreRate    int           // records a second that all tasks together restore, 0 without limit
	CommitInterval time.Duration // 0 means 30 seconds
	Events         func(Event)   // must return quickly and must not call the host; nil for none. Events of one task come in order
}
