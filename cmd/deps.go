package cmd

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/snapshot"
	"github.com/streamctl/streamctl/internal/ui"
)

// Cluster is what a command knows of a cluster: a live one, or a snapshot file.
// The error is for "nothing could be read at all"; what is missing in part is
// in the snapshot.
type Cluster interface {
	Snapshot(context.Context, kclient.Query) (*snapshot.Snapshot, error)
	Close()
}

// deps is what commands get from outside. Tests replace the clock and dial.
type deps struct {
	io   *ui.Streams
	now  func() time.Time
	who  func() string // user@host, for records of changes
	dial func(context.Context, config.Connection, kclient.Options) (Cluster, error)
	open func(path string) (*os.File, error)

	beforeDial func() // sets up the process for asking a cluster; nil in tests
	beforeFile func() // sets up the process for reading a snapshot file; nil in tests

	flags globals
	conf  *config.Resolved

	finish  context.CancelFunc // ends the time limit of the command; nil before there is one
	running bool               // arguments and flags were fine, the command itself runs
	onStop  string             // what is worth saying when a signal ends the command

	visiting atomic.Bool // a visitor is in a group, and must leave before the process ends
}

func newDeps(io *ui.Streams) *deps {
	return &deps{io: io, now: time.Now, who: systemUser, dial: dialCluster, open: os.Open}
}

func dialCluster(ctx context.Context, c config.Connection, o kclient.Options) (Cluster, error) {
	k, err := kclient.Dial(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// note writes one line to stderr that is no error. Blanks that the format begins
// with are kept, those of what is put into it are not.
func (d *deps) note(format string, args ...any) {
	indent := format[:len(format)-len(strings.TrimLeft(format, " "))]
	writeLines(d.io.Err, wrapped(indent, oneLine(fmt.Sprintf(format, args...)), d.io.ErrWidth()))
}

// warn writes one warning to stderr.
func (d *deps) warn(text string) { d.note("warning: %s", text) }

// verbose writes a note where -v is given.
func (d *deps) verbose(format string, args ...any) {
	if d.flags.verbose {
		d.note(format, args...)
	}
}

// cluster opens what a reading command reads: the file of --from, else the
// cluster of the connection flags. Nothing is sent yet.
func (d *deps) cluster(ctx context.Context) (Cluster, error) {
	if d.flags.from != "" {
		if d.beforeFile != nil {
			d.beforeFile()
		}
		return d.fileCluster(ctx, d.flags.from)
	}
	return d.live(ctx)
}

// live opens the cluster of the connection flags.
func (d *deps) live(ctx context.Context) (Cluster, error) {
	conn, err := d.connection()
	if err != nil {
		return nil, err
	}
	if d.beforeDial != nil {
		d.beforeDial()
	}
	return d.dial(ctx, conn, kclient.Options{Now: d.now, Version: buildVersion()})
}

// connection is how to reach the cluster that flags, environment and context
// name.
func (d *deps) connection() (config.Connection, error) {
	c, warnings, err := d.conf.Connection()
	for _, w := range warnings {
		d.warn(string(w))
	}
	if err != nil {
		return config.Connection{}, asUsage(err)
	}
	return *c, nil
}

// usageErr wraps an error of a flag's value as bad usage.
func usageErr(flag string, err error) error {
	return errs.Usagef("--%s: %w", flag, err)
}
