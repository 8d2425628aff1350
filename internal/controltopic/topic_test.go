package controltopic_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
	"github.com/streamctl/streamctl/internal/errs"
)

func TestEnsureCreatesTheTopicOnce(t *testing.T) {
	r := newRig(t, kfake.NumBrokers(5))
	topic := r.open()
	for i, want := range []bool{true, false} {
		if created, err := topic.Ensure(within(t, 5*time.Second)); err != nil || created != want {
			t.Fatalf("call %d: created %v, %v", i, created, err)
		}
	}
	all, err := r.adm.DescribeTopicConfigs(within(t, 5*time.Second), topicName)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range all[0].Configs {
		if c.Value != nil {
			got[c.Key] = *c.Value
		}
	}
	for key, want := range map[string]string{
		"cleanup.policy": "compact", "retention.ms": "-1", "min.insync.replicas": "1", "segment.ms": "3600000",
		"min.cleanable.dirty.ratio": "0.1", "delete.retention.ms": "86400000",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
	topics, err := r.adm.ListTopics(within(t, 5*time.Second), topicName)
	if err != nil {
		t.Fatal(err)
	}
	if p := topics[topicName].Partitions; len(p) != 1 || len(p[0].Replicas) != 3 {
		t.Errorf("partitions %+v, want one with three replicas", p)
	}
}

// Several that create it at the same time all go on; one of them did it.
func TestEnsureBesideOthers(t *testing.T) {
	const n = 4
	r := newRig(t)
	var asked sync.WaitGroup // all have seen that it is missing
	asked.Add(n)
	r.c.ControlKey(int16(kmsg.CreateTopics), func(kmsg.Request) (kmsg.Response, error, bool) {
		r.c.KeepControl()
		r.c.SleepControl(func() {
			asked.Done()
			asked.Wait()
		})
		return nil, nil, false
	})
	var created atomic.Int32
	var all sync.WaitGroup
	for range n {
		topic := r.open()
		all.Go(func() {
			mine, err := topic.Ensure(contextWithin(5 * time.Second))
			if err != nil {
				t.Error(err)
			}
			if mine {
				created.Add(1)
			}
		})
	}
	all.Wait()
	if created.Load() != 1 {
		t.Errorf("%d say that they created it", created.Load())
	}
}

// A topic that forgets marks is not used.
func TestTopicThatIsNotCompacted(t *testing.T) {
	r := newRig(t)
	r.create(map[string]*string{"cleanup.policy": kadm.StringPtr("delete")})
	_, err := r.open().Write(within(t, 5*time.Second), mark(t, "m-1"))
	if err == nil || !strings.Contains(err.Error(), `control topic "clicks-streamctl-control" is not compacted`) || len(errs.Hints(err)) == 0 {
		t.Fatalf("%v, hints %q", err, errs.Hints(err))
	}
}

func TestWriteCreatesAndReadsBack(t *testing.T) {
	r := newRig(t, kfake.NumBrokers(3))
	topic := r.open()
	if c, err := topic.Read(within(t, 5*time.Second)); err != nil || !c.Missing || len(c.Records) != 0 {
		t.Fatalf("before anything is written: %+v, %v", c, err)
	}
	for i, id := range []string{"m-1", "m-2"} {
		if offset, err := topic.Write(within(t, 5*time.Second), mark(t, id)); err != nil || offset != int64(i) {
			t.Fatalf("offset %d, %v", offset, err)
		}
	}
	if _, err := topic.Write(within(t, 5*time.Second), markOf(t, "m-3", instanceB)); err != nil {
		t.Fatal(err)
	}
	if offset, err := topic.Write(within(t, 5*time.Second), control.Withdrawal(instanceB)); err != nil || offset != 3 {
		t.Fatalf("tombstone at %d, %v", offset, err)
	}
	c, err := topic.Read(within(t, 5*time.Second))
	if err != nil || c.End != 4 || c.Missing || len(c.Records) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	s := control.Fold(c.Records)
	if l := s.Leaving[instanceA]; l.Mark != "m-2" || l.Offset != 1 || len(s.Leaving) != 1 {
		t.Errorf("marks: %+v", s.Leaving)
	}
}

func TestLargestValue(t *testing.T) {
	r := newRig(t)
	topic := r.open(kgo.ProducerBatchCompression(kgo.NoCompression()))
	rec := control.Record{Key: "status/" + instanceA, Value: []byte(strings.Repeat("x", control.MaxValue))}
	if _, err := topic.Write(within(t, 10*time.Second), rec); err != nil {
		t.Fatal(err)
	}
	rec.Value = append(rec.Value, 'x')
	if _, err := topic.Write(within(t, 10*time.Second), rec); err == nil || !strings.Contains(err.Error(), "has 1000001 bytes") {
		t.Fatal(err)
	}
}

// The topic was deleted, and made anew, behind the writer's back.
func TestWriteAfterTheTopicWasMadeAnew(t *testing.T) {
	r := newRig(t)
	topic := r.open()
	for i := range 3 {
		if offset, err := topic.Write(within(t, 10*time.Second), mark(t, "m-1")); err != nil || offset != 0 {
			t.Fatalf("time %d: offset %d, %v", i, offset, err)
		}
		r.remove()
	}
}

func secured(t *testing.T, allowed ...kmsg.ACLOperation) (*rig, *controltopic.Topic) {
	t.Helper()
	var acls []kfake.ACL
	for _, op := range allowed {
		acls = append(acls, kfake.ACL{
			Principal: "User:alice", Resource: kmsg.ACLResourceTypeTopic, Name: topicName, Pattern: kmsg.ACLResourcePatternTypeLiteral,
			Operation: op, Allow: true,
		})
	}
	r := rigWith(t, []kgo.Opt{kgo.SASL(plain.Auth{User: "root", Pass: "secret"}.AsMechanism())},
		kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "root", "secret"), kfake.User("PLAIN", "alice", "pw", acls...))
	return r, r.open(kgo.SASL(plain.Auth{User: "alice", Pass: "pw"}.AsMechanism()))
}

