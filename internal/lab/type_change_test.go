package lab

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A group that changes its type keeps its commits, also while the cluster was
// told to refuse some.
func TestTypeChangeKeepsCommits(t *testing.T) {
	t.Parallel()
	l, err := Start(Options{MinSession: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	l.LetTypesChange()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := l.Cluster().CreateTopic("in", 2, nil); err != nil {
		t.Fatal(err)
	}
	sit := func(protocol string) (leave func()) {
		in := make(chan struct{})
		cl, err := kgo.NewClient(
			kgo.SeedBrokers(l.Cluster().ListenAddrs()...), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("in"), kgo.GroupProtocol(protocol), kgo.DisableAutoCommit(),
			kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { close(in) }),
		)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-in:
		case <-ctx.Done():
			t.Fatalf("type %s never got in", protocol)
		}
		return cl.Close
	}
	sit("consumer")()
	at := kadm.Offsets{}
	at.AddOffset("in", 0, 7, -1)
	at.AddOffset("in", 1, 9, -1)
	if err := l.admin.CommitAllOffsets(ctx, "g", at); err != nil {
		t.Fatal(err)
	}
	fault := l.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: "g", Err: kerr.IllegalGeneration, Count: 2})
	t.Cleanup(sit("stream"))
	if fault.Hits() != 2 {
		t.Errorf("%d commits were refused: the test shows nothing", fault.Hits())
	}
	got, err := l.admin.FetchOffsets(ctx, "g")
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[int32]int64{0: 7, 1: 9} {
		if o, _ := got.Lookup("in", p); o.At != want {
			t.Errorf("partition %d is committed at %d, want %d", p, o.At, want)
		}
	}
}
