package cmd

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/lab"
)

// labUpOptions is everything lab up needs.
type labUpOptions struct {
	d       *deps
	port    int
	brokers int
	job     lab.JobOptions
	factor  string
	quiet   bool
}

const (
	labSession   = 10 * time.Second                 // how long a crash goes unnoticed where nothing else is asked for
	labFactorKey = "stream.worker.balancing.factor" // the setting of --balancing-factor
)

func newLabUpCmd(d *deps) *cobra.Command {
	o := &labUpOptions{d: d}
	cmd := &cobra.Command{
		Use: "up", Short: "Run a live job of workers on an embedded broker",
		Long: `Run an embedded broker on the loopback interface, and in it a job that lives:
workers count the records of a topic by key, with their counts in a changelog,
while a producer writes. Its first line is "bootstrap HOST:PORT". It runs until
Ctrl-C; then everything of it is gone.

From a second terminal "lab add" scales it up, "lab kill" crashes an instance,
"lab stop", "lab restart", "lab pause" and "lab resume" do what they say, and
"lab status" holds the counts of all stores against what was written. Every other
command of streamctl works on it as on any group. Instances are called pod-a,
pod-b and so on.

--restore-rate makes restoring slow enough to be watched. In a lab
acceptable.recovery.lag is 200 records, and --balancing-factor 1 (the protocol has
10,000 and 2); --set changes them and the other settings.`,
		Example: `  streamctl lab up --instances 3 --tasks 12
  streamctl lab up --records 120000 --restore-rate 2000
  streamctl lab up --set num.standby.replicas=1 --set rejoin.policy=eager`,
		Args:        args(cobra.NoArgs),
		Annotations: map[string]string{annotationConfig: "none"},
		RunE: func(c *cobra.Command, _ []string) error {
			for _, name := range []string{config.KeyTimeout, "from"} {
				if f := c.Flags().Lookup(name); f != nil && f.Changed {
					return errs.Usagef("--%s: lab up reads nothing and runs until Ctrl-C", name)
				}
			}
			o.job.Group = lab.WorkerGroup
			if f := c.Flags().Lookup(config.KeyGroup); f != nil && f.Changed {
				o.job.Group = f.Value.String()
			}
			return runLabUp(c.Context(), o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.job.Instances, "instances", 3, "begin with this many instances")
	f.IntVar(&o.job.Tasks, "tasks", 12, "tasks of the job")
	f.IntVar(&o.job.Workers, "workers", 1, "workers (threads) of each instance")
	f.Int64Var(&o.job.Records, "records", 60_000, "`records` that are counted before it is ready")
	f.IntVar(&o.job.Rate, "rate", 200, "`records` a second that are written from then on")
	f.IntVar(&o.job.RestoreRate, "restore-rate", 0, "`records` a second that an instance restores (default: without limit)")
	f.StringVar(&o.factor, "balancing-factor", "", "`ratio` to its share that an instance may run (default 1)")
	f.StringToStringVar(&o.job.Settings, "set", nil, "`setting=value` of the workers (repeatable)")
	f.DurationVar(&o.job.SessionTimeout, "session-timeout", labSession, "how `long` a crash goes unnoticed")
	f.IntVar(&o.port, "port", 0, "listen on this `port` (default: a free one)")
	f.IntVar(&o.brokers, "brokers", 1, "run this many brokers, on consecutive ports with --port")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing while it runs")
	return cmd
}

// check refuses what means nothing, and reads the settings.
func (o *labUpOptions) check() error {
	err := inBounds([]bounds{
		{"instances", int64(o.job.Instances), 1, 100}, {"tasks", int64(o.job.Tasks), 1, 10_000}, {"workers", int64(o.job.Workers), 1, 100},
		{"records", o.job.Records, 0, 10_000_000}, {"rate", int64(o.job.Rate), 0, 100_000},
		{"restore-rate", int64(o.job.RestoreRate), 0, 1_000_000_000}, {"port", int64(o.port), 0, 65535}, {"brokers", int64(o.brokers), 1, 16},
	})
	if err != nil {
		return err
	}
	if n := o.job.Instances * o.job.Workers; n > lab.MaxWorkers {
		return errs.Usagef("--instances %d with --workers %d: a lab has at most %d workers in all, not %d", o.job.Instances, o.job.Workers, lab.MaxWorkers, n)
	}
	if o.job.Group == "" {
		return errs.Usagef("--group: no group is named")
	}
	if o.job.SessionTimeout < time.Second || o.job.SessionTimeout > time.Hour {
		return errs.Usagef("--session-timeout: %s is not between 1s and 1h", o.job.SessionTimeout)
	}
	if o.factor != "" {
		if o.job.Settings[labFactorKey] != "" {
			return errs.Usagef("--balancing-factor and --set %s exclude one another", labFactorKey)
		}
		o.job.Settings = maps.Clone(o.job.Settings)
		if o.job.Settings == nil {
			o.job.Settings = map[string]string{}
		}
		o.job.Settings[labFactorKey] = o.factor
	}
	if err := o.job.Check(); err != nil {
		return errs.WithCode(err, errs.Usage)
	}
	return nil
}

func runLabUp(ctx context.Context, o *labUpOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if !o.quiet {
		o.job.Log = func(s string) { o.d.note("%s  %s", o.d.now().Format("15:04:05"), s) }
	}
	began := time.Now()
	l, err := lab.Start(lab.Options{Port: o.port, Brokers: o.brokers, Now: o.d.now(), MinSession: o.job.SessionTimeout})
	if err != nil {
		return errs.WithHint(err, "is the port in use? without --port a free one is taken")
	}
	defer l.Close()
	j, err := l.StartJob(ctx, o.job)
	if err != nil {
		return err
	}
	if err := j.Serve(ctx, o.d.labDir()); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(o.d.io.Out, "bootstrap %s\n", l.Bootstrap()); err != nil {
		return err
	}
	o.d.note("group %s runs after %s; in a second terminal:", o.job.Group, time.Since(began).Round(time.Millisecond))
	o.d.note("  export STREAMCTL_BOOTSTRAP_SERVER=%s", l.Bootstrap())
	o.d.note("  streamctl describe group %s", o.job.Group)
	o.d.note("  streamctl lab add")
	o.d.note("Ctrl-C ends it and everything in it")
	<-ctx.Done()
	return context.Cause(ctx)
}
