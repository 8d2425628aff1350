package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/taskrun"
)

// topics knows how many partitions the topics of the topology have, and makes
// the changelogs that are missing.
type topics struct {
	all      *taskrun.Topics
	topology []Subtopology

	mu   sync.Mutex
	seen map[string]int32
	ids  map[string][16]byte
}

func openTopics(opts []kgo.Opt, topology []Subtopology) (*topics, error) {
	var names []string
	for _, s := range topology {
		names = append(names, s.inputs()...)
		if s.Stateful() {
			names = append(names, s.Changelog)
		}
	}
	all, err := taskrun.OpenTopics(opts, names)
	if err != nil {
		return nil, err
	}
	return &topics{all: all, topology: topology, seen: map[string]int32{}, ids: map[string][16]byte{}}, nil
}

func (t *topics) close() { t.all.Close() }

// counts are the partitions by topic, as last seen.
func (t *topics) counts() map[string]int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.seen)
}

// allThere says whether all inputs have been seen.
func (t *topics) allThere() bool {
	counts := t.counts()
	for _, s := range t.topology {
		if !s.allKnown(counts) {
			return false
		}
	}
	return true
}

// id is the id of a topic, as last seen.
func (t *topics) id(name string) ([16]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, known := t.ids[name]
	return id, known
}

// refresh looks at the topics again if the last look is older than age, and
// makes changelogs whose inputs are there.
func (t *topics) refresh(ctx context.Context, age time.Duration) error {
	topics, err := t.all.All(ctx, time.Now().Add(-age))
	if err != nil {
		return fmt.Errorf("look at the topics of the topology: %w", err)
	}
	t.mu.Lock()
	for name, x := range topics {
		if x.Err == nil {
			t.seen[name], t.ids[name] = int32(len(x.Leaders)), x.ID
		}
	}
	t.mu.Unlock()
	return t.ensure(ctx, t.counts())
}

// ensure makes the changelogs that inputs with so many partitions need, or
// gives them more partitions.
func (t *topics) ensure(ctx context.Context, counts map[string]int32) error {
	seen := t.counts()
	create, grow := kmsg.NewPtrCreateTopicsRequest(), kmsg.NewPtrCreatePartitionsRequest()
	create.TimeoutMillis, grow.TimeoutMillis = brokerWaitMs, brokerWaitMs
	need := map[string]int32{}
	for _, s := range t.topology {
		n := s.tasks(counts)
		switch {
		case !s.Stateful() || n <= seen[s.Changelog]:
			continue
		case seen[s.Changelog] > 0:
			rt := kmsg.NewCreatePartitionsRequestTopic()
			rt.Topic, rt.Count = s.Changelog, n
			grow.Topics = append(grow.Topics, rt)
		default:
			create.Topics = append(create.Topics, newChangelog(s.Changelog, n))
		}
		need[s.Changelog] = n
	}
	if err := errors.Join(t.create(ctx, create), t.grow(ctx, grow)); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(t.seen, need)
	return nil
}

// brokerWaitMs is how long a broker may take to make topics or partitions, in
// milliseconds.
const brokerWaitMs = 5000

// newChangelog is a changelog as it is made, with the broker's own number of
// replicas.
func newChangelog(name string, partitions int32) kmsg.CreateTopicsRequestTopic {
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, partitions, -1
	policy := kmsg.NewCreateTopicsRequestTopicConfig()
	policy.Name, policy.Value = "cleanup.policy", kmsg.StringPtr("compact")
	rt.Configs = append(rt.Configs, policy)
	return rt
}

// create makes topics. One that somebody else made meanwhile is fine.
func (t *topics) create(ctx context.Context, req *kmsg.CreateTopicsRequest) error {
	if len(req.Topics) == 0 {
		return nil
	}
	resp, err := req.RequestWith(ctx, t.all.Client())
	if err != nil {
		return fmt.Errorf("create changelog topic %q: %w", req.Topics[0].Topic, err)
	}
	var errs []error
	for _, rt := range resp.Topics {
		errs = append(errs, changelogError("create", rt.Topic, rt.ErrorCode, rt.ErrorMessage, kerr.TopicAlreadyExists))
	}
	return errors.Join(errs...)
}

// grow adds partitions to topics. One that has as many by now is fine.
func (t *topics) grow(ctx context.Context, req *kmsg.CreatePartitionsRequest) error {
	if len(req.Topics) == 0 {
		return nil
	}
	resp, err := req.RequestWith(ctx, t.all.Client())
	if err != nil {
		return fmt.Errorf("add partitions to changelog topic %q: %w", req.Topics[0].Topic, err)
	}
	var errs []error
	for _, rt := range resp.Topics {
		errs = append(errs, changelogError("add partitions to", rt.Topic, rt.ErrorCode, rt.ErrorMessage, kerr.InvalidPartitions))
	}
	return errors.Join(errs...)
}

// changelogError names the topic, with what the broker says besides the code.
// fine is the error by which it says that another was faster.
func changelogError(what, topic string, code int16, text *string, fine error) error {
	err := kerr.ErrorForCode(code)
	switch {
	case err == nil || errors.Is(err, fine):
		return nil
	case text != nil && *text != "":
		return fmt.Errorf("%s changelog topic %q: %w (%s)", what, topic, err, *text)
	}
	return fmt.Errorf("%s changelog topic %q: %w", what, topic, err)
}
