package cmd

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/scenario"
)

// assignOptions is everything assign needs.
type assignOptions struct {
	d    *deps
	from string // file of scenarios; "-" is stdin
}

func newAssignCmd(d *deps) *cobra.Command {
	o := &assignOptions{d: d}
	cmd := &cobra.Command{
		Use: "assign --from FILE", Short: "Run an assignor on scenario files, without any group",
		Long: `Compute for each line of FILE, a scenario as a JSON object, which member gets
which task. "assignor" in the line says by which rules:

  high-availability  Kafka Streams' own, for classic groups
  streams-sticky     the broker's, for streams groups (KIP-1071); "kafka_version"
                     chooses between the 4.2 to 4.3 and the 4.4 rules, the newest
                     when it is absent
  learner            streamctl's, for worker groups

Each line of the output has "name" and "result", or "error" with "message",
"line" and "field". Lines are independent: a bad one does not stop the rest, and
the exit code is 1 at the end. The same line always gives the same answer.`,
		Example: `  streamctl assign --from scenarios.jsonl
  streamctl assign --from - < scenarios.jsonl | jq .result`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return inTime(c.Context(), func() error { return runAssign(o) })
		},
		Annotations: map[string]string{annotationConfig: "none"},
	}
	cmd.Flags().StringVar(&o.from, "from", "", "compute every scenario of this `file`; - is stdin")
	return cmd
}

func runAssign(o *assignOptions) error {
	if f := o.d.flags.output; f != "" && f != render.Table && f != render.JSON {
		return errs.Usagef("-o: assign writes one JSON object a line, not %s", f)
	}
	if o.from == "" {
		return errs.WithHint(errs.Usagef("assign needs --from FILE"), "--from - reads stdin")
	}
	in := o.d.io.In
	if o.from != "-" {
		f, err := o.d.open(o.from)
		if err != nil {
			return fmt.Errorf("assign: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	return assignBatch(in, o.d.io.Out)
}

// assignBatch answers line by line; bad ones make exit code 1 at the end.
func assignBatch(in io.Reader, out io.Writer) error {
	bad, err := scenario.AnswerAll(in, out)
	switch {
	case errors.Is(err, syscall.EPIPE):
		return err
	case err != nil:
		return fmt.Errorf("assign: %w", err)
	case bad > 0:
		return fmt.Errorf("%s could not be computed; each says why", render.Count(bad, "scenario"))
	}
	return nil
}
