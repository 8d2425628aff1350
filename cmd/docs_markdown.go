package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// markdownPages gives the name of each markdown page with its text. A test
// compares them with docs/cli. The pages are written here and not by cobra/doc:
// with that comes a Markdown parser whose start is felt by every command.
func markdownPages(root *cobra.Command) map[string]string {
	pages := map[string]string{}
	documented(root, func(c *cobra.Command) { pages[pageName(c, "_")+".md"] = markdownPage(c) })
	return pages
}

func markdownPage(c *cobra.Command) string {
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "### %s\n\n%s\n\n", title, text) }
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", c.CommandPath(), c.Short)
	if c.Long != "" {
		section("Synopsis", c.Long)
	}
	if c.Runnable() {
		b.WriteString(fenced(c.UseLine()+"\n") + "\n\n")
	}
	if c.Example != "" {
		section("Examples", fenced(c.Example+"\n"))
	}
	flags := func(title string, f *pflag.FlagSet) {
		if f.HasAvailableFlags() {
			section(title, fenced(f.FlagUsages()))
		}
	}
	flags("Options", c.NonInheritedFlags())
	flags("Options inherited from parent commands", c.InheritedFlags())
	if also := markdownSeeAlso(c); also != "" {
		section("SEE ALSO", also)
	}
	return b.String()
}

// fenced is whole lines as they are.
func fenced(lines string) string { return "```\n" + lines + "```" }

// markdownSeeAlso links to the commands right above and below.
func markdownSeeAlso(c *cobra.Command) string {
	var links []string
	link := func(k *cobra.Command) {
		links = append(links, fmt.Sprintf("* [%s](%s.md)\t - %s", k.CommandPath(), pageName(k, "_"), k.Short))
	}
	if c.HasParent() {
		link(c.Parent())
	}
	for _, k := range documentedChildren(c) {
		link(k)
	}
	return strings.Join(links, "\n")
}
