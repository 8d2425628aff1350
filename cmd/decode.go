package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/render"
)

// maxDecodeLine bounds one line of a batch, and what is read from stdin: 16 MiB
// of hex. Brokers keep a group in one record, of a megabyte by default.
const maxDecodeLine = 16 << 20

// decodeOptions is everything decode needs.
type decodeOptions struct {
	d    *deps
	kind string
	text string // hex or base64; "-" or "" is stdin
	from string // batch file; "-" is stdin
}

func newDecodeCmd(d *deps) *cobra.Command {
	o := &decodeOptions{d: d}
	cmd := &cobra.Command{
		Use: "decode KIND [HEX|BASE64|-]", Short: "Decode member metadata by hand, offline",
		Long: `Decode the metadata or assignment of one member. KIND says what the bytes are:

  consumer-subscription  metadata of a member, as DescribeGroups and the topic
                         __consumer_offsets have it: the consumer's, in it that
                         of Kafka Streams or of a worker
  consumer-assignment    likewise the assignment of a member
  subscription           what Kafka Streams has put in the first (SubscriptionInfo)
  assignment             and in the second (AssignmentInfo)
  metadata               what a worker says of itself when it joins
  stream-assignment      what a worker is given

The bytes are hex (an even number of hex digits and nothing else) or base64,
from the argument or from stdin.

With --from, each line of FILE is a JSON object with "kind" and "hex", and each
line of the output has "kind", "format_version" and "decoded", or "error" with
"message", "field" and "offset". Lines are independent: a bad one does not stop
the rest, and the exit code is 1 at the end.`,
		Example: `  streamctl decode consumer-subscription 0000000000010006636c69636b73ffffffff
  xxd -p member.bin | tr -d '\n' | streamctl decode assignment -
  streamctl decode --from members.jsonl`,
		Args: args(cobra.MaximumNArgs(2)),
		RunE: func(c *cobra.Command, a []string) error {
			if len(a) > 0 {
				o.kind = a[0]
			}
			if len(a) > 1 {
				o.text = a[1]
			}
			return runDecode(c.Context(), o)
		},
		ValidArgsFunction: func(_ *cobra.Command, a []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(a) == 0 {
				return groupmeta.DecodeKinds(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		Annotations: map[string]string{annotationConfig: "none"},
	}
	cmd.Flags().StringVar(&o.from, "from", "", "decode every line of this `file` of JSON objects; - is stdin")
	return cmd
}

func runDecode(ctx context.Context, o *decodeOptions) error {
	if f := o.d.flags.output; f.Machine() && f != render.JSON {
		return errs.Usagef("-o %s: decode writes JSON, as a table or wide one it is indented", f)
	}
	switch {
	case o.from != "" && o.kind != "":
		return errs.Usagef("KIND and --from exclude one another: the lines of a file name their kind")
	case o.from != "":
		return inTime(ctx, func() error { return decodeBatch(o) })
	case o.kind == "":
		return errs.WithHint(errs.Usagef("decode needs a KIND or --from FILE"), "kinds are "+strings.Join(groupmeta.DecodeKinds(), ", "))
	}
	if !slices.Contains(groupmeta.DecodeKinds(), o.kind) {
		return errs.Usagef("%w", &groupmeta.UnknownKindError{Kind: o.kind})
	}
	return inTime(ctx, func() error { return decodeOne(o) })
}

func decodeOne(o *decodeOptions) error {
	text := o.text
	if text == "" || text == "-" {
		b, err := io.ReadAll(io.LimitReader(o.d.io.In, maxDecodeLine+1))
		if err != nil {
			return fmt.Errorf("read stdin: %w", err)
		}
		if len(b) > maxDecodeLine {
			return fmt.Errorf("stdin is longer than %d bytes", maxDecodeLine)
		}
		text = string(b)
	}
	b, err := groupmeta.ParseBytes(text)
	if err != nil {
		return errs.WithCode(err, errs.Usage)
	}
	in, err := json.Marshal(map[string]string{"kind": o.kind, "hex": hex.EncodeToString(b)})
	if err != nil {
		return err
	}
	line, problem := groupmeta.DecodeLine(in)
	if o.d.flags.output != render.JSON {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, line, "", "  "); err != nil {
			return err
		}
		line = pretty.Bytes()
	}
	if _, err := o.d.io.Out.Write(append(line, '\n')); err != nil {
		return err
	}
	return problem
}

// decodeBatch answers line by line, as the lines come.
func decodeBatch(o *decodeOptions) error {
	in := o.d.io.In
	if o.from != "-" {
		f, err := o.d.open(o.from)
		if err != nil {
			return fmt.Errorf("decode: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	lines := newBatchLines(in, maxDecodeLine)
	out := bufio.NewWriter(o.d.io.Out)
	n, bad := 0, 0
	for {
		line, err := lines.next()
		if err != nil && !errors.Is(err, errLongLine) {
			if err = errors.Join(notEOF(err), out.Flush()); err != nil {
				return fmt.Errorf("decode: %w", err)
			}
			break
		}
		n++
		answer, problem := groupmeta.DecodeLine(line)
		if err != nil {
			answer, problem = groupmeta.RefuseLine(err), err
		}
		if problem != nil {
			bad++
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d lines could not be decoded in full; each says why", bad, n)
	}
	return nil
}
