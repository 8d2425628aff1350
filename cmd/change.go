package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/report"
)

// writeFlags are the flags that changing commands share (commands.md, Changing
// commands).
type writeFlags struct {
	yes    bool   // only of commands that ask
	dryRun bool   // stop after saying what would be done
	force  bool   // go on where the command refuses for safety
	reason string // for the record; "" when none was given
}

// change is what every changing command does around its own work: it refuses
// what may not be, says what it will do, asks, and leaves a record.
type change struct {
	d     *deps
	flags writeFlags
	verb  string // as documents and records name it, for example "mode set"
	asks  bool   // asks on a terminal, and needs --yes without one

	restored string // what was put back of an earlier drain before anything else; "" when nothing was
}

func newChange(d *deps, verb string, asks bool) *change { return &change{d: d, verb: verb, asks: asks} }

// bind adds the flags that changing commands share. force says what --force
// goes on in spite of.
func (c *change) bind(cmd *cobra.Command, force string) {
	f := cmd.Flags()
	f.BoolVar(&c.flags.dryRun, "dry-run", false, "say what would be done, and do nothing")
	f.StringVar(&c.flags.reason, "reason", "", "`why`, for the record")
	f.BoolVar(&c.flags.force, "force", false, force)
	if c.asks {
		f.BoolVarP(&c.flags.yes, "yes", "y", false, "do not ask")
	}
}

// groupToChange is the group of a changing command: its argument, else -g or the
// context's. That only one is visible does not name it: it may be the wrong one.
func (d *deps) groupToChange(c *cobra.Command, a []string) (string, error) {
	name, err := d.groupArg(c, a)
	if err != nil {
		return "", err
	}
	if g := cmp.Or(name, d.defaultGroup()); g != "" {
		return g, nil
	}
	return "", errs.WithHint(errs.Usagef("no group is named"), "usage: "+c.UseLine())
}

// check refuses, before anything is sent, what cannot be done from here: on a
// file, in a context that is read-only, or with nobody to ask.
func (c *change) check() error {
	if err := c.checkReading(); err != nil {
		return err
	}
	return c.checkWriting()
}

// checkReading refuses what a change cannot be read from.
func (c *change) checkReading() error {
	switch {
	case c.d.flags.from != "":
		return errs.Usagef("%s and --from exclude one another: a file cannot be changed", c.verb)
	case c.d.flags.sample > 0:
		return errs.Usagef("--sample goes with commands that only read")
	}
	return nil
}

// checkWriting refuses a change in a context that is read-only, or with nobody to
// ask.
func (c *change) checkWriting() error {
	switch {
	case c.flags.dryRun:
		return nil
	case c.d.conf.Switch(config.KeyReadonly):
		where := ""
		if name := c.d.contextName(); name != "" {
			where = fmt.Sprintf(" of context %q", name)
		}
		return errs.WithHint(fmt.Errorf("%s is refused: the configuration%s says readonly", c.verb, where), "--dry-run shows what it would do")
	case c.asks && !c.flags.yes && (!c.d.io.InTTY || !c.d.io.ErrTTY):
		return errs.WithHint(errs.Usagef("%s asks before it changes anything, and there is no terminal to ask on", c.verb), "--yes answers, --dry-run shows what it would do")
	}
	return nil
}

// intent is what a change is about to do, as it is said before it is done.
type intent struct {
	group    *model.Group
	doing    string   // what follows "group shop (classic): ", for example "asking for a rebalance"
	details  []string // what that means, a line each
	question string   // what is asked where the command asks
	inTopic  bool     // who and why are written into the control topic, and not only said

	// look reads the group again after a person has answered: what was
	// confirmed must still be so. nil: nothing of it can change.
	look func(context.Context) (*model.Group, error)
}

// begin is how a change begins: check, then open.
func (c *change) begin(ctx context.Context) (*reader, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.open(ctx)
}

// open refuses an output that a change does not have, and gives the reader of
// its group; whoever calls it closes it. Until onStop is set again, a command
// that is interrupted says that nothing was done.
func (c *change) open(ctx context.Context) (*reader, error) {
	if err := c.d.checkOutput(report.NewGroupChange(report.ChangeResult{})); err != nil {
		return nil, err
	}
	r, err := c.d.reader(ctx)
	if err != nil {
		return nil, err
	}
	c.d.onStop = "nothing was done"
	return r, nil
}

// looking gives a look at one group that takes no longer than --timeout.
func (c *change) looking(r *reader, group string) func(context.Context) (*model.Group, error) {
	return func(ctx context.Context) (*model.Group, error) {
		ctx, cancel := c.d.withTimeout(ctx)
		defer cancel()
		groups, err := r.describe(ctx, []string{group})
		if err != nil {
			return nil, err
		}
		return groups[0], nil
	}
}

