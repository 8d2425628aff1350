package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

func newConfigCmd(d *deps) *cobra.Command {
	return parentCmd("config", "Show, choose and test how a cluster is reached",
		`Settings come from flags, then the environment (STREAMCTL_ and the flag's name in
capitals), then the context in use, then defaults. The configuration file is
~/.config/streamctl/config.yaml, or that of --config:

  current-context: prod
  contexts:
    - name: prod
      bootstrap-server: [broker-1:9093, broker-2:9093]
      security.protocol: SASL_SSL
      sasl.mechanism: SCRAM-SHA-512
      sasl.username: op
      sasl.password-file: /run/secrets/kafka
      group: shop

Secrets can be named by the file (KEY-file) or the environment variable (KEY-env)
that holds them.`,
		"  streamctl config contexts\n  streamctl config use prod\n  streamctl config view\n  streamctl config test",
		newConfigViewCmd(d), newConfigContextsCmd(d), newConfigUseCmd(d), newConfigKeysCmd(d), newConfigTestCmd(d))
}

func newConfigViewCmd(d *deps) *cobra.Command {
	return &cobra.Command{
		Use: "view", Short: "Show every setting and where it comes from",
		Long:    "Show every setting that counts now, with its source: flag, environment, file or\ndefault. Secrets are never shown, only that they are set.",
		Example: "  streamctl config view\n  streamctl config view --context prod -o json",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			rep := configView(d.conf)
			if err := d.checkOutput(rep); err != nil {
				return err
			}
			return d.show(rep)
		},
	}
}

func newConfigContextsCmd(d *deps) *cobra.Command {
	return &cobra.Command{
		Use: "contexts", Short: "List the contexts of the configuration file",
		Example: "  streamctl config contexts -o name",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			rep := d.contextList()
			if err := d.checkOutput(rep); err != nil {
				return err
			}
			if d.conf.Path == "" {
				d.note("there is no configuration file; its place is %s", config.DefaultPath(d.env))
			}
			return d.show(rep)
		},
	}
}

func newConfigUseCmd(d *deps) *cobra.Command {
	return &cobra.Command{
		Use: "use CONTEXT", Short: "Make a context the current one",
		Long:    "Write the name of a context into the configuration file as the current one. The\nrest of the file, comments too, stays as it is.",
		Example: "  streamctl config use prod",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, a []string) error {
			if d.conf.Path == "" {
				return errs.WithHint(errs.Usagef("there is no configuration file"), "write "+config.DefaultPath(d.env))
			}
			if err := config.Use(d.conf.Path, a[0]); err != nil {
				return err
			}
			d.note("context %s is now the current one in %s", a[0], d.conf.Path)
			return nil
		},
		ValidArgsFunction: func(c *cobra.Command, a []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(a) > 0 || d.completionConfig(c) != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return d.conf.Contexts, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func newConfigKeysCmd(d *deps) *cobra.Command {
	return &cobra.Command{
		Use: "keys", Short: "List every key that a context may have",
		Example: "  streamctl config keys",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			rep := newKeyList()
			if err := d.checkOutput(rep); err != nil {
				return err
			}
			return d.show(rep)
		},
		Annotations: map[string]string{annotationConfig: "none"},
	}
}

// configView shows what was resolved.
func configView(r *config.Resolved) *report.ConfigView {
	keys := []report.ConfigKey{}
	for _, e := range r.View() {
		k := report.ConfigKey{Key: e.Key, Source: string(e.Source), Where: textOrNull(e.Origin)}
		if e.Secret {
			k.Set = &e.Set
		} else {
			k.Value = textOrNull(e.Value)
		}
		keys = append(keys, k)
	}
	return report.NewConfigView(r.Context, r.Path, keys)
}

// contextList shows the contexts of the file, each as it would be used without
// flags and environment.
func (d *deps) contextList() *report.ContextList {
	items := []report.Context{}
	for _, name := range d.conf.Contexts {
		c := report.Context{Name: name, Current: name == d.conf.Context, Bootstrap: []string{}}
		alone, _, err := config.Load(config.Sources{Now: d.now, Env: d.homeOnly, Flag: func(flag string) ([]string, bool) {
			switch flag {
			case "config":
				return []string{d.conf.Path}, true
			case "context":
				return []string{name}, true
			}
			return nil, false
		}})
		if err == nil { // else it only has a name here; using it says what is wrong
			c.Bootstrap = alone.List(config.KeyBootstrap)
			c.Group = textOrNull(alone.Text(config.KeyGroup))
			c.ReadOnly = alone.Switch(config.KeyReadonly)
		}
		items = append(items, c)
	}
	return report.NewContextList(items)
}

// homeOnly is the environment without settings.
func (d *deps) homeOnly(name string) (string, bool) {
	if strings.HasPrefix(name, "STREAMCTL_") {
		return "", false
	}
	return d.env(name)
}

// textOrNull is a text as documents have it: nil for "".
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func optionalText(s *string) render.Cell {
	if s == nil {
		return render.Dash()
	}
	return render.Text(*s)
}

// keyList is what `config keys` shows.
type keyList struct {
	report.Head
	Keys []keyItem `json:"keys"`
}

type keyItem struct {
	Key         string  `json:"key"`
	Environment string  `json:"environment"`
	Secret      bool    `json:"secret"`
	Default     *string `json:"default"`
	Doc         string  `json:"doc"`
}

func newKeyList() *keyList {
	l := &keyList{Head: report.Head{Kind: "ConfigKeys", SchemaVersion: report.SchemaVersion}, Keys: []keyItem{}}
	for _, k := range config.Keys() {
		l.Keys = append(l.Keys, keyItem{Key: k.Name, Environment: k.Env(), Secret: k.Secret, Default: textOrNull(k.Default), Doc: k.Doc})
	}
	return l
}

// Text writes a row a key.
func (l *keyList) Text(p *render.Page) { p.Rows(l.Grid()) }

// Grid is a row a key.
func (l *keyList) Grid() *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "KEY"}, render.Column{Head: "ENVIRONMENT", In: render.InFull}, render.Column{Head: "DEFAULT", Drop: 2},
		render.Column{Head: "MEANING", Cap: 40, Wrap: true})
	for _, k := range l.Keys {
		doc := k.Doc
		if k.Secret {
			doc = fmt.Sprintf("%s (secret; also %s-file, %s-env)", doc, k.Key, k.Key)
		}
		g.Row(render.Text(k.Key), render.Text(k.Environment), optionalText(k.Default), render.Text(doc))
	}
	return g
}
