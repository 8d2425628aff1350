package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/render"
)

func newRootCmd(d *deps) *cobra.Command {
	root := &cobra.Command{
		Use:   "streamctl",
		Short: "See what stream processing groups of Kafka really do",
		Long: `streamctl shows which tasks each instance and thread of a Kafka stream
processing application runs, stands by or learns, how far each copy is, when the
next rebalance comes, and what is wrong.

Groups of three kinds are known: classic (Kafka Streams over the consumer
protocol), streams (KIP-1071) and worker.

Exit codes: 0 done, 1 failed (also in part), 2 bad usage, 3 a condition that was
asked for is not met, 4 a wait ran out, 130 Ctrl-C, 143 SIGTERM.

Every flag can also be given as an environment variable: STREAMCTL_ and its name
in capitals, with _ for -. A flag is stronger than the environment, that is
stronger than the configuration file.`,
		Example: `  streamctl --bootstrap-server localhost:9092 get groups
  streamctl describe group shop
  streamctl wait shop --for stable --settle 30s`,
		SilenceErrors: true, SilenceUsage: true,
		Args:              unknownSubcommand,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return d.prepare(c) },
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
		Annotations:       map[string]string{annotationConfig: "none"},
	}
	root.SetIn(d.io.In)
	root.SetOut(d.io.Out)
	root.SetErr(d.io.Err)
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelpCmd())
	root.Version = buildVersion()
	root.SetVersionTemplate("streamctl {{.Version}}\n")
	root.SetUsageFunc(usageOf(d))
	root.SetHelpFunc(helpOf(d))
	bindGlobals(root, &d.flags)
	root.AddCommand(
		newGetCmd(d), newListCmd(d), newDescribeCmd(d),
		newPlanCmd(d), newWaitCmd(d), newWatchCmd(d), newCheckCmd(d),
		newMarkLeavingCmd(d), newUnmarkCmd(d), newReplaceCmd(d), newRebalanceCmd(d), newRemoveMemberCmd(d), newModeCmd(d),
		newSnapshotCmd(d), newDiffCmd(d), newDecodeCmd(d), newAssignCmd(d),
		newCanICmd(d), newConfigCmd(d), newCompletionCmd(d), newLabCmd(d), newVersionCmd(d), newDocsCmd(d),
	)
	root.InitDefaultHelpCmd()
	bindCompletions(root, d)
	return root
}

// newHelpCmd is cobra's help command with our exit code for what does not exist.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command", Example: "  streamctl help describe group",
		DisableFlagsInUseLine: true, Annotations: map[string]string{annotationConfig: "none"},
		RunE: func(c *cobra.Command, a []string) error {
			about, rest, err := c.Root().Find(a)
			if err != nil || len(rest) > 0 {
				return errs.WithHint(errs.Usagef("no help for %q", strings.Join(a, " ")), "streamctl --help lists the commands")
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// parentCmd is a command that only holds others.
func parentCmd(use, short, long, example string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: unknownSubcommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return errs.WithHint(errs.Usagef("%s needs a subcommand", c.CommandPath()), "one of "+strings.Join(childNames(c), ", "))
		},
		Annotations: map[string]string{annotationConfig: "none"},
	}
	c.AddCommand(children...)
	return c
}

func childNames(c *cobra.Command) []string {
	var out []string
	for _, k := range c.Commands() {
		if k.IsAvailableCommand() {
			out = append(out, k.Name())
		}
	}
	return out
}

// unknownSubcommand is the argument check of commands that take none themselves.
func unknownSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := errs.Usagef("unknown command %q for %q", args[0], c.CommandPath())
	if c.SuggestionsMinimumDistance <= 0 {
		c.SuggestionsMinimumDistance = 2
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return errs.WithHint(err, fmt.Sprintf("did you mean %s?", quoteAll(near)))
	}
	return errs.WithHint(err, c.CommandPath()+" --help lists the commands")
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, " or ")
}

// flagError makes cobra's complaints about flags ours: exit code 2 and the
// nearest flag there is.
func flagError(c *cobra.Command, err error) error {
	hint := c.CommandPath() + " --help lists the flags"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := nearestFlag(c, unknown.GetSpecifiedName()); near != "" {
			hint = fmt.Sprintf("did you mean --%s?", near)
		}
		return errs.WithHint(errs.Usagef("unknown flag: %s%s", dashes(unknown), unknown.GetSpecifiedName()), hint)
	}
	return errs.WithHint(errs.WithCode(err, errs.Usage), hint)
}

func dashes(e *pflag.NotExistError) string {
	if e.GetSpecifiedShortnames() != "" {
		return "-"
	}
	return "--"
}

// nearestFlag is the flag that differs least from name, "" when none is near.
func nearestFlag(c *cobra.Command, name string) string {
	best, at := "", 3
	if len(name) < 4 {
		at = 2
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		d := config.Distance(name, f.Name)
		if len(name) >= 4 && strings.HasPrefix(f.Name, name) {
			d = 1
		}
		if d < at {
			best, at = f.Name, d
		}
	})
	return best
}

// args makes an argument check of cobra one of ours: exit code 2, the usage
// line as hint.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		err := check(c, a)
		switch {
		case err == nil:
			return nil
		case !strings.Contains(err.Error(), "arg(s)"): // what is wrong with one of them
			err = errs.WithCode(err, errs.Usage)
		case len(a) == 0:
			err = errs.Usagef("%s needs an argument", c.CommandPath())
		default:
			err = errs.Usagef("%s does not take %s", c.CommandPath(), render.Count(len(a), "argument"))
		}
		return errs.WithHint(err, "usage: "+c.UseLine())
	}
}
