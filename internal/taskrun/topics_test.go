package taskrun

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// One answer serves everybody who asks meanwhile; what is not in it, or in
// doubt, is asked for again.
func TestTopicsAreAskedForTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	var inputs, clogs atomic.Int32
	r.c.ControlKey(kmsg.Metadata.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r.c.KeepControl()
		for _, rt := range req.(*kmsg.MetadataRequest).Topics {
			switch *rt.Topic {
			case input:
				inputs.Add(1)
			case clog:
				clogs.Add(1)
			}
		}
		return nil, nil, false
	})
	topics, err := OpenTopics([]kgo.Opt{kgo.SeedBrokers(r.c.ListenAddrs()...)}, []string{input, clog})
	ok(t, err)
	t.Cleanup(topics.Close)
	all := map[string][]int32{input: {0, 2}}
	find := func(parts map[string][]int32) map[string]TopicInfo {
		found, err := topics.Find(soon(t), time.Now().Add(-time.Hour), parts)
		if err != nil {
			t.Error(err)
		}
		return found
	}
	var together sync.WaitGroup
	for range 20 {
		together.Go(func() {
			if x := find(all)[input]; x.Err != nil || len(x.Leaders) != 3 {
				t.Errorf("%+v", x)
			}
		})
	}
	together.Wait()
	if inputs.Load() != 1 || clogs.Load() != 0 {
		t.Fatalf("the input was asked for %d times, the changelog %d times", inputs.Load(), clogs.Load())
	}
	find(map[string][]int32{input: {3}, clog: {1}})
	if inputs.Load() != 2 || clogs.Load() != 1 {
		t.Fatalf("with a partition that is not there the input was asked for %d times, the changelog %d times", inputs.Load(), clogs.Load())
	}
	topics.Doubt()
	find(all)
	if inputs.Load() != 3 {
		t.Fatalf("in doubt the input was asked for %d times", inputs.Load())
	}
	if found, err := topics.All(soon(t), time.Now().Add(-time.Hour)); err != nil || found[clog].Err != nil || inputs.Load() != 3 {
		t.Fatalf("%+v, %v; the input was asked for %d times", found, err, inputs.Load())
	}
}
