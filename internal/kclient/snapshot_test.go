package kclient

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// shop fills the cluster with one stateful classic group and a topic that is
// not its business.
func shop(t *testing.T, f *fake) {
	t.Helper()
	f.topic("orders", 2, 10, 20)
	f.topic("shop-bykey-changelog", 2, 5, 6)
	f.topic("other", 1, 3)
	f.commit("shop", "orders", 4, 20) // from outside, while it is Empty
	f.join("shop", "consumer", "stream",
		streamsMember(t, "shop-StreamThread-1-consumer", []string{"orders"}, runsOf("orders", 0)),
		streamsMember(t, "shop-StreamThread-2-consumer", []string{"orders"}, runsOf("orders", 1)))
}

func TestDescribeClassic(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.forget()
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	if len(s.Errors) != 0 {
		t.Fatalf("errors: %+v", s.Errors)
	}
	if s.ClusterID == nil || *s.ClusterID != "cluster-of-the-test" || len(s.Brokers) != 1 || !s.TakenAt.Equal(testTime()) {
		t.Errorf("head: cluster %v, %d brokers, at %v", s.ClusterID, len(s.Brokers), s.TakenAt)
	}
	g := s.Group("shop")
	if g == nil || g.Classic == nil || g.Streams != nil || g.Consumer != nil {
		t.Fatalf("group: %+v", g)
	}
	if g.Coordinator == nil || g.Classic.State != "Stable" || g.Classic.Protocol != "stream" || len(g.Classic.Members) != 2 {
		t.Errorf("classic: %+v", g.Classic)
	}
	for _, m := range g.Classic.Members {
		if len(m.Metadata) == 0 || len(m.Assignment) == 0 {
			t.Errorf("member %s without bytes", m.ID)
		}
	}
	if !g.CommitsRead || len(g.Commits) != 2 || g.Commits[0].Offset != 4 || g.Commits[1].Offset != 20 {
		t.Errorf("commits: %+v", g.Commits)
	}
	var names []string
	for _, topic := range s.Topics {
		names = append(names, topic.Name)
	}
	if want := []string{"orders", "shop-bykey-changelog"}; !slices.Equal(names, want) {
		t.Errorf("topics %q, want %q", names, want)
	}
	for topic, ends := range map[string][]int64{"orders": {10, 20}, "shop-bykey-changelog": {5, 6}} {
		for p, end := range ends {
			l := logOf(t, s, topic, int32(p))
			if l.Start == nil || *l.Start != 0 || l.End == nil || *l.End != end || l.StableEnd != nil {
				t.Errorf("log %s-%d: start %v end %v", topic, p, l.Start, l.End)
			}
		}
	}
	if len(s.LogSizes) != 2 || s.Options[OptionLogDirs] != "read" {
		t.Errorf("log sizes: %+v, option %q", s.LogSizes, s.Options[OptionLogDirs])
	}
	if len(s.APIVersions) != 1 || len(s.APIVersions[0].Keys) < 20 {
		t.Errorf("api versions: %+v", s.APIVersions)
	}
	// One connection's ApiVersions, brokers, coordinator, describe, commits,
	// configs, versions, all topics, two offsets, sizes.
	if n := len(f.keys()); n > 11 {
		t.Errorf("%d requests: %v", n, f.keys())
	}
}

// Field case 46: commits are read before ends.
func TestFieldCase46CommitsBeforeEnds(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.forget()
	f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	keys := f.keys()
	commits, ends := slices.Index(keys, keyOffsetFetch), slices.Index(keys, kmsg.NewPtrListOffsetsRequest().Key())
	if commits < 0 || ends < commits {
		t.Errorf("order of requests: %v", keys)
	}
}

func TestStableEnds(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	q := DescribeQuery("shop")
	q.StableEnds = true
	s := f.read(within(t, 10*time.Second), q)
	if l := logOf(t, s, "orders", 1); l.StableEnd == nil || *l.StableEnd != 20 {
		t.Errorf("log: %+v", l)
	}
}

// The same answers in any order make the same bytes.
func TestOrderOfAnswers(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(3))
	shop(t, f)
	q := DescribeQuery("shop")
	q.ListAll, q.APIVersions, q.AuthorizedOps = true, true, true
	want := f.fileOf(t, q)
	rng := rand.New(rand.NewPCG(1, 2))
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) { shuffle(rng, resp) })
	for range 3 {
		if got := f.fileOf(t, q); !bytes.Equal(got, want) {
			t.Fatalf("differs:\n%s\nwant\n%s", got, want)
		}
	}
}

func (f *fake) fileOf(t *testing.T, q Query) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.read(within(t, 10*time.Second), q).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func shuffle(rng *rand.Rand, resp kmsg.Response) {
	switch r := resp.(type) {
	case *kmsg.MetadataResponse:
		mix(rng, r.Brokers)
		mix(rng, r.Topics)
		for i := range r.Topics {
			mix(rng, r.Topics[i].Partitions)
		}
	case *kmsg.DescribeGroupsResponse:
		mix(rng, r.Groups)
		for i := range r.Groups {
			mix(rng, r.Groups[i].Members)
		}
	case *kmsg.OffsetFetchResponse:
		for i := range r.Groups {
			mix(rng, r.Groups[i].Topics)
			for j := range r.Groups[i].Topics {
				mix(rng, r.Groups[i].Topics[j].Partitions)
			}
		}
	case *kmsg.ListOffsetsResponse:
		mix(rng, r.Topics)
		for i := range r.Topics {
			mix(rng, r.Topics[i].Partitions)
		}
	case *kmsg.ListGroupsResponse:
		mix(rng, r.Groups)
	case *kmsg.DescribeLogDirsResponse:
		mix(rng, r.Dirs)
		for i := range r.Dirs {
			mix(rng, r.Dirs[i].Topics)
		}
	case *kmsg.ApiVersionsResponse:
		mix(rng, r.ApiKeys)
		mix(rng, r.SupportedFeatures)
	}
}

func mix[T any](rng *rand.Rand, s []T) {
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}
