// Package cmd is streamctl's command line: one file a command, each an options
// struct, a constructor that binds flags to it and a run function. What a
// command shows is built by report and written by render; what it knows comes
// through a Cluster.
package cmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/ui"
)

// graceAfterSignal is how long a command may take to end once it was told to.
const graceAfterSignal = 2 * time.Second

// Main runs one command line and returns the exit code of the process. Ctrl-C
// and SIGTERM end the command; a second one ends the process at once.
func Main(args []string, io *ui.Streams) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	done := make(chan int, 1)
	d := newDeps(io)
	d.beforeDial, d.beforeFile = frugal, collectLate
	go func() { done <- execute(ctx, args, d) }()
	select {
	case code := <-done:
		return code
	case s := <-signals:
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		stop := stopped{code: errs.Interrupted, by: "interrupted"}
		if s == syscall.SIGTERM {
			stop = stopped{code: errs.Terminated, by: "terminated"}
		}
		cancel(stop)
		grace := graceAfterSignal
		if d.visiting.Load() {
			grace = visitGrace
		}
		select {
		case <-done:
		case <-time.After(grace):
		}
		return stop.code
	}
}

// stopped is the cause of a context that a signal ended.
type stopped struct {
	code int
	by   string
}

func (s stopped) Error() string { return s.by }

// timeoutError is the cause of a context that --timeout ended.
type timeoutError struct{ after time.Duration }

func (e timeoutError) Error() string { return "--timeout of " + e.after.String() + " is over" }

// Is lets readers that name the cause of a deadline find one.
func (e timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// execute runs one command line and prints its error.
func execute(ctx context.Context, args []string, d *deps) int {
	root := newRootCmd(d)
	args = bareTopology(args)
	root.SetArgs(args)
	err := run(ctx, root, args)
	if d.finish != nil {
		d.finish()
	}
	if err != nil && !d.running {
		// cobra's own complaints come before any command runs.
		err = asUsage(err)
	}
	if stop, ok := errors.AsType[stopped](context.Cause(ctx)); ok && err != nil {
		printStopped(d.io, stop, d.onStop)
		return stop.code
	}
	printError(d.io, err)
	return errs.ExitCode(err)
}

// run looks for an unknown command first, so that its flags are not what is
// complained about.
func run(ctx context.Context, root *cobra.Command, args []string) error {
	asked := len(args) == 0 || !strings.HasPrefix(args[0], "__") // __complete is known to cobra only
	if c, rest, err := root.Find(args); asked && err == nil && c.HasSubCommands() && !takesArguments(c) && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		if err := unknownSubcommand(c, rest); err != nil {
			return err
		}
	}
	return root.ExecuteContext(ctx)
}

// bareTopology makes --topology without a value, at the end or before another
// flag, --tree: the topology shown rather than read.
func bareTopology(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--topology" && (i == len(out)-1 || strings.HasPrefix(out[i+1], "-")) {
			out[i] = "--tree"
		}
	}
	return out
}

// asUsage gives an error the exit code of bad usage unless it has one.
func asUsage(err error) error {
	if errs.ExitCode(err) != errs.Failed {
		return err
	}
	return errs.WithCode(err, errs.Usage)
}
