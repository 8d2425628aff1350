// Command clicks counts the records of the topic page-views by key. It is the
// program of docs/howto/worker.md.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/worker"
)

// perPage counts the views of each page of one task.
type perPage struct{}

// Process counts one view.
func (perPage) Process(r worker.Record, views worker.Store) error {
	var n uint64
	if b, ok := views.Get(r.Key); ok {
		n = binary.BigEndian.Uint64(b)
	}
	views.Put(r.Key, binary.BigEndian.AppendUint64(nil, n+1))
	return nil
}

func main() {
	if err := run(context.Background(), os.Getenv("BROKERS"), os.Getenv("HOSTNAME"), os.Getenv("STATE_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, "clicks:", err)
		os.Exit(1)
	}
}

// run counts until a signal comes, or until the instance was drained.
func run(ctx context.Context, broker, name, dir string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	settings, err := worker.ParseSettings(map[string]string{"max.learners": "4"})
	if err != nil {
		return err
	}
	in, err := worker.Start(ctx, worker.Config{
		Group:        "clicks",
		Topology:     []worker.Subtopology{{ID: 0, Sources: []string{"page-views"}, Changelog: "clicks-views-changelog"}},
		NewProcessor: func(worker.TaskID) worker.Processor { return perPage{} },
		Client:       []kgo.Opt{kgo.SeedBrokers(broker)},
		ClientID:     name, // what mark-leaving --self looks for
		Host:         name,
		StateDir:     dir, // stores and the instance's id: keep it over restarts
		Settings:     settings,
	})
	if err != nil {
		return err
	}
	select {
	case <-in.Done(): // drained after mark-leaving, or its time was up
		return in.Wait()
	case <-ctx.Done():
		leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		return in.Close(leave) // commits, and leaves the group
	}
}
