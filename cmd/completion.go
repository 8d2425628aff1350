package cmd

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// completionTimeout bounds what a shell waits for names.
const completionTimeout = 2 * time.Second

func newCompletionCmd(d *deps) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Write the completion script of a shell",
		Long: `Write the completion script for bash, zsh, fish or powershell. With it the shell
also completes the names of groups, instances, members and tasks: it asks the
cluster for them, for two seconds at most.

The first line below is for ~/.bashrc; zsh takes the second in ~/.zshrc, after
compinit, or as a file of its fpath; fish reads the file that the third writes.`,
		Example: `  source <(streamctl completion bash)
  source <(streamctl completion zsh)
  streamctl completion fish > ~/.config/fish/completions/streamctl.fish
  streamctl completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells, Args: args(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		Annotations: map[string]string{annotationConfig: "none"},
		RunE: func(c *cobra.Command, a []string) error {
			root, out := c.Root(), d.io.Out
			switch a[0] {
			case "bash":
				if _, err := io.WriteString(out, bashWords); err != nil {
					return err
				}
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return errs.Usagef("shell %q is not known", a[0])
		},
	}
}

// bashWords stands in for the one function of the package bash-completion that
// the script needs, where that is not installed.
const bashWords = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
_get_comp_words_by_ref() {
    words=("${COMP_WORDS[@]}")
    cword=$COMP_CWORD
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD-1]}
}
fi
`

// completer completes one word, given the arguments before it.
type completer = func(c *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective)

// completeFlag completes the value of a flag that is there.
func completeFlag(c *cobra.Command, flag string, f completer) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag is not there: a mistake next to the call
	}
}

// bindCompletions completes the values of the flags that every command has.
func bindCompletions(root *cobra.Command, d *deps) {
	completeFlag(root, config.KeyGroup, completeGroups(d, -1))
	completeFlag(root, "context", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		if d.completionConfig(c) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return d.conf.Contexts, cobra.ShellCompDirectiveNoFileComp
	})
	completeFlag(root, "output", fixed(formats()...))
	completeFlag(root, config.KeyColor, fixed("auto", "always", "never"))
}

func formats() []string {
	out := make([]string, 0, len(render.Formats()))
	for _, f := range render.Formats() {
		out = append(out, string(f))
	}
	return out
}

// fixed completes words that are always the same.
func fixed(words ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completionConfig loads the configuration without a word on stderr.
func (d *deps) completionConfig(c *cobra.Command) error {
	if err := applyEnvironment(c.Flags(), d.env); err != nil {
		return err
	}
	conf, _, err := config.Load(config.Sources{Flag: flagSource(c.Flags()), Env: d.env, Now: d.now})
	d.conf = conf
	return err
}

// completing reads something for the shell. Whatever goes wrong gives no names.
func completing(d *deps, c *cobra.Command, f func(context.Context, *reader) []string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	if d.completionConfig(c) != nil {
		return nil, none
	}
	parent := c.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, completionTimeout)
	defer cancel()
	r, err := d.reader(ctx)
	if err != nil {
		return nil, none
	}
	defer r.close()
	return f(ctx, r), none
}

// completeGroups completes names of stream groups, for at most limit arguments;
// a negative limit is none.
func completeGroups(d *deps, limit int) completer {
	return func(c *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if limit >= 0 && len(given) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completing(d, c, func(ctx context.Context, r *reader) []string {
			l, err := r.list(ctx, nil)
			if err != nil {
				return nil
			}
			var out []string
			for _, g := range l.streams {
				if !slices.Contains(given, g.ID) {
					out = append(out, g.ID)
				}
			}
			return out
		})
	}
}

// completeItems completes names of things in the group of -g, the context or
// the only one visible.
func completeItems(d *deps, names func(*model.Group) []string) completer {
	return completeSome(d, 1, names)
}

// completeInstances completes names of instances, of any number.
func completeInstances(d *deps) completer { return completeSome(d, -1, instanceNames) }

// completeSome is completeItems for at most limit arguments; a negative limit
// is none.
func completeSome(d *deps, limit int, names func(*model.Group) []string) completer {
	return func(c *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if limit >= 0 && len(given) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completing(d, c, func(ctx context.Context, r *reader) []string {
			var groups []*model.Group
			if id := d.defaultGroup(); id != "" {
				s, err := r.cluster.Snapshot(ctx, kclient.Query{Groups: []string{id}, Describe: true})
				if err != nil {
					return nil
				}
				groups = r.listingOf(s).all
			} else if l, err := r.list(ctx, nil); err == nil {
				groups = l.streams
			}
			var out []string
			for _, g := range groups {
				out = append(out, names(g)...)
			}
			slices.Sort(out)
			return slices.DeleteFunc(slices.Compact(out), func(n string) bool { return slices.Contains(given, n) })
		})
	}
}

// bindNames completes the value of a flag with names of things in the group that
// is the command's argument.
func bindNames(c *cobra.Command, d *deps, flag string, names func(*model.Group) []string) {
	completeFlag(c, flag, func(c *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(given) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completing(d, c, func(ctx context.Context, r *reader) []string {
			s, err := r.cluster.Snapshot(ctx, kclient.Query{Groups: given[:1], Describe: true})
			if err != nil {
				return nil
			}
			var out []string
			for _, g := range r.listingOf(s).all {
				out = append(out, names(g)...)
			}
			slices.Sort(out)
			return slices.Compact(out)
		})
	})
}

// staticNames are the static ids of members.
func staticNames(g *model.Group) []string {
	var out []string
	for i := range g.Instances {
		for _, m := range g.Instances[i].Members {
			if m.InstanceID != "" {
				out = append(out, m.InstanceID)
			}
		}
	}
	return out
}

func instanceNames(g *model.Group) []string {
	var out []string
	for i := range g.Instances {
		out = append(out, g.Instances[i].Name)
	}
	return out
}

func memberNames(g *model.Group) []string {
	var out []string
	for i := range g.Instances {
		for k := range g.Instances[i].Members {
			out = append(out, g.Instances[i].Members[k].Name)
		}
	}
	return out
}

func taskNames(g *model.Group) []string {
	var out []string
	for i := range g.Instances {
		for k := range g.Instances[i].Members {
			for _, t := range g.Instances[i].Members[k].Tasks {
				if t.Role == model.Active {
					out = append(out, t.ID.String())
				}
			}
		}
	}
	return out
}