// agree says what will be done, asks, and makes sure that the group is still
// what was shown. It is false in a dry run. Texts may hold names from a broker.
func (c *change) agree(ctx context.Context, in intent) (bool, error) {
	c.say(0, c.where(in.group)+": "+in.doing)
	for _, l := range in.details {
		c.say(2, l)
	}
	if c.flags.dryRun {
		return false, nil
	}
	if c.asks && !c.flags.yes {
		if err := c.ask(ctx, in); err != nil {
			return false, err
		}
	}
	if !in.inTopic {
		c.record(in.group.ID)
	}
	return true, nil
}

// ask asks, and refuses to go on with a group that has changed meanwhile.
func (c *change) ask(ctx context.Context, in intent) error {
	yes, err := within(ctx, func() (bool, error) { return c.d.io.Confirm(in.question) })
	switch {
	case errors.Is(err, os.ErrClosed) || ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return asUsage(err)
	case !yes:
		return errors.New("not confirmed, " + c.nothing())
	case in.look == nil || c.flags.force:
		return nil
	}
	now, err := in.look(ctx)
	if err != nil {
		return err
	}
	changed := ""
	switch {
	case now.State != in.group.State:
		changed = fmt.Sprintf("state %s, then %s", in.group.State, now.State)
	case progress.Fingerprint(now) != progress.Fingerprint(in.group):
		changed = "its members or their tasks are others"
	default:
		return nil
	}
	return errs.WithHint(fmt.Errorf("group %q has changed since it was shown (%s): %s", in.group.ID, changed, c.nothing()), "look again; --force does it all the same")
}

// examine reads the group that a change is about. What an earlier drain left
// raised is put back first; refuse says why the group cannot be changed. Both
// the group and look, which reads it again, are for an intent.
func (c *change) examine(ctx context.Context, r *reader, group string, refuse func(*model.Group) error) (g *model.Group, look func(context.Context) (*model.Group, error), err error) {
	look = c.looking(r, group)
	if g, err = look(ctx); err != nil {
		return nil, nil, err
	}
	c.tidyStandbys(ctx, r, g)
	return g, look, refuse(g)
}

// where names what is about to be changed.
func (c *change) where(g *model.Group) string {
	parts := []string{}
	if name := c.d.contextName(); name != "" {
		parts = append(parts, "context "+name)
	}
	if g.ClusterID != "" {
		parts = append(parts, "cluster "+g.ClusterID)
	}
	return strings.Join(append(parts, fmt.Sprintf("group %s (%s)", g.ID, g.Kind)), ", ")
}

// record says on stderr who does what and why: the only trace of a change of a
// group that has no control topic.
func (c *change) record(group string) {
	text := fmt.Sprintf("record: %s %s: %s %s", c.d.now().UTC().Format(time.RFC3339), c.d.who(), c.verb, group)
	if c.flags.reason != "" {
		text += ", because " + c.flags.reason
	}
	c.say(0, text)
}

// result is the head of the document for what was done, or would be.
func (c *change) result(g *model.Group, done bool, targets ...string) report.ChangeResult {
	return report.ChangeResult{
		Change: c.verb, Group: g, Targets: targets, DryRun: c.flags.dryRun, Done: done, Who: c.d.who(), Reason: c.flags.reason,
	}
}

// sayAtMost is how many columns the lines have that tell of a change on stderr.
const sayAtMost = 80

// sayWidth is where those lines break: at sayAtMost, or at the edge of a terminal
// that is narrower.
func (d *deps) sayWidth() int {
	if w := d.io.ErrWidth(); w > 0 {
		return min(w, sayAtMost)
	}
	return sayAtMost
}

// say writes a line to stderr, broken at blanks to fit sayWidth, with what
// follows the first line indented. Control characters are taken out of it.
func (c *change) say(indent int, text string) {
	writeLines(c.d.io.Err, wrapped(strings.Repeat(" ", indent), oneLine(text), c.d.sayWidth()))
}

// row writes a line of a table to stderr as it is; its text must be safe.
func (c *change) row(text string) {
	fmt.Fprintln(c.d.io.Err, " "+strings.TrimRight(text, " ")) //nolint:errcheck // a note
}

// systemUser is who runs this process, user@host, as far as the system tells.
func systemUser() string {
	name := "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	} else if v := os.Getenv("USER"); v != "" {
		name = v
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	return name + "@" + host
}
