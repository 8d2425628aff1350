package taskrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topics is what the brokers say of the topics of one instance: ids, partitions
// and their leaders. One answer serves all who ask meanwhile: where topics have
// thousands of partitions these answers are most of what an instance has to read,
// and each instance of a large group has to read them whole. It is safe for use
// by several goroutines.
type Topics struct {
	cl      *kgo.Client
	names   []string
	turn    chan struct{}             // full while somebody asks
	last    map[string]look           // the last answer, by topic; guarded by turn
	doubted atomic.Pointer[time.Time] // of the last Doubt: older answers do not count
}

// look is what was said of one topic.
type look struct {
	began time.Time
	topic TopicInfo
}

// TopicInfo is what a broker says of a topic.
type TopicInfo struct {
	ID      [16]byte
	Leaders []int32 // by partition, -1: none at the moment
	Err     error   // names the topic; nil when it is there
}

// OpenTopics makes the client that asks for the named topics; opts name the
// cluster and how to log in. Nothing is sent yet.
func OpenTopics(opts []kgo.Opt, names []string) (*Topics, error) {
	own := []kgo.Opt{kgo.MetadataMinAge(lookEvery / 2), kgo.DisableClientMetrics()} // it moves no records: there is nothing to measure
	cl, err := kgo.NewClient(slices.Concat(opts, own)...)
	if err != nil {
		return nil, fmt.Errorf("client of the topics: %w", err)
	}
	return &Topics{cl: cl, names: slices.Compact(slices.Sorted(slices.Values(names))), turn: make(chan struct{}, 1), last: map[string]look{}}, nil
}

// Client is the client that asks. It has no partitions.
func (t *Topics) Client() *kgo.Client { return t.cl }

// Close ends the connections.
func (t *Topics) Close() { t.cl.Close() }

// Doubt says that a request that relied on the last answer has failed: whoever
// asks next gets a new answer, and the client looks for the brokers anew.
func (t *Topics) Doubt() {
	now := time.Now()
	t.doubted.Store(&now)
	t.cl.ForceMetadataRefresh()
}

// All gives all topics by name, as they were at some moment after since.
func (t *Topics) All(ctx context.Context, since time.Time) (map[string]TopicInfo, error) {
	return t.look(ctx, since, t.names)
}

// look gives some topics by name, as they were at some moment after since.
func (t *Topics) look(ctx context.Context, since time.Time, names []string) (map[string]TopicInfo, error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("metadata: %w", context.Cause(ctx))
	}
	defer func() { <-t.turn }()
	if d := t.doubted.Load(); d != nil && d.After(since) {
		since = *d
	}
	var old []string
	for _, name := range names {
		if x, ok := t.last[name]; !ok || !x.began.After(since) {
			old = append(old, name)
		}
	}
	began := time.Now()
	found, err := t.ask(ctx, old)
	if err != nil {
		return nil, err
	}
	for name, x := range found {
		t.last[name] = look{began, x}
	}
	out := map[string]TopicInfo{}
	for _, name := range names {
		out[name] = t.last[name].topic
	}
	return out, nil
}

// Find gives the topics of partitions as they were at some moment after since;
// those of which some have no leader in that answer are looked for anew.
func (t *Topics) Find(ctx context.Context, since time.Time, parts map[string][]int32) (map[string]TopicInfo, error) {
	now := time.Now()
	topics, err := t.look(ctx, since, slices.Sorted(maps.Keys(parts)))
	if err != nil {
		return nil, err
	}
	var lacking []string
	for topic, ps := range parts {
		if !topics[topic].has(ps) {
			lacking = append(lacking, topic)
		}
	}
	again, err := t.look(ctx, now, lacking)
	if err != nil {
		return nil, err
	}
	maps.Copy(topics, again)
	return topics, nil
}

// ask asks for topics. It asks a broker itself: an answer that goes through the
// client is kept there by topic and partition, which costs more than reading it.
func (t *Topics) ask(ctx context.Context, names []string) (map[string]TopicInfo, error) {
	out := map[string]TopicInfo{}
	if len(names) == 0 {
		return out, nil
	}
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		out[name] = TopicInfo{Err: fmt.Errorf("topic %q: not in the answer", name)}
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, rt)
	}
	resp, err := t.metadata(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	for _, rt := range resp.Topics {
		if rt.Topic == nil || !slices.Contains(names, *rt.Topic) {
			continue
		}
		x := TopicInfo{ID: rt.TopicID, Leaders: make([]int32, len(rt.Partitions))}
		if err := kerr.ErrorForCode(rt.ErrorCode); err != nil {
			x.Err = fmt.Errorf("topic %q: %w", *rt.Topic, err)
		}
		for i := range x.Leaders {
			x.Leaders[i] = -1
		}
		for _, rp := range rt.Partitions {
			if rp.Partition >= 0 && int(rp.Partition) < len(x.Leaders) {
				x.Leaders[rp.Partition] = rp.Leader
			}
		}
		out[*rt.Topic] = x
	}
	return out, nil
}

// metadata asks the first broker that answers; when none does, it is left to the
// client, which tries for a while.
func (t *Topics) metadata(ctx context.Context, req *kmsg.MetadataRequest) (*kmsg.MetadataResponse, error) {
	brokers := t.cl.DiscoveredBrokers()
	rand.Shuffle(len(brokers), func(i, j int) { brokers[i], brokers[j] = brokers[j], brokers[i] }) // not all instances the same one
	for _, b := range append(brokers, t.cl.SeedBrokers()...) {
		kresp, err := b.Request(ctx, req)
		if resp, ok := kresp.(*kmsg.MetadataResponse); err == nil && ok {
			return resp, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(err, context.Cause(ctx))
		}
	}
	return req.RequestWith(ctx, t.cl)
}

// has reports whether all of the partitions are there, with a leader.
func (x TopicInfo) has(partitions []int32) bool {
	for _, p := range partitions {
		if int(p) >= len(x.Leaders) || x.Leaders[p] < 0 {
			return false
		}
	}
	return x.Err == nil
}
