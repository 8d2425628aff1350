package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPages gives the name of each man page with its text. They carry no date, so
// that the same tree gives the same pages.
func manPages(root *cobra.Command) map[string]string {
	pages := map[string]string{}
	documented(root, func(c *cobra.Command) { pages[pageName(c, "-")+".1"] = manPage(c) })
	return pages
}

func manPage(c *cobra.Command) string {
	var b strings.Builder
	name := pageName(c, "-")
	fmt.Fprintf(&b, ".TH %q \"1\" \"\" \"streamctl\" \"streamctl\"\n", strings.ToUpper(name))
	b.WriteString(".nh\n.ad l\n") // names are not to be broken
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(c.UseLine()))
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n" + manText(about))
	manFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + manLines(c.Example))
	}
	if also := manSeeAlso(c); also != "" {
		b.WriteString(".SH SEE ALSO\n" + also + "\n")
	}
	return b.String()
}

// manText is paragraphs that a reader's terminal fills, but for those with
// lines that begin with a blank: these are laid out already and stay as they are.
func manText(s string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(s, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.Contains("\n"+paragraph, "\n ") {
			b.WriteString(manLines(paragraph))
			continue
		}
		b.WriteString(roff(paragraph) + "\n")
	}
	return b.String()
}

// manLines is lines that stay as they are.
func manLines(s string) string { return ".nf\n" + roff(s) + "\n.fi\n" }

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString(".SH " + title + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB%s\\fP, ", roff("-"+f.Shorthand))
		}
		fmt.Fprintf(b, "\\fB%s\\fP", roff("--"+f.Name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fP", roff(value))
		}
		b.WriteString("\n" + roff(usage+manDefault(f, usage)) + "\n")
	})
}

// manDefault is what a flag is when it is not given, where that is something
// and its usage does not say it.
func manDefault(f *pflag.Flag, usage string) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return ""
	}
	if strings.Contains(usage, "(default ") {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// manSeeAlso names the commands right above and below.
func manSeeAlso(c *cobra.Command) string {
	var pages []string
	if c.HasParent() {
		pages = append(pages, pageName(c.Parent(), "-"))
	}
	for _, k := range documentedChildren(c) {
		pages = append(pages, pageName(k, "-"))
	}
	for i, p := range pages {
		pages[i] = "\\fB" + roff(p) + "\\fP(1)"
	}
	return strings.Join(pages, ",\n")
}

// roff takes the meaning from what a formatter of man pages would act on:
// backslashes, minus signs, and dots and quotes that begin a line.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
