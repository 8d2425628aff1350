package worker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Config is what an instance needs. Group, Topology, NewProcessor and Client
// are needed; everything else has a default.
type Config struct {
	Group        string
	Topology     []Subtopology
	NewProcessor func(TaskID) Processor // one for each task that becomes active
	Client       []kgo.Opt              // seed brokers and security; nothing about groups or what to consume

	ClientID   string // prefix of the client ids that brokers see; "" means the group
	Host       string // the process's own name of its host, for people; "" means the name the system gives
	InstanceID string // static membership: of worker n it is this, a dash and n; "" for dynamic members
	StateDir   string // stores, checkpoints and the instance's UUID; "" keeps all in memory and takes a new UUID
	Workers    int    // members of the group that this instance runs; 0 means 1

	Settings Settings            // the zero value means DefaultSettings
	Older    []kgo.GroupBalancer // what the job's plain consumers use, in mode upgrading; nil means range and cooperative-sticky

	SessionTimeout   time.Duration // 0 means 45 s; brokers allow no less than 6 s by default
	RebalanceTimeout time.Duration // 0 means 60 s
	Heartbeat        time.Duration // how long a round may go unnoticed; 0 means 3 s
	CommitInterval   time.Duration // 0 means 30 s
	MetadataMaxAge   time.Duration // how long a new partition may go unnoticed; 0 means 5 min

	RestoreRate int // records a second that all copies of the instance restore together; 0: without limit

	// Ready is asked, besides the lag, whether a learner may take its task over,
	// for example because a cache must be warm first; nil: the lag alone counts.
	// It is asked again and again and must return at once.
	Ready func(TaskID) bool
	// Observer is told what happens. It must return at once and must not call
	// the instance. Events of one task, and those of one worker, come in order.
	Observer func(Event)
}

// Subtopology is a part of the topology: one task for each partition of its
// sources.
type Subtopology struct {
	ID                 int32
	Sources            []string // topics that it reads; partition p of each belongs to task ID_p
	RepartitionSources []string // likewise, internal topics
	RepartitionSinks   []string // internal topics that it writes, for people
	Changelog          string   // of its store, "" when it has none; created when it does not exist
}

// Stateful says whether its tasks have state.
func (s Subtopology) Stateful() bool { return s.Changelog != "" }

func (s Subtopology) inputs() []string {
	return append(slices.Clone(s.Sources), s.RepartitionSources...)
}

// complete refuses what cannot work, and gives everything else that is not set
// its default.
func (c *Config) complete() error {
	switch {
	case c.Group == "":
		return errors.New("worker: no group given")
	case len(c.Topology) == 0:
		return errors.New("worker: no topology given")
	case c.NewProcessor == nil:
		return errors.New("worker: no processor given")
	case len(c.Client) == 0:
		return errors.New("worker: no client options given: at least the seed brokers are needed")
	case c.Workers < 0 || c.Workers > maxWorkers:
		return fmt.Errorf("worker: %d workers, must be 1 to %d", c.Workers, maxWorkers)
	}
	if err := checkTopology(c.Topology); err != nil {
		return err
	}
	c.Workers = max(c.Workers, 1)
	if c.Settings == (Settings{}) {
		c.Settings = DefaultSettings()
	}
	if err := c.Settings.check(); err != nil {
		return err
	}
	if c.ClientID == "" {
		c.ClientID = c.Group
	}
	if c.Older == nil {
		c.Older = []kgo.GroupBalancer{kgo.RangeBalancer(), kgo.CooperativeStickyBalancer()}
	}
	c.SessionTimeout = orElse(c.SessionTimeout, 45*time.Second)
	c.RebalanceTimeout = orElse(c.RebalanceTimeout, time.Minute)
	c.Heartbeat = orElse(c.Heartbeat, 3*time.Second)
	c.CommitInterval = orElse(c.CommitInterval, 30*time.Second)
	c.MetadataMaxAge = orElse(c.MetadataMaxAge, 5*time.Minute)
	return nil
}

// checkTopology refuses subtopologies whose tasks could not be told apart, or
// would read nothing.
func checkTopology(list []Subtopology) error {
	seen := map[int32]bool{}
	for _, s := range list {
		switch {
		case s.ID < 0:
			return fmt.Errorf("worker: subtopology %d: ids begin with 0", s.ID)
		case seen[s.ID]:
			return fmt.Errorf("worker: subtopology %d is there twice", s.ID)
		case len(s.inputs()) == 0:
			return fmt.Errorf("worker: subtopology %d has neither sources nor repartition sources", s.ID)
		}
		seen[s.ID] = true
	}
	return nil
}

// maxWorkers bounds the members that one instance may run.
const maxWorkers = 1000

// orElse gives a time that is set, which is above 0, or another one.
func orElse(d, other time.Duration) time.Duration {
	if d <= 0 {
		return other
	}
	return d
}
