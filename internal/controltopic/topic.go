package controltopic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
)

const (
	requestTimeout = 10 * time.Second // of one request
	defaultTimeout = 30 * time.Second // of a call whose context has no deadline
	brokersAtMost  = 3                // replicas
	batchBytes     = 1048588          // what a broker takes by default

	defaultTombstones = 24 * time.Hour // delete.retention.ms where it cannot be read
	keyTombstones     = "delete.retention.ms"
	keyPolicy         = "cleanup.policy"
)

// Topic is the control topic of one group, on a client of its own. It is safe
// for use by several goroutines.
type Topic struct {
	name    string
	cl      *kgo.Client
	adm     *kadm.Client
	request time.Duration
	checked atomic.Bool // the settings of a topic that was there were looked at
	written atomic.Bool // the last Put succeeded

	mu     sync.Mutex
	seen   Place // where it was found last
	seenAt time.Time
	config map[string]string // its settings, as they were read last
	readAt time.Time
}

// recent is how long what was found out about the topic counts without another
// look.
const recent = 5 * time.Second

// Open makes the client; opts name the cluster and how to log in. Nothing is
// sent yet.
func Open(opts []kgo.Opt, group string) (*Topic, error) {
	own := []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.DisableIdempotentWrite(), // no InitProducerID: it would need a permission, and a record twice does no harm
		kgo.ProducerLinger(0),
		kgo.ProducerBatchMaxBytes(batchBytes),
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.UnknownTopicRetries(10),
		kgo.DisableClientMetrics(), // a record now and then: there is nothing to measure
	}
	cl, err := kgo.NewClient(append(slices.Clone(opts), own...)...)
	if err != nil {
		return nil, fmt.Errorf("control topic of group %q: %w", group, err)
	}
	return &Topic{name: control.TopicName(group), cl: cl, adm: kadm.NewClient(cl), request: requestTimeout}, nil
}

// Close ends the connections.
func (t *Topic) Close() { t.cl.Close() }

// Name is the name of the topic.
func (t *Topic) Name() string { return t.name }

// send is Send by the topic's own client.
func (t *Topic) send(ctx context.Context, broker int32, req kmsg.Request) (kmsg.Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.request, fmt.Errorf("no answer within %s", t.request))
	defer cancel()
	var resp kmsg.Response
	var err error
	if broker == AnyBroker {
		resp, err = t.cl.Request(ctx, req)
	} else {
		resp, err = t.cl.Broker(int(broker)).Request(ctx, req)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return resp, err
}

// bounded gives ctx a deadline where it has none.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, defaultTimeout)
}

// Ensure makes sure that the topic is there, and says whether it was created
// just now (settings: docs/protocol/control.md). A topic that is there, but is
// not compacted, is refused: it would forget marks.
func (t *Topic) Ensure(ctx context.Context) (created bool, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err = t.find(ctx)
	switch {
	case err == nil:
		return false, t.check(ctx)
	case !errors.Is(err, errMissing):
		return false, explain(t.name, reading, err)
	}
	if created, err = t.create(ctx); err != nil {
		return false, explain(t.name, creating, err)
	}
	_, err = t.appear(ctx)
	return created, explain(t.name, reading, err)
}

// newSettings are those of the topic as we create it.
func newSettings() map[string]*string {
	return map[string]*string{
		keyPolicy:                   kadm.StringPtr("compact"),
		"retention.ms":              kadm.StringPtr("-1"),
		"min.insync.replicas":       kadm.StringPtr("1"),
		"segment.ms":                kadm.StringPtr("3600000"),
		"min.cleanable.dirty.ratio": kadm.StringPtr("0.1"),
		keyTombstones:               kadm.StringPtr("86400000"),
	}
}

