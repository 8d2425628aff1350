package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
	pages := markdownPages(root)
	if o.format == "man" {
		pages = manPages(root)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("docs: %w", err)
		}
	}
	return nil
}

// documented goes through a command and all below it that help shows, and gives
// each what cobra adds only before it runs.
func documented(c *cobra.Command, visit func(*cobra.Command)) {
	c.InitDefaultHelpFlag()
	visit(c)
	for _, k := range documentedChildren(c) {
		documented(k, visit)
	}
}

// documentedChildren are the commands right below one that have a page, by name.
func documentedChildren(c *cobra.Command) []*cobra.Command {
	kids := slices.DeleteFunc(slices.Clone(c.Commands()), func(k *cobra.Command) bool {
		return !k.IsAvailableCommand() || k.IsAdditionalHelpTopicCommand()
	})
	slices.SortFunc(kids, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	return kids
}

// pageName is the name of a command's page without its ending.
func pageName(c *cobra.Command, separator string) string {
	return strings.ReplaceAll(c.CommandPath(), " ", separator)
}
