package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/streamctl/streamctl/internal/errs"
)

// docsOptions is everything docs needs.
type docsOptions struct {
	d      *deps
	dir    string
	format string
}

func newDocsCmd(d *deps) *cobra.Command {
	o := &docsOptions{d: d}
	cmd := &cobra.Command{
		Use: "docs", Short: "Write the reference pages of every command",
		Long:    "Write one page a command into a directory: man pages or markdown.",
		Example: "  streamctl docs --format man --dir ~/.local/share/man/man1\n  streamctl docs --format markdown --dir docs/cli",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return runDocs(c.Root(), o) },
		Annotations: map[string]string{
			annotationConfig: "none",
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "write into this `directory`; it is made when it is not there")
	cmd.Flags().StringVar(&o.format, "format", "man", "man or markdown")
	return cmd
}

func runDocs(root *cobra.Command, o *docsOptions) error {
	if o.dir == "" {
		return errs.Usagef("docs needs --dir")
	}
	if o.format != "man" && o.format != "markdown" {
		return errs.Usagef("--format: %q is not one of man, markdown", o.format)
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return fmt.Errorf("docs: %w", err)
	}
	if o.format == "man" {
		forPages(root)
		return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "streamctl"}, o.dir)
	}
	pages, err := markdownPages(root)
	if err != nil {
		return fmt.Errorf("docs: %w", err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("docs: %w", err)
		}
	}
	return nil
}

// forPages makes a tree of commands fit for pages: long texts are markdown, and
// no page has a date, so that the same tree gives the same pages.
func forPages(c *cobra.Command) {
	c.DisableAutoGenTag = true
	c.Long = pageText(c.Long)
	for _, k := range c.Commands() {
		forPages(k)
	}
}

// markdownPages gives the name of each markdown page with its text. A test
// compares them with docs/cli.
func markdownPages(root *cobra.Command) (map[string]string, error) {
	forPages(root)
	pages := map[string]string{}
	var walk func(*cobra.Command) error
	walk = func(c *cobra.Command) error {
		var b strings.Builder
		if err := doc.GenMarkdown(c, &b); err != nil {
			return err
		}
		pages[strings.ReplaceAll(c.CommandPath(), " ", "_")+".md"] = b.String()
		for _, k := range c.Commands() {
			if !k.IsAvailableCommand() || k.IsAdditionalHelpTopicCommand() {
				continue
			}
			if err := walk(k); err != nil {
				return err
			}
		}
		return nil
	}
	return pages, walk(root)
}
