package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// labOptions is everything lab needs.
type labOptions struct {
	d       *deps
	port    int
	brokers int
	large   lab.Large
	files   []string
	ready   func() // called once everything runs; tests
}

func newLabCmd(d *deps) *cobra.Command {
	o := &labOptions{d: d}
	cmd := &cobra.Command{
		Use: "lab [SNAPSHOT…]", Short: "Run an embedded broker with recorded groups on this machine",
		Long: `Run an embedded Kafka broker on this machine's loopback interface and replay
recorded groups in it, so that every reading command can be tried with nothing
installed. It runs until Ctrl-C. Its first line is "bootstrap HOST:PORT".

Without arguments it holds a classic Streams group in the middle of a scale-out
(shop), one that rebalances (fraud), one of old and new clients (delivery), an
Empty one (ledger), a plain consumer group (mailer) and a worker group that
scales down (clicks). Snapshot files given as arguments are replayed instead.
The embedded broker has no streams groups (KIP-1071): read those from snapshot
files with --from.

--groups, --members and --tasks make large groups to measure with.

"lab up" runs a live job instead; the other subcommands steer it.`,
		Example: `  streamctl lab
  streamctl lab --port 9092
  streamctl lab --members 1000 --tasks 10000
  streamctl lab shop.json
  streamctl lab up`,
		Args:        cobra.ArbitraryArgs,
		Annotations: map[string]string{annotationConfig: "none"},
		RunE: func(c *cobra.Command, files []string) error {
			o.files = files
			return runLab(c.Context(), o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.port, "port", 0, "listen on this `port` (default: a free one)")
	f.IntVar(&o.brokers, "brokers", 1, "run this many brokers, on consecutive ports with --port")
	f.IntVar(&o.large.Groups, "groups", 0, "add this many small classic groups")
	f.IntVar(&o.large.Members, "members", 0, "add one classic group (large) of this many members")
	f.IntVar(&o.large.Tasks, "tasks", 0, "tasks of the large group (default: one a member)")
	cmd.AddCommand(newLabUpCmd(d))
	cmd.AddCommand(labCmds(d)...)
	return cmd
}

func (o *labOptions) check() error {
	err := inBounds([]bounds{
		{"port", int64(o.port), 0, 65535}, {"brokers", int64(o.brokers), 1, 16}, {"groups", int64(o.large.Groups), 0, 100_000},
		{"members", int64(o.large.Members), 0, 10_000}, {"tasks", int64(o.large.Tasks), 0, 100_000},
	})
	if err != nil {
		return err
	}
	if o.large.Tasks > 0 && o.large.Members == 0 {
		return errs.Usagef("--tasks needs --members")
	}
	if o.large.Tasks == 0 {
		o.large.Tasks = o.large.Members
	}
	return nil
}

// bounds are what the value of a flag may be.
type bounds struct {
	flag      string
	v, lo, hi int64
}

// inBounds refuses the first value that is out of its bounds.
func inBounds(list []bounds) error {
	for _, b := range list {
		if b.v < b.lo || b.v > b.hi {
			return errs.Usagef("--%s: %d is not between %d and %d", b.flag, b.v, b.lo, b.hi)
		}
	}
	return nil
}

// snapshots are the groups that the lab is to hold.
func (o *labOptions) snapshots(ctx context.Context) ([]*snapshot.Snapshot, error) {
	var out []*snapshot.Snapshot
	for _, f := range o.files {
		s, err := o.d.readSnapshot(ctx, f)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errs.WithHint(err, "streamctl lab --help lists the subcommands")
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if o.large.Groups > 0 || o.large.Members > 0 {
		s, err := lab.LargeSnapshot(o.large)
		if err != nil {
			return nil, err
		}
		return append(out, s), nil
	}
	if len(out) > 0 {
		return out, nil
	}
	return lab.Builtin()
}

func runLab(ctx context.Context, o *labOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	groups, err := o.snapshots(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	l, err := lab.Start(lab.Options{Port: o.port, Brokers: o.brokers, Now: o.d.now()})
	if err != nil {
		return errs.WithHint(err, "is the port in use? without --port a free one is taken")
	}
	defer l.Close()
	n := 0
	for _, s := range groups {
		left, err := l.Run(ctx, s)
		if err != nil {
			return err
		}
		n += len(s.Groups) - len(left)
		for _, g := range left {
			o.d.note("group %q is not a classic group: the embedded broker cannot run it, read it with --from", g)
		}
	}
	if _, err := fmt.Fprintf(o.d.io.Out, "bootstrap %s\n", l.Bootstrap()); err != nil {
		return err
	}
	o.d.note("%s after %s; in a second terminal:", render.Count(n, "group"), time.Since(began).Round(time.Millisecond))
	o.d.note("  export STREAMCTL_BOOTSTRAP_SERVER=%s", l.Bootstrap())
	o.d.note("  streamctl get groups")
	o.d.note("Ctrl-C ends it and everything in it")
	if o.ready != nil {
		o.ready()
	}
	<-ctx.Done()
	return context.Cause(ctx)
}
