package controltopic_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
)

// A record is put whether the topic is there, is not, or has gone since.
func TestPut(t *testing.T) {
	r := newRig(t)
	topic := r.open()
	for i := range 3 {
		var err error
		for range 3 { // who has written before sees by an error that the topic is gone
			if err = topic.Put(within(t, 10*time.Second), mark(t, "m-1")); err == nil {
				break
			}
		}
		if err != nil {
			t.Fatalf("time %d: %v", i, err)
		}
		c, err := topic.Read(within(t, 5*time.Second))
		if err != nil || len(c.Records) != 1 {
			t.Fatalf("time %d: %+v, %v", i, c, err)
		}
		r.remove()
	}
}

// A topic that takes small records only is named, with what to set.
func TestPutIntoATopicOfSmallRecords(t *testing.T) {
	r := newRig(t)
	r.create(map[string]*string{"cleanup.policy": kmsg.StringPtr("compact"), "max.message.bytes": kmsg.StringPtr("100")})
	err := r.open().Put(within(t, 5*time.Second), mark(t, "m-1"))
	if !errors.Is(err, kerr.MessageTooLarge) || !slices.ContainsFunc(errs.Hints(err), func(h string) bool {
		return strings.Contains(h, "--topic "+topicName+" --add-config max.message.bytes=1048588")
	}) {
		t.Errorf("%v, hints %q", err, errs.Hints(err))
	}
}

// Who follows the topic puts a record by one request, and by one look of the
// client that writes: of a large group every instance does.
func TestPutAsksForNothingThatIsKnown(t *testing.T) {
	r := newRig(t)
	r.create(map[string]*string{"cleanup.policy": kmsg.StringPtr("compact")})
	var counts [128]atomic.Int32
	r.c.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		r.c.KeepControl()
		counts[req.Key()].Add(1)
		return nil, nil, false
	})
	topic := r.open()
	s := follow(t, topic)
	s.until(t, "the topic is read", func() bool { return len(s.wholes) == 1 })
	count := func(key kmsg.Key) int32 { return counts[key.Int16()].Load() }
	looks := count(kmsg.Metadata)
	for n := range 3 {
		if err := topic.Put(within(t, 5*time.Second), control.Record{Key: "status/" + instanceA, Value: []byte{'{', '}'}}); err != nil {
			t.Fatalf("record %d: %v", n, err)
		}
	}
	if got := count(kmsg.Metadata) - looks; got > 1 {
		t.Errorf("%d looks at the topic", got)
	}
	if got := count(kmsg.DescribeConfigs); got != 1 {
		t.Errorf("its settings were read %d times", got)
	}
	if got := count(kmsg.Produce); got != 3 {
		t.Errorf("%d writes", got)
	}
	if got := count(kmsg.CreateTopics); got != 0 {
		t.Errorf("it was created %d times", got)
	}
}