// A refusal names the topic, what may not be done, and the ACL to ask for.
func TestDenied(t *testing.T) {
	const (
		describe = kmsg.ACLOperationDescribe
		read     = kmsg.ACLOperationRead
		write    = kmsg.ACLOperationWrite
	)
	for _, c := range []struct {
		name    string
		allowed []kmsg.ACLOperation
		there   bool
		do      func(*controltopic.Topic) error
		needs   string
	}{
		{"read nothing", nil, true, readIt, "READ"},
		{"read with DESCRIBE only", []kmsg.ACLOperation{describe}, true, readIt, "READ"},
		{"write with READ only", []kmsg.ACLOperation{read, describe}, true, writeIt, "WRITE"},
		{"create", []kmsg.ACLOperation{read, describe, write}, false, writeIt, "CREATE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, topic := secured(t, c.allowed...)
			if c.there {
				r.create(map[string]*string{"cleanup.policy": kadm.StringPtr("compact")})
			}
			err := c.do(topic)
			denied, ok := errors.AsType[*controltopic.DeniedError](err)
			if !ok || denied.Topic != topicName || denied.Needs != c.needs || !strings.Contains(err.Error(), topicName) {
				t.Fatalf("%v (%#v)", err, denied)
			}
			if h := errs.Hints(err); len(h) != 1 || !strings.Contains(h[0], c.needs) || !strings.Contains(h[0], topicName) {
				t.Errorf("hints: %q", h)
			}
			if !errors.Is(err, kerr.TopicAuthorizationFailed) && !errors.Is(err, kerr.ClusterAuthorizationFailed) {
				t.Errorf("Kafka's own error is lost: %v", err)
			}
		})
	}
}

func readIt(topic *controltopic.Topic) error {
	_, err := topic.Read(contextWithin(5 * time.Second))
	return err
}

func writeIt(topic *controltopic.Topic) error {
	_, err := topic.Write(contextWithin(5*time.Second), control.Withdrawal(instanceA))
	return err
}

// What may be done with the topic works with just the permissions of
// docs/protocol/control.md.
func TestPermissionsAreEnough(t *testing.T) {
	r, topic := secured(t, kmsg.ACLOperationDescribe, kmsg.ACLOperationRead, kmsg.ACLOperationWrite)
	r.create(map[string]*string{"cleanup.policy": kadm.StringPtr("compact")})
	if err := writeIt(topic); err != nil {
		t.Fatal(err)
	}
	if err := readIt(topic); err != nil {
		t.Fatal(err)
	}
}

// A broker that does not answer costs the time given, no more.
func TestHangsAreBounded(t *testing.T) {
	for name, key := range map[string]kmsg.Key{"metadata": kmsg.Metadata, "fetch": kmsg.Fetch, "produce": kmsg.Produce} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			topic := r.open()
			if err := writeIt(topic); err != nil {
				t.Fatal(err)
			}
			free := make(chan struct{})
			defer close(free)
			r.c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
				r.c.KeepControl()
				r.c.SleepControl(func() { <-free })
				return nil, nil, false
			})
			began := time.Now()
			var err error
			if key == kmsg.Produce {
				_, err = topic.Write(within(t, 300*time.Millisecond), control.Withdrawal(instanceA))
				if _, ok := errors.AsType[*controltopic.UnsureError](err); !ok {
					t.Errorf("not said that it may have been written: %v", err)
				}
			} else {
				_, err = topic.Read(within(t, 300*time.Millisecond))
			}
			if took := time.Since(began); err == nil || took > 2*time.Second || !strings.Contains(err.Error(), topicName) {
				t.Errorf("%v after %s", err, took)
			}
		})
	}
}