func (t *Topic) create(ctx context.Context) (created bool, err error) {
	replicas := int16(-1) // the broker's default, where it cannot be told how many there are
	// Not by ListBrokers, which asks for all topics of the cluster as well.
	if m, err := t.adm.BrokerMetadata(ctx); err == nil && len(m.Brokers) > 0 {
		replicas = int16(min(brokersAtMost, len(m.Brokers)))
	}
	resp, err := t.adm.CreateTopic(ctx, 1, replicas, newSettings(), t.name)
	if errors.Is(err, kerr.InvalidReplicationFactor) && replicas > 0 {
		resp, err = t.adm.CreateTopic(ctx, 1, -1, newSettings(), t.name)
	}
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists):
		return false, nil
	case err != nil && resp.ErrMessage != "" && !isDenied(err):
		return false, fmt.Errorf("%w: %s", err, resp.ErrMessage)
	}
	return err == nil, err
}

// find looks the topic up; a partition without leader is waited for, and so are
// brokers that cannot be reached.
func (t *Topic) find(ctx context.Context) (Place, error) {
	var before error
	for try := 1; ; try++ {
		at, err := t.locate(ctx)
		if err == nil || !again(err) || clock.Sleep(ctx, backoff(try)) != nil {
			return at, ended(ctx, err, before)
		}
		before = err
	}
}

// appear waits until a topic that was created is known.
func (t *Topic) appear(ctx context.Context) (Place, error) {
	for try := 1; ; try++ {
		at, err := t.find(ctx)
		if !errors.Is(err, errMissing) || clock.Sleep(ctx, backoff(try)) != nil {
			return at, err
		}
	}
}

// check refuses a topic that has several partitions, or is not compacted.
// Settings that may not be seen are taken to be right.
func (t *Topic) check(ctx context.Context) error {
	if at, ok := t.found(); ok && at.Partitions > 1 {
		return at.several()
	}
	if t.checked.Load() {
		return nil
	}
	policy, ok := t.setting(ctx, keyPolicy)
	if ok && policy != "compact" {
		return errs.WithHint(
			fmt.Errorf("control topic %q is not compacted: its %s is %q, so that marks would be forgotten", t.name, keyPolicy, policy),
			fmt.Sprintf("set it: kafka-configs.sh --alter --topic %s --add-config %s=compact,retention.ms=-1", t.name, keyPolicy))
	}
	t.checked.Store(ok)
	return nil
}

// setting reads one setting of the topic, as far as that is allowed.
func (t *Topic) setting(ctx context.Context, key string) (string, bool) {
	t.mu.Lock()
	config, at := t.config, t.readAt
	t.mu.Unlock()
	if config == nil || time.Since(at) > recent {
		config = t.settings(ctx)
	}
	value, ok := config[key]
	return value, ok
}

// settings reads all settings of the topic, as far as that is allowed.
func (t *Topic) settings(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, t.request)
	defer cancel()
	all, err := t.adm.DescribeTopicConfigs(ctx, t.name)
	if err != nil {
		return nil
	}
	one, err := all.On(t.name, nil)
	if err != nil || one.Err != nil {
		return nil
	}
	config := map[string]string{}
	for _, c := range one.Configs {
		if c.Value != nil {
			config[c.Key] = *c.Value
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.config, t.readAt = config, time.Now()
	return config
}

// locate looks the topic up, once.
func (t *Topic) locate(ctx context.Context) (Place, error) {
	at, err := locate(ctx, t.send, t.name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.seen, t.seenAt = at, time.Now()
	} else {
		t.seenAt = time.Time{}
	}
	return at, err
}

// found is where the topic was found, if that is recent.
func (t *Topic) found() (Place, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen, !t.seenAt.IsZero() && time.Since(t.seenAt) < recent
}

// forget has the topic looked up again.
func (t *Topic) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seenAt, t.config = time.Time{}, nil
}

// Read reads the whole topic.
func (t *Topic) Read(ctx context.Context) (Contents, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	at, err := t.find(ctx)
	if errors.Is(err, errMissing) {
		return Contents{Missing: true}, nil
	}
	if err != nil {
		return Contents{}, explain(t.name, reading, err)
	}
	return ReadAt(ctx, t.send, at)
}
