package controltopic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
)

const readBackWait = 200 * time.Millisecond

// UnsureError says that a record may have been written, or not.
type UnsureError struct {
	Topic string
	Key   string
	Err   error
}

func (e *UnsureError) Error() string {
	return fmt.Sprintf("record %q of control topic %q may or may not have been written: %v", e.Key, e.Topic, e.Err)
}

func (e *UnsureError) Unwrap() error { return e.Err }

// Write writes a record and reads it back; the topic is created when there is
// none. The record may have been written nevertheless when the error is an
// *UnsureError: writing it again does no harm.
func (t *Topic) Write(ctx context.Context, r control.Record) (offset int64, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if len(r.Value) > control.MaxValue {
		return 0, t.tooLarge(r)
	}
	if _, err := t.Ensure(ctx); err != nil {
		return 0, err
	}
	if offset, err = t.accepted(ctx, r); err != nil {
		return 0, err
	}
	if err := t.readBack(ctx, r, offset); err != nil {
		return 0, errs.WithHint(&UnsureError{t.name, r.Key, fmt.Errorf("it was accepted at offset %d, but reading it back failed: %w", offset, err)},
			"run it again: the same record twice does no harm")
	}
	return offset, nil
}

// Put writes a record without reading it back; the topic is created when there is
// none. It is for what is written again and again, by many: a topic that a Follow
// or a Put has just seen is not looked for.
func (t *Topic) Put(ctx context.Context, r control.Record) (err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if len(r.Value) > control.MaxValue {
		return t.tooLarge(r)
	}
	defer func() { t.written.Store(err == nil) }()
	if !t.written.Load() {
		if _, found := t.found(); found {
			err = t.check(ctx)
		} else {
			_, err = t.Ensure(ctx)
		}
		if err != nil {
			return err
		}
	}
	_, err = t.accepted(ctx, r)
	return err
}

func (t *Topic) tooLarge(r control.Record) error {
	return fmt.Errorf("record %q of control topic %q has %d bytes, at most %d are read", r.Key, t.name, len(r.Value), control.MaxValue)
}

// accepted writes a record, and explains why it could not.
func (t *Topic) accepted(ctx context.Context, r control.Record) (int64, error) {
	offset, err := t.produce(ctx, r)
	if isStale(err) { // the topic was made anew since this client saw it
		t.forget()
		t.cl.PurgeTopicsFromClient(t.name)
		offset, err = t.produce(ctx, r)
	}
	switch {
	case err == nil:
		return offset, nil
	case isDenied(err), errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge), errors.Is(err, kerr.PolicyViolation):
		return 0, explain(t.name, writing, err)
	}
	return 0, errs.WithHint(&UnsureError{t.name, r.Key, err}, "run it again: the same record twice does no harm")
}

func isStale(err error) bool {
	return errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.InconsistentTopicID)
}

// produce returns when the record is in all replicas in sync, or when ctx ends:
// the client would wait for a broker that hangs.
func (t *Topic) produce(ctx context.Context, r control.Record) (int64, error) {
	type result struct {
		offset int64
		err    error
	}
	done := make(chan result, 1)
	rec := &kgo.Record{Topic: t.name, Partition: 0, Key: []byte(r.Key)}
	if len(r.Value) > 0 {
		rec.Value = r.Value
	}
	t.cl.Produce(ctx, rec, func(rec *kgo.Record, err error) { done <- result{rec.Offset, err} })
	select {
	case got := <-done:
		return got.offset, got.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// readBack makes sure that the log holds the record at the offset.
func (t *Topic) readBack(ctx context.Context, want control.Record, offset int64) error {
	at, err := t.find(ctx)
	var before error
	for try := 1; err == nil; try++ {
		var a answer
		a, err = fetch(ctx, t.send, at, offset, readBackWait, &unpacker{})
		if err == nil {
			for _, r := range a.records {
				if r.Offset == offset {
					return same(r, want)
				}
			}
			if a.next > offset {
				return errors.New("there is no such record")
			}
		} else if !again(err) && !errors.Is(err, kerr.OffsetOutOfRange) {
			break
		}
		if clock.Sleep(ctx, backoff(try)) != nil {
			return ended(ctx, context.Cause(ctx), err)
		}
		before = err
		at, err = t.find(ctx)
	}
	return explain(t.name, reading, ended(ctx, err, before))
}

func same(got, want control.Record) error {
	if got.Key != want.Key || !bytes.Equal(got.Value, want.Value) {
		return fmt.Errorf("another record is there, with key %q", got.Key)
	}
	return nil
}
