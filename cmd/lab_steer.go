package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/report"
)

// labSteer is what all commands share that are about a lab that runs.
type labSteer struct {
	d    *deps
	port int
	said string // what was done, with %s for the instances
}

// labDir is where the sockets of labs are.
func (d *deps) labDir() string {
	dir, _ := d.env("XDG_RUNTIME_DIR")
	return lab.SocketDir(dir)
}

// labCmd makes a command that gives a running lab an order.
func labCmd(d *deps, use, short, long, said string, check cobra.PositionalArgs, order func([]string) (lab.Order, error)) *cobra.Command {
	o := &labSteer{d: d, said: said}
	name, _, _ := strings.Cut(use, " ")
	example := "  streamctl lab " + strings.NewReplacer("INSTANCE...", "pod-b", "restore-rate R", "restore-rate 2000").Replace(use)
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: args(check),
		Annotations: map[string]string{annotationConfig: "none"},
		RunE: func(c *cobra.Command, a []string) error {
			give, err := order(a)
			if err != nil {
				return errs.WithHint(err, "usage: "+c.UseLine())
			}
			return o.run(c, give)
		},
	}
	if strings.Contains(use, "INSTANCE") {
		cmd.ValidArgsFunction = o.complete
	}
	cmd.Flags().IntVar(&o.port, "port", 0, "the lab on this `port`, when several run")
	if name == "add" {
		cmd.Use, cmd.Example = "add [N|NAME...]", "  streamctl lab add\n  streamctl lab add 2\n  streamctl lab add pod-x"
	}
	return cmd
}

// labCmds are the commands about a lab that runs.
func labCmds(d *deps) []*cobra.Command {
	names := func(do lab.OrderKind) func([]string) (lab.Order, error) {
		return func(a []string) (lab.Order, error) { return lab.Order{Do: do, Names: a}, nil }
	}
	some := cobra.MinimumNArgs(1)
	return []*cobra.Command{
		labCmd(d, "status", "Show a running lab, and whether its counts are right", labStatusText,
			"", cobra.NoArgs, names(lab.OrderStatus)),
		labCmd(d, "add", "Start more instances", "Start so many more instances (1 if not said), or instances with these names.",
			"%s started", cobra.ArbitraryArgs, labAdd),
		labCmd(d, "kill INSTANCE...", "Crash instances: nothing is committed, nobody is told",
			"Crash instances. The group learns of it when their sessions end.", "%s crashed", some, names(lab.OrderKill)),
		labCmd(d, "stop INSTANCE...", "Stop instances: they commit and leave the group",
			"Stop instances as a rolling restart does: they commit and leave the group at once,\nso that their tasks wait until others have the state. mark-leaving avoids that.", "%s stopped", some, names(lab.OrderStop)),
		labCmd(d, "pause INSTANCE...", "Cut instances off from the broker",
			"Cut instances off from the broker, as when a network fails or a process hangs.", "%s cut off", some, names(lab.OrderPause)),
		labCmd(d, "resume INSTANCE...", "Let paused instances reach the broker again",
			"Let paused instances reach the broker again.", "%s no longer cut off", some, names(lab.OrderResume)),
		labCmd(d, "restart INSTANCE...", "Start instances again with the state that they had",
			"Start instances again with the identity and the state on disk that they had. Those\nthat run are stopped before.", "%s started again", some, names(lab.OrderRestart)),
		labCmd(d, "set restore-rate R", "Change how fast instances restore",
			"Change how many records a second each instance restores; 0 is without limit.", "restore rate set", cobra.ExactArgs(2), labSet),
	}
}

const labStatusText = `Show the instances of a running lab, and hold the counts of all stores, key by key,
against what was written: whether a record was lost, how many were counted twice
(after a crash, as at-least-once allows), which tasks run nowhere now and how long a
task ran nowhere at most. All of it comes from the instances themselves, not from
the broker. What a consumer that is none of the lab's takes in the group counts as
lost here, since no instance has counted it.

The lab is found by a socket in $XDG_RUNTIME_DIR or the folder for temporary files.
When several run, --port or the bootstrap server says which.`

func labAdd(a []string) (lab.Order, error) {
	if len(a) == 1 {
		if n, err := strconv.Atoi(a[0]); err == nil {
			if n < 1 || n > 100 {
				return lab.Order{}, errs.Usagef("%d instances: must be 1 to 100", n)
			}
			return lab.Order{Do: lab.OrderAdd, Count: n}, nil
		}
	}
	return lab.Order{Do: lab.OrderAdd, Names: a, Count: 1}, nil
}

