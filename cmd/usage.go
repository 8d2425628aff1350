package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/streamctl/streamctl/internal/render"
)

// section is a heading of the help of streamctl with its commands.
type section struct {
	title    string
	commands []string
}

// sections order the commands as people need them. What is in none of them
// comes last.
func sections() []section {
	return []section{
		{"See", []string{"get", "list", "describe", "watch"}},
		{"Decide and wait", []string{"check", "plan", "wait"}},
		{"Change", []string{"mark-leaving", "unmark", "replace", "rebalance", "remove-member", "mode"}},
		{"Keep and compare", []string{"snapshot", "diff", "decode", "assign"}},
		{"Connect and set up", []string{"config", "can-i", "version", "lab", "completion", "docs", "help"}},
	}
}

// usageOf writes how a command is used: its line, examples, subcommands and
// flags, wrapped to the width of the terminal.
func usageOf(d *deps) func(*cobra.Command) error {
	return func(c *cobra.Command) error {
		var b strings.Builder
		line := c.UseLine()
		if c.HasAvailableSubCommands() {
			line = c.CommandPath() + " COMMAND"
			if takesArguments(c) {
				line = c.UseLine() + "\n  " + line
			}
		}
		fmt.Fprintf(&b, "Usage:\n  %s\n", line)
		if len(c.Aliases) > 0 {
			fmt.Fprintf(&b, "\nAliases:\n  %s\n", c.NameAndAliases())
		}
		if c.HasExample() {
			fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
		}
		width := d.io.Width()
		if width == 0 {
			width = 80
		}
		subcommands(&b, c, width)
		flagBlock(&b, "Flags", c.LocalFlags(), width)
		flagBlock(&b, "Flags of every command", c.InheritedFlags(), width)
		if c.HasAvailableSubCommands() {
			fmt.Fprintf(&b, "\n%s COMMAND --help says more about a command.\n", c.CommandPath())
		}
		_, err := fmt.Fprint(c.OutOrStderr(), b.String())
		return err
	}
}

// takesArguments says whether a command with subcommands does something by
// itself too, with arguments that are no subcommand.
func takesArguments(c *cobra.Command) bool { return strings.Contains(c.Use, " ") }

func subcommands(b *strings.Builder, c *cobra.Command, width int) {
	byName := map[string]*cobra.Command{}
	var left []string
	pad := 0
	for _, k := range c.Commands() {
		if k.IsAvailableCommand() || k.Name() == "help" {
			byName[k.Name()] = k
			left = append(left, k.Name())
			pad = max(pad, len(k.Name()))
		}
	}
	write := func(title string, names []string) {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return byName[n] == nil })
		if len(names) == 0 {
			return
		}
		fmt.Fprintf(b, "\n%s:\n", title)
		for _, n := range names {
			hang(b, fmt.Sprintf("  %-*s  ", pad, n), byName[n].Short, width)
		}
	}
	if c.HasParent() {
		write("Commands", left)
		return
	}
	for _, s := range sections() {
		write(s.title, s.commands)
		left = slices.DeleteFunc(left, func(n string) bool { return slices.Contains(s.commands, n) })
	}
	write("More", left)
}

// hang writes words after a lead, and the lines that follow as far in.
func hang(b *strings.Builder, lead, text string, width int) {
	b.WriteString(lead)
	at, first := len(lead), true
	for _, w := range strings.Fields(text) {
		n := render.Width(w)
		switch {
		case !first && at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", len(lead)) + w)
			at = len(lead) + n
		case first:
			b.WriteString(w)
			at += n
		default:
			b.WriteString(" " + w)
			at += 1 + n
		}
		first = false
	}
	b.WriteString("\n")
}

func flagBlock(b *strings.Builder, title string, flags *pflag.FlagSet, width int) {
	if !flags.HasAvailableFlags() {
		return
	}
	var leads, texts []string
	pad := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		lead := "      --" + f.Name
		if f.Shorthand != "" {
			lead = "  -" + f.Shorthand + ", --" + f.Name
		}
		if name != "" {
			lead += " " + name
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "[]" && !strings.Contains(usage, "default ") {
			usage += " (default " + f.DefValue + ")"
		}
		leads, texts = append(leads, lead), append(texts, usage)
		pad = max(pad, len(lead))
	})
	fmt.Fprintf(b, "\n%s:\n", title)
	for i, l := range leads {
		hang(b, fmt.Sprintf("%-*s  ", pad, l), texts[i], width)
	}
}
