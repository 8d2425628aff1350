package cmd

import (
	"bytes"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// look is what one look of a reading command gave: a report, and besides it
// what goes to stderr and into the exit code.
type look struct {
	report render.Report // nil when there is nothing to show
	notes  []string      // remarks that are no errors
	err    error         // what could not be read
	unmet  error         // a condition that was asked for does not hold
}

// watchFlags are -w and --interval of get and describe.
type watchFlags struct {
	watch    bool
	interval time.Duration
}

func (w *watchFlags) bind(c *cobra.Command) {
	c.Flags().BoolVarP(&w.watch, "watch", "w", false, "show it again whenever it changes, until Ctrl-C")
	c.Flags().DurationVar(&w.interval, "interval", 2*time.Second, "time between two looks of --watch")
}

// check refuses values that mean nothing, before anything is sent.
func (w *watchFlags) check(d *deps) error {
	switch {
	case w.interval < 100*time.Millisecond:
		return errs.Usagef("--interval: %s is less than 100ms", w.interval)
	case w.watch && d.flags.from != "":
		return errs.Usagef("--watch and --from exclude one another: a file does not change")
	}
	return nil
}

// read opens what the flags name, and shows what f makes of it: once, or look
// after look with --watch.
func (w *watchFlags) read(ctx context.Context, d *deps, f func(context.Context, *reader) (look, error)) error {
	if err := w.check(d); err != nil {
		return err
	}
	r, err := d.reader(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	return w.run(ctx, d, func(ctx context.Context) (look, error) { return f(ctx, r) })
}

// run shows one look, or look after look with --watch.
func (w *watchFlags) run(ctx context.Context, d *deps, f func(context.Context) (look, error)) error {
	if !w.watch {
		l, err := f(ctx)
		if err != nil {
			return err
		}
		return d.finishLook(l)
	}
	last := ""
	one := func(ctx context.Context) (look, error) {
		ctx, cancel := d.withTimeout(ctx)
		defer cancel()
		return f(ctx)
	}
	return progress.Poll(ctx, w.interval, d.now, one, func(_ time.Time, l look, err error) (bool, error) {
		if err != nil {
			if last == "" {
				return true, err
			}
			printError(d.io, err)
			return false, nil
		}
		text, err := d.redraw(l.report, last)
		if err != nil {
			return true, err
		}
		if text != last {
			printError(d.io, l.err)
		}
		last = text
		return l.unmet != nil, l.unmet
	})
}

// finishLook shows a report, then its notes, and returns what makes the exit
// code.
func (d *deps) finishLook(l look) error {
	if l.report != nil {
		if err := d.show(l.report); err != nil {
			return err
		}
	}
	for _, n := range l.notes {
		d.note("%s", n)
	}
	return unmetFirst(l.err, l.unmet)
}

// clearScreen moves to the top of a terminal and empties it.
const clearScreen = "\x1b[H\x1b[2J"

// dumb reports a terminal that takes no control sequences.
func (d *deps) dumb() bool {
	term, _ := d.env("TERM")
	return term == "dumb"
}

// redraw writes a report when it differs from the one before, and returns its
// text. A terminal shows one report at a time; elsewhere they follow one
// another, tables with a blank line between.
func (d *deps) redraw(r render.Report, last string) (string, error) {
	var b bytes.Buffer
	if err := render.Write(&b, d.renderOptions(), r); err != nil {
		return "", asUsageOfOutput(err)
	}
	text := b.String()
	if text == last {
		return text, nil
	}
	var out bytes.Buffer
	switch machine := d.flags.output.Machine(); {
	case d.io.OutTTY && !machine && !d.dumb():
		out.WriteString(clearScreen)
	case last != "" && !machine:
		out.WriteByte('\n')
	case last != "" && d.flags.output == render.YAML:
		out.WriteString("---\n")
	}
	out.WriteString(text)
	_, err := d.io.Out.Write(out.Bytes())
	return text, err
}
