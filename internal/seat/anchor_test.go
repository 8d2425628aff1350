package seat_test

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/seat"
)

// anchored joins by a topic of one partition.
func anchored(name string) func(*member, *seat.Options) {
	return func(_ *member, o *seat.Options) { o.Anchor = name }
}

// Of seats that join by another topic only the leader looks at the sources; it is
// told their partitions, and new ones start a round.
func TestSeatsJoinByAnAnchor(t *testing.T) {
	t.Parallel()
	c, adm := cluster(t)
	if _, err := adm.CreateTopic(context.Background(), 1, 1, nil, "anchor"); err != nil {
		t.Fatal(err)
	}
	a := join(t, c, "a", anchored("anchor"))
	together(t, a)
	parts := 0
	until(t, "the leader knows the sources", func() bool {
		return a.look(func(m *member) bool { parts = int(m.parts[topic]); return parts > 0 })
	})
	b := join(t, c, "b", anchored("anchor"))
	generation := together(t, a, b)
	if _, err := adm.CreatePartitions(context.Background(), 2, topic); err != nil {
		t.Fatal(err)
	}
	until(t, "a round with the new partitions", func() bool {
		return a.look(func(m *member) bool { return int(m.parts[topic]) == parts+2 && m.last.Generation > generation })
	})
	together(t, a, b)
	// When the leader goes, the next one watches.
	if err := a.Leave(context.Background()); err != nil {
		t.Fatal(err)
	}
	until(t, "b leads", func() bool { return b.look(func(m *member) bool { return int(m.parts[topic]) == parts+2 }) })
	if _, err := adm.CreatePartitions(context.Background(), 1, topic); err != nil {
		t.Fatal(err)
	}
	until(t, "b sees new partitions", func() bool { return b.look(func(m *member) bool { return int(m.parts[topic]) == parts+3 }) })
}

// A follower that joins by an anchor never asks for the sources.
func TestAnchoredFollowerDoesNotLookAtSources(t *testing.T) {
	t.Parallel()
	c, adm := cluster(t)
	if _, err := adm.CreateTopic(context.Background(), 1, 1, nil, "anchor"); err != nil {
		t.Fatal(err)
	}
	id := [16]byte{1}
	known := func(_ *member, o *seat.Options) {
		o.TopicID = func(string) ([16]byte, bool) { return id, true }
	}
	a := join(t, c, "a", anchored("anchor"), known)
	together(t, a)
	asked := make(chan struct{}, 1)
	c.ControlKey(kmsg.Metadata.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if m := r.(*kmsg.MetadataRequest); m.Topics == nil || len(m.Topics) == 1 && m.Topics[0].Topic != nil && *m.Topics[0].Topic == topic {
			select {
			case asked <- struct{}{}:
			default:
			}
		}
		return nil, nil, false
	})
	together(t, a, join(t, c, "b", anchored("anchor"), known)) // the leader asks for both topics together
	select {
	case <-asked:
		t.Error("a follower asked for the sources")
	default:
	}
}

// A topic that is not there holds nobody up for long.
func TestAnchorThatDoesNotHold(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a", anchored("anchor"))
	together(t, a)
}

// Seats that have joined by a topic keep their places when it is deleted: rounds
// go on, new partitions start one, and who comes joins by the sources.
func TestAnchorIsDeleted(t *testing.T) {
	t.Parallel()
	c, adm := cluster(t)
	ctx := context.Background()
	if _, err := adm.CreateTopic(ctx, 1, 1, nil, "anchor"); err != nil {
		t.Fatal(err)
	}
	a, b := join(t, c, "a", anchored("anchor")), join(t, c, "b", anchored("anchor"))
	generation := together(t, a, b)
	if _, err := adm.DeleteTopic(ctx, "anchor"); err != nil {
		t.Fatal(err)
	}
	looked := make(chan struct{}, 100)
	c.ControlKey(kmsg.Metadata.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		for _, rt := range r.(*kmsg.MetadataRequest).Topics {
			if rt.Topic != nil && *rt.Topic == "anchor" {
				select {
				case looked <- struct{}{}:
				default:
				}
			}
		}
		return nil, nil, false
	})
	for range 4 { // both clients hear that it is gone
		<-looked
	}
	a.say("a again") // a follower gets a round only for metadata that differ
	a.Rejoin()
	until(t, "another round", func() bool { return together(t, a, b) > generation })
	parts := 0
	leader := func() bool {
		for _, m := range []*member{a, b} {
			m.look(func(m *member) bool { parts = max(parts, int(m.parts[topic])); return true })
		}
		return parts > 0
	}
	until(t, "a leader knows the sources", leader)
	had := parts
	if _, err := adm.CreatePartitions(ctx, 2, topic); err != nil {
		t.Fatal(err)
	}
	until(t, "a round with the new partitions", func() bool { return leader() && parts == had+2 })
	together(t, a, b, join(t, c, "c", anchored("anchor")))
}
