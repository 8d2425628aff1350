package cmd

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/ui"
)

// globals are the flags that every command has. Those that a context file may
// set too are read through config.Resolved.
type globals struct {
	verbose       bool
	output        render.Format
	noHeaders     bool
	sortBy        string
	jsonStrings   bool
	from          string
	topology      string
	sample        time.Duration
	ignoreMissing bool
}

// bindGlobals puts the flags of every command on the root.
func bindGlobals(root *cobra.Command, g *globals) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringArray(config.KeyBootstrap, nil, "ask this `host:port` first (repeatable)")
	f.String(config.KeyCommandConfig, "", "Java client properties `file`, as Kafka's own tools take it")
	f.String("context", "", "use this `context` of the configuration file")
	f.String("config", "", "configuration `file` (default ~/.config/streamctl/config.yaml)")
	f.Duration(config.KeyTimeout, 0, "bound of the whole command (default 30s; commands that wait say theirs)")
	f.Duration(config.KeyRequestTimeout, 0, "bound of one request (default 10s)")
	f.StringP(config.KeyGroup, "g", "", "`group` the command is about")
	f.StringVar(&g.from, "from", "", "read this snapshot `file` instead of a broker; - is stdin")
	f.VarP(&g.output, "output", "o", "output `format`: table, wide, json, yaml, csv, tsv, name")
	f.BoolVar(&g.noHeaders, "no-headers", false, "leave out the headings of tables, csv and tsv")
	f.StringVar(&g.sortBy, "sort-by", "", "sort tables by this `column`; -column turns it round")
	f.BoolVar(&g.jsonStrings, "json-strings", false, "quote 64-bit numbers in JSON")
	f.Var(new(ui.Mode), config.KeyColor, "colour: auto, always or never")
	f.Int(config.KeyStandbys, 0, "standbys a task that a classic app asks for (it does not tell)")
	f.StringVar(&g.topology, "topology", "", "topology of a classic app: `file` with the text of Topology#describe()")
	f.DurationVar(&g.sample, "sample", 0, "look twice, this `duration` apart, and report what did not move")
	f.BoolVar(&g.ignoreMissing, "ignore-missing-topics", false, "a deleted topic is no error")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "say more on stderr")
}

// Annotations of commands.
const (
	annotationConfig  = "config"  // "none": the command needs no configuration
	annotationTimeout = "timeout" // "own": the command bounds itself
)

// prepare runs before every command, after its arguments and flags were
// checked: environment, configuration, colour, time limit.
func (d *deps) prepare(c *cobra.Command) error {
	if strings.HasPrefix(c.Name(), "__") { // completion: what goes wrong gives no names
		d.running = true
		return nil
	}
	if err := applyEnvironment(c.Flags(), d.env); err != nil {
		return err
	}
	switch {
	case d.flags.sample < 0:
		return errs.Usagef("--sample: %s is negative", d.flags.sample)
	case d.flags.sample > 0 && d.flags.from != "":
		return errs.Usagef("--sample and --from exclude one another: a file does not change")
	}
	if c.Annotations[annotationConfig] != "none" {
		if err := d.loadConfig(c); err != nil {
			return err
		}
	}
	d.running = true
	return nil
}

func (d *deps) env(name string) (string, bool) {
	if d.io.Env == nil {
		return "", false
	}
	return d.io.Env(name)
}

func (d *deps) loadConfig(c *cobra.Command) error {
	conf, err := d.readConfig(c)
	if err != nil {
		return err
	}
	d.conf = conf
	if err := d.io.Color.Set(conf.Text(config.KeyColor)); err != nil {
		return asUsage(err)
	}
	ctx, cancel := d.limit(c)
	c.SetContext(ctx)
	d.finish = cancel
	return nil
}

// configTimeout bounds the reading of the configuration where no flag does.
const configTimeout = 30 * time.Second