func labSet(a []string) (lab.Order, error) {
	if a[0] != string(lab.OrderRestoreRate) {
		return lab.Order{}, errs.Usagef("%q cannot be set in a running lab, only restore-rate", a[0])
	}
	n, err := strconv.Atoi(a[1])
	if err != nil || n < 0 || n > 1_000_000_000 {
		return lab.Order{}, errs.Usagef("restore-rate: %q is not between 0 and 1000000000", a[1])
	}
	return lab.Order{Do: lab.OrderRestoreRate, Value: n}, nil
}

// labLimit bounds an order where --timeout does not: stopping an instance takes
// the longest.
const labLimit = 30 * time.Second

func (o *labSteer) run(c *cobra.Command, order lab.Order) error {
	if err := o.d.checkOutput(report.NewLabStatus(report.LabStatus{}, "")); err != nil {
		return err
	}
	limit := labLimit
	if f := c.Flags().Lookup(config.KeyTimeout); f != nil && f.Changed {
		if t, err := time.ParseDuration(f.Value.String()); err == nil && t > 0 {
			limit = t
		}
	}
	ctx, cancel := context.WithTimeoutCause(c.Context(), limit, timeoutError{limit})
	defer cancel()
	a, err := o.order(ctx, c, order)
	if err != nil {
		return err
	}
	done := ""
	switch {
	case o.said != "" && len(a.Names) > 0:
		done = fmt.Sprintf(o.said, strings.Join(a.Names, ", "))
	case order.Do == lab.OrderRestoreRate:
		done = o.said
	}
	if done != "" || a.Error == "" {
		if err := o.d.show(labReport(a.Status, done)); err != nil {
			return err
		}
	}
	if a.Error != "" {
		return errs.WithHint(errors.New(oneLine(strings.ReplaceAll(a.Error, "\n", "; "))), "lab status lists the instances")
	}
	return nil
}

// order finds the lab and gives it an order.
func (o *labSteer) order(ctx context.Context, c *cobra.Command, order lab.Order) (lab.Answer, error) {
	r, err := lab.Find(ctx, o.d.labDir(), o.port, o.addresses(c))
	switch {
	case errors.Is(err, lab.ErrNoLab):
		return lab.Answer{}, errs.WithHint(err, "streamctl lab up starts one; a lab of recorded groups has nothing to steer")
	case errors.Is(err, lab.ErrManyLabs):
		return lab.Answer{}, errs.WithHint(err, "--port or STREAMCTL_BOOTSTRAP_SERVER says which")
	case err != nil:
		return lab.Answer{}, err
	}
	a, err := r.Do(ctx, order)
	if err != nil && ctx.Err() != nil {
		return a, context.Cause(ctx)
	}
	return a, err
}

// addresses are those of the bootstrap servers that flag or environment name.
func (o *labSteer) addresses(c *cobra.Command) []string {
	if list, ok := flagSource(c.Flags())(config.KeyBootstrap); ok {
		return list
	}
	v, _ := o.d.env(config.EnvName(config.KeyBootstrap))
	return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
}

// complete completes the instances of the lab.
func (o *labSteer) complete(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
	defer cancel()
	a, err := o.order(ctx, c, lab.Order{Do: lab.OrderStatus})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, i := range a.Status.Instances {
		out = append(out, i.Name)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// labReport makes the report of what a lab said.
func labReport(s lab.Status, done string) *report.LabStatus {
	r := report.LabStatus{
		Bootstrap: s.Bootstrap, Group: s.Group, Mode: textOrNull(s.Mode), Tasks: s.Tasks, Idle: s.Idle,
		LongestIdleMs: s.LongestIdle.Milliseconds(),
		Records:       report.LabRecords{Produced: s.Records.Produced, Counted: s.Records.Counted, Waiting: s.Records.Waiting},
	}
	if s.RestoreRate > 0 {
		r.RestoreRate = &s.RestoreRate
	}
	if !s.Records.Foreign {
		r.Records.Twice, r.Records.Lost = &s.Records.Twice, &s.Records.Lost
	}
	for _, i := range s.Instances {
		r.Instances = append(r.Instances, report.LabInstance{
			Name: i.Name, ID: textOrNull(i.ID), State: string(i.State), Leader: i.Leader, Leaving: i.Leaving,
			Active: i.Active, Standby: i.Standby, Learner: i.Learner, Restore: i.Restore, Why: textOrNull(i.Why),
		})
	}
	return report.NewLabStatus(r, done)
}
