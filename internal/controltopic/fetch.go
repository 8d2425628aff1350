package controltopic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/control"
)

var (
	errMissing   = errors.New("it does not exist")
	errNoAnswer  = errors.New("the broker did not say anything about it")
	errNoHeadway = errors.New("the broker answers with bytes that are no records")
)

const (
	fetchBytes   = 8 << 20
	emptyAnswers = 3 // after so many the end counts as reached: a compacted tail may hold nothing
)

// AnyBroker is the number of no broker in particular.
const AnyBroker int32 = -1

// Send asks one broker, or AnyBroker. It does not come back later than its
// context allows, or a request may take.
type Send func(ctx context.Context, broker int32, req kmsg.Request) (kmsg.Response, error)

// Place is where the one partition of a control topic is.
type Place struct {
	Topic  string
	ID     [16]byte // zero where brokers have no ids of topics (before 2.8)
	Leader int32    // number of the broker that leads it

	Partitions int // that the topic has; 0: not known
}

// locate finds the topic; errMissing when there is none.
func locate(ctx context.Context, send Send, topic string) (Place, error) {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, t)
	kresp, err := send(ctx, AnyBroker, req)
	if err != nil {
		return Place{}, err
	}
	resp := kresp.(*kmsg.MetadataResponse)
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil && *t.Topic == topic {
			return placeOf(topic, t)
		}
	}
	return Place{}, errNoAnswer
}

func placeOf(topic string, t *kmsg.MetadataResponseTopic) (Place, error) {
	switch err := kerr.ErrorForCode(t.ErrorCode); {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return Place{}, errMissing
	case err != nil:
		return Place{}, err
	}
	for i := range t.Partitions {
		p := &t.Partitions[i]
		if p.Partition != 0 {
			continue
		}
		if p.Leader < 0 {
			return Place{}, kerr.LeaderNotAvailable
		}
		return Place{Topic: topic, ID: t.TopicID, Leader: p.Leader, Partitions: len(t.Partitions)}, nil
	}
	return Place{}, errNoAnswer
}

// answer is what one fetch gave.
type answer struct {
	records []control.Record
	next    int64 // offset to go on from
	end     int64 // of the log
	skipped error // a batch that was passed over
	empty   bool  // no bytes at all, and not because the broker slows us down
}

// fetch reads once from an offset on; without any news it waits so long.
func fetch(ctx context.Context, send Send, at Place, from int64, wait time.Duration, u *unpacker) (answer, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis = int32(wait.Milliseconds())
	req.MinBytes = 1
	req.MaxBytes = fetchBytes
	req.SessionID, req.SessionEpoch = 0, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = at.Topic, at.ID
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = from, fetchBytes, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	kresp, err := send(ctx, at.Leader, req)
	if err != nil {
		return answer{}, err
	}
	resp := kresp.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return answer{}, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return answer{}, errNoAnswer
	}
	got := &resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(got.ErrorCode); err != nil {
		return answer{}, err
	}
	a := answer{end: got.HighWatermark, empty: len(got.RecordBatches) == 0 && resp.ThrottleMillis == 0}
	a.records, a.next, a.skipped = unpack(at.Topic, got, from, u)
	if len(got.RecordBatches) > 0 && a.next == from {
		return answer{}, errNoHeadway
	}
	return a, nil
}

// logStart asks for the first offset that there is.
func logStart(ctx context.Context, send Send, at Place) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = at.Topic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -2
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	kresp, err := send(ctx, at.Leader, req)
	if err != nil {
		return 0, err
	}
	resp := kresp.(*kmsg.ListOffsetsResponse)
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return 0, errNoAnswer
	}
	got := &resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(got.ErrorCode); err != nil {
		return 0, err
	}
	return got.Offset, nil
}

// moved reports an error after which the topic has to be looked up again.
func moved(err error) bool {
	for _, e := range []error{
		kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID, kerr.NotLeaderForPartition, kerr.LeaderNotAvailable,
		kerr.ReplicaNotAvailable, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch, kerr.OffsetNotAvailable, kerr.KafkaStorageError, errNoAnswer,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// goneBroker is what the client says of a broker that the cluster does not list
// any more; it has no other name for it.
const goneBroker = "unknown broker"

// again reports an error after which another try may do better: the topic has
// moved, or the broker that was asked cannot be reached, as when it has just died
// and the others do not know yet.
func again(err error) bool {
	if moved(err) || kgo.IsRetryableBrokerErr(err) || strings.Contains(err.Error(), goneBroker) {
		return true
	}
	dial, ok := errors.AsType[*net.OpError](err)
	if !ok || dial.Op != "dial" {
		return false
	}
	dns, ok := errors.AsType[*net.DNSError](err) // a name that is not known is a mistake
	return (!ok || !dns.IsNotFound) && !errors.Is(err, fs.ErrPermission)
}

// ended adds to the error of a try that ctx cut short what the try before it
// failed of.
func ended(ctx context.Context, err, before error) error {
	if before == nil || err == nil || ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return fmt.Errorf("%w (%w)", before, err)
}

// TooLargeError says that a control topic holds more than a reader keeps.
type TooLargeError struct{ Topic string }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("control topic %q holds more than %d MiB of records that streamctl knows", e.Topic, maxKept>>20)
}
