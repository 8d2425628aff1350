package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/lab"
)

// The page shows the program as it stands here.
func TestThePageShowsTheProgram(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "howto", "worker.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(page), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	if !found || shown != string(program) {
		t.Error("docs/howto/worker.md has another program than examples/clicks/main.go")
	}
}

// It counts, keeps its counts in the changelog, and ends when it is told to.
func TestItCounts(t *testing.T) {
	l, err := lab.Start(lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Cluster().CreateTopic("page-views", 2, nil); err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(l.Bootstrap()), kgo.ConsumeTopics("clicks-views-changelog"), kgo.MetadataMinAge(50*time.Millisecond), kgo.UnknownTopicRetries(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i := range 30 {
		page := fmt.Sprintf("/page-%d", i%3)
		if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "page-views", Key: []byte(page)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- run(running, l.Bootstrap(), "clicks-0", t.TempDir()) }()

	counts := map[string]uint64{}
	for counts["/page-0"] < 10 || counts["/page-1"] < 10 || counts["/page-2"] < 10 {
		fetched := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("counted %v", counts)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			if k := bytes.TrimSpace(r.Key); len(r.Value) == 8 {
				counts[string(k)] = binary.BigEndian.Uint64(r.Value)
			}
		})
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if g := l.Cluster().GroupInfo("clicks"); g != nil && len(g.Members) != 0 {
		t.Errorf("%d members are left in the group", len(g.Members))
	}
}
