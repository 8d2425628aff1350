package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/report"
)

func newConfigTestCmd(d *deps) *cobra.Command {
	return &cobra.Command{
		Use: "test", Short: "Test the connection step by step, to every advertised broker",
		Long: `Test the connection step by step: TCP, TLS, API versions, login, metadata, for every
bootstrap server and then for every broker that the cluster advertises. The step
that fails is named, with what is probably wrong. The exit code is 1 when one
fails.`,
		Example: "  streamctl config test --context prod",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return runConfigTest(c.Context(), d) },
	}
}

// prober is a cluster whose connection can be tested.
type prober interface {
	Probe(context.Context) *kclient.Probe
}

func runConfigTest(ctx context.Context, d *deps) error {
	if err := d.checkOutput(report.NewConfigTest(nil, report.ItemOptions{})); err != nil {
		return err
	}
	if d.flags.from != "" {
		return errs.Usagef("config test and --from exclude one another")
	}
	c, err := d.live(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	p, ok := c.(prober)
	if !ok {
		return errors.New("this cluster has no connection to test")
	}
	found := p.Probe(ctx)
	now := d.now().UTC()
	if err := d.show(report.NewConfigTest(configSteps(found), report.ItemOptions{TakenAt: &now, ClusterID: found.ClusterID})); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !found.OK() {
		return errs.Silent(errs.Failed)
	}
	return nil
}

func configSteps(p *kclient.Probe) []report.ConfigStep {
	out := make([]report.ConfigStep, 0, len(p.Steps))
	for _, s := range p.Steps {
		step := report.ConfigStep{Step: s.Step, Object: s.Object, OK: &s.OK, Detail: textOrNull(s.Detail), Error: textOrNull(s.Error), Hint: textOrNull(s.Hint)}
		if s.Took > 0 {
			ms := s.Took.Milliseconds()
			step.TookMs = &ms
		}
		out = append(out, step)
	}
	return out
}
