package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topics knows how many partitions the topics of the topology have, and makes
// the changelogs that are missing.
type topics struct {
	client   *kgo.Client
	topology []Subtopology
	names    []string // of inputs and changelogs

	mu   sync.Mutex
	seen map[string]int32
}

func openTopics(opts []kgo.Opt, topology []Subtopology) (*topics, error) {
	client, err := kgo.NewClient(append(slices.Clone(opts), kgo.MetadataMinAge(50*time.Millisecond))...)
	if err != nil {
		return nil, err
	}
	t := &topics{client: client, topology: topology, seen: map[string]int32{}}
	for _, s := range topology {
		t.names = append(t.names, s.inputs()...)
		if s.Stateful() {
			t.names = append(t.names, s.Changelog)
		}
	}
	t.names = unique(t.names)
	return t, nil
}

func (t *topics) close() { t.client.Close() }

// counts are the partitions by topic, as last seen.
func (t *topics) counts() map[string]int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.seen)
}

// refresh looks at the topics again if the last look is older than age, and
// makes changelogs whose inputs are there.
func (t *topics) refresh(ctx context.Context, age time.Duration) error {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range t.names {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, rt)
	}
	resp, err := t.client.RequestCachedMetadata(ctx, req, age)
	if err != nil {
		return fmt.Errorf("look at the topics of the topology: %w", err)
	}
	t.mu.Lock()
	for _, rt := range resp.Topics {
		if rt.Topic != nil && rt.ErrorCode == 0 {
			t.seen[*rt.Topic] = int32(len(rt.Partitions))
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
	create.TimeoutMillis, grow.TimeoutMillis = 5000, 5000
	need := map[string]int32{}
	for _, s := range t.topology {
		n := s.tasks(counts)
		if !s.Stateful() || n <= seen[s.Changelog] {
			continue
		}
		need[s.Changelog] = n
		if seen[s.Changelog] > 0 {
			rt := kmsg.NewCreatePartitionsRequestTopic()
			rt.Topic, rt.Count = s.Changelog, n
			grow.Topics = append(grow.Topics, rt)
			continue
		}
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = s.Changelog, n, -1 // -1: as the broker does by default
		policy := kmsg.NewCreateTopicsRequestTopicConfig()
		policy.Name, policy.Value = "cleanup.policy", kmsg.StringPtr("compact")
		rt.Configs = append(rt.Configs, policy)
		create.Topics = append(create.Topics, rt)
	}
	var errs []error
	if len(create.Topics) > 0 {
		resp, err := create.RequestWith(ctx, t.client)
		errs = append(errs, err)
		if err == nil {
			for _, rt := range resp.Topics {
				errs = append(errs, changelogError("create", rt.Topic, rt.ErrorCode, kerr.TopicAlreadyExists))
			}
		}
	}
	if len(grow.Topics) > 0 {
		resp, err := grow.RequestWith(ctx, t.client)
		errs = append(errs, err)
		if err == nil {
			for _, rt := range resp.Topics {
				errs = append(errs, changelogError("add partitions to", rt.Topic, rt.ErrorCode, kerr.InvalidPartitions))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(t.seen, need)
	return nil
}

// changelogError names the topic; one error says that another was faster.
func changelogError(what, topic string, code int16, fine error) error {
	err := kerr.ErrorForCode(code)
	if err == nil || errors.Is(err, fine) {
		return nil
	}
	return fmt.Errorf("%s changelog topic %q: %w", what, topic, err)
}