// readConfig reads the configuration, whose files may be pipes that never give
// anything: what bounds the command bounds this too, as far as it is known.
func (d *deps) readConfig(c *cobra.Command) (*config.Resolved, error) {
	t := configTimeout
	if f := c.Flags().Lookup(config.KeyTimeout); f != nil && f.Changed {
		if given, err := time.ParseDuration(f.Value.String()); err == nil && given > 0 {
			t = given
		}
	}
	ctx, cancel := context.WithTimeoutCause(c.Context(), t, timeoutError{t})
	defer cancel()
	var warnings []config.Warning
	conf, err := within(ctx, func() (*config.Resolved, error) {
		conf, w, err := config.Load(config.Sources{Flag: flagSource(c.Flags()), Env: d.env, Now: d.now})
		warnings = w
		return conf, err
	})
	if err != nil && ctx.Err() != nil {
		d.running = true // no bad usage: time ran out
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	for _, w := range warnings {
		d.warn(string(w))
	}
	if err != nil {
		return nil, asUsage(err)
	}
	return conf, nil
}

// limit bounds the command's context by --timeout. Commands that wait bound
// themselves, since for them the end of the time is no failure.
func (d *deps) limit(c *cobra.Command) (context.Context, context.CancelFunc) {
	watch := c.Flags().Lookup("watch")
	if c.Annotations[annotationTimeout] != "" || watch != nil && watch.Value.String() == "true" {
		return context.WithCancel(c.Context())
	}
	return d.withTimeout(c.Context())
}

// withTimeout bounds a context by --timeout; 0 is no bound. The time between
// the two looks of --sample comes on top.
func (d *deps) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	t := d.conf.Duration(config.KeyTimeout)
	if t <= 0 {
		return context.WithCancel(ctx)
	}
	t += d.flags.sample
	return context.WithTimeoutCause(ctx, t, timeoutError{t})
}

// flagSource gives config the flags that were set.
func flagSource(f *pflag.FlagSet) func(string) ([]string, bool) {
	return func(name string) ([]string, bool) {
		flag := f.Lookup(name)
		if flag == nil || !flag.Changed {
			return nil, false
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			return list.GetSlice(), true
		}
		return []string{flag.Value.String()}, true
	}
}

// applyEnvironment sets flags that were not given from STREAMCTL_ and their
// name in capitals. Those that a context may set too are left to config, which
// knows where each value came from.
func applyEnvironment(f *pflag.FlagSet, env func(string) (string, bool)) error {
	var err error
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || err != nil {
			return
		}
		switch flag.Name {
		case "help", "config", "context":
			return
		}
		name := config.EnvName(flag.Name)
		v, ok := env(name)
		if !ok || v == "" {
			return
		}
		if _, known := config.LookupKey(flag.Name); known {
			return
		}
		if e := f.Set(flag.Name, v); e != nil {
			err = errs.Usagef("%s: %w", name, e)
		}
	})
	return err
}

// buildOptions is what flags say about building the model.
func (d *deps) buildOptions(ctx context.Context) (groupmeta.BuildOptions, error) {
	o := groupmeta.BuildOptions{IgnoreMissing: d.flags.ignoreMissing}
	if n, ok := d.conf.Number(config.KeyStandbys); ok && d.conf.Setting(config.KeyStandbys).IsSet() {
		if n > math.MaxInt32 {
			return o, errs.Usagef("--standbys: %d is more than a task can have", n)
		}
		v := int(n)
		o.Standbys = &v
	}
	if d.flags.topology == "" {
		return o, nil
	}
	t, err := within(ctx, d.readTopology)
	if ctx.Err() != nil {
		return o, err
	}
	if err != nil {
		return o, usageErr("topology", err)
	}
	o.Topology = t
	return o, nil
}

// readTopology reads the file of --topology.
func (d *deps) readTopology() (*model.Topology, error) {
	f, err := d.open(d.flags.topology)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	t, err := groupmeta.ParseTopologyText(f)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", d.flags.topology, err)
	}
	return t, nil
}

// defaultGroup is the group of -g or of the context; "" when there is none.
func (d *deps) defaultGroup() string { return strings.TrimSpace(d.conf.Text(config.KeyGroup)) }

// contextName is the context in use; "" when none is, or a file is read.
func (d *deps) contextName() string {
	if d.conf == nil || d.flags.from != "" {
		return ""
	}
	return d.conf.Context
}
