package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/render"
)

// helpWidth is the widest that the text of a help gets. The lists of flags
// below it use the whole terminal.
const helpWidth = 80

// passage is a piece of the long text of a command: prose, a list of terms
// with what they mean, or lines that stay as they are. One of the three is set.
type passage struct {
	prose string
	terms []term
	lines []string
	apart bool // a blank line is before it
}

// term is an entry of a list, with its indentation and the blanks up to its
// meaning. The meaning may be empty.
type term struct{ lead, meaning string }

// passagesOf takes a long text apart: indented lines are a list where one of
// them has two blanks between a term and its meaning, and else stay as they
// are.
func passagesOf(long string) []passage {
	var out []passage
	apart := false
	for line := range strings.Lines(long) {
		line = strings.TrimRight(line, " \n")
		if line == "" {
			apart = true
			continue
		}
		indented := line[0] == ' '
		last := len(out) - 1
		switch {
		case last < 0 || apart || indented != (out[last].prose == ""):
			p := passage{apart: apart && last >= 0}
			if indented {
				p.lines = []string{line}
			} else {
				p.prose = line
			}
			out = append(out, p)
		case indented:
			out[last].lines = append(out[last].lines, line)
		default:
			out[last].prose += "\n" + line
		}
		apart = false
	}
	for i := range out {
		if terms := termsOf(out[i].lines); terms != nil {
			out[i].terms, out[i].lines = terms, nil
		}
	}
	return out
}

// termsOf gives the entries of a list, nil where the lines are none. A line
// that is further in than the first goes on with the meaning before it.
func termsOf(lines []string) []term {
	if len(lines) == 0 {
		return nil
	}
	first := indentOf(lines[0])
	var out []term
	list := false
	for _, l := range lines {
		in := indentOf(l)
		if in > first && len(out) > 0 {
			out[len(out)-1].meaning += " " + strings.TrimSpace(l)
			continue
		}
		t := term{lead: l}
		if at := strings.LastIndex(l[in:], "  "); at >= 0 {
			t = term{lead: l[:in+at+2], meaning: l[in+at+2:]}
			list = true
		}
		out = append(out, t)
	}
	if !list {
		return nil
	}
	return out
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// helpOf writes the help of a command: its long text, broken for the terminal,
// and how it is used.
func helpOf(d *deps) func(*cobra.Command, []string) {
	return func(c *cobra.Command, _ []string) {
		width := helpWidth
		if w := d.io.Width(); w > 0 {
			width = min(w, helpWidth)
		}
		long := c.Long
		if long == "" {
			long = c.Short
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\n%s", helpText(long, width), c.UsageString())
	}
}

// helpText breaks a long text into lines of at most width columns.
func helpText(long string, width int) string {
	var b strings.Builder
	for _, p := range passagesOf(long) {
		if p.apart {
			b.WriteString("\n")
		}
		switch {
		case p.prose != "":
			b.WriteString(strings.Join(render.Wrap(strings.ReplaceAll(p.prose, "\n", " "), width), "\n") + "\n")
		case p.terms != nil:
			for _, t := range p.terms {
				hang(&b, t.lead, t.meaning, width)
			}
		default:
			b.WriteString(strings.Join(p.lines, "\n") + "\n")
		}
	}
	return b.String()
}

// pageText is a long text as markdown, of which man pages are made too: lists
// as lists, lines that stay as they are as code.
func pageText(long string) string {
	var blocks []string
	for _, p := range passagesOf(long) {
		switch {
		case p.prose != "":
			blocks = append(blocks, p.prose)
		case p.terms != nil:
			items := make([]string, len(p.terms))
			for i, t := range p.terms {
				items[i] = "- `" + strings.Join(strings.Fields(t.lead), " ") + "`"
				if t.meaning != "" {
					items[i] += ": " + t.meaning
				}
			}
			blocks = append(blocks, strings.Join(items, "\n"))
		default:
			blocks = append(blocks, "```\n"+strings.Join(p.lines, "\n")+"\n```")
		}
	}
	return strings.Join(blocks, "\n\n")
}
