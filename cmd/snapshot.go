package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// snapshotOptions is everything snapshot needs.
type snapshotOptions struct {
	d      *deps
	groups []string
	file   string
}

func newSnapshotCmd(d *deps) *cobra.Command {
	o := &snapshotOptions{d: d}
	cmd := &cobra.Command{
		Use: "snapshot [GROUP...]", Short: "Write what a cluster answers about groups into a file",
		Long: `Write everything that a cluster answers about groups, undigested, as a file that
every reading command takes in place of a broker (--from FILE). It holds names,
offsets and metadata, no records and no secrets.`,
		Example: "  streamctl snapshot shop -f shop.json\n  streamctl describe group --from shop.json",
		Args:    args(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, a []string) error {
			if err := d.argAndFlag(a, c.Flags().Changed(config.KeyGroup)); err != nil {
				return err
			}
			o.groups = a
			return runSnapshot(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, -1),
	}
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "write into this `file` instead of stdout")
	return cmd
}

func runSnapshot(ctx context.Context, o *snapshotOptions) error {
	if f := o.d.flags.output; f != render.Table && f != "" && f != render.JSON {
		return errs.Usagef("-o %s: a snapshot is always JSON", f)
	}
	r, err := o.d.reader(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	ids := o.groups
	if len(ids) == 0 {
		id, err := r.oneGroup(ctx, "")
		if err != nil {
			return err
		}
		ids = []string{id}
	}
	q := r.describeQuery(ids)
	q.Topology, q.APIVersions, q.AuthorizedOps, q.StableEnds = true, true, true, true
	s, err := r.look(ctx, q)
	if err != nil {
		return err
	}
	// A group that does not exist is an error, not an empty snapshot.
	groups, missing := r.build(s, ids)
	if len(groups) == 0 {
		return missing
	}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	doc, err := sortedKeys(b.Bytes())
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if err := o.write(ctx, printable(doc)); err != nil {
		return err
	}
	return errors.Join(missing, snapshotErrors(s))
}

func snapshotErrors(s *snapshot.Snapshot) error { return partial(readErrors(s)) }

// readErrors are the errors of a snapshot as the model names them.
func readErrors(s *snapshot.Snapshot) []model.ReadError {
	list := make([]model.ReadError, 0, len(s.Errors))
	for _, e := range s.Errors {
		list = append(list, model.ReadError{Object: e.Object, Code: e.Code, Text: e.Text, Hint: e.Hint})
	}
	return list
}

// sortedKeys is a JSON text with the keys of its objects sorted, as those of
// every document are.
func sortedKeys(doc []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // maps are written by key
		return nil, err
	}
	return b.Bytes(), nil
}

// printable escapes what does not print in a JSON text, so that names of a
// broker reach a terminal as harmless as in every other output.
func printable(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for len(doc) > 0 {
		r, size := utf8.DecodeRune(doc)
		switch {
		case r < utf8.RuneSelf && r != 0x7f || unicode.IsPrint(r):
			out = append(out, doc[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		doc = doc[size:]
	}
	return out
}
