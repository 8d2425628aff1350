package kclient

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
)

// WriteControl writes records into the control topic of a group, all at once,
// and reads each back; the topic is created when there is none. offsets are
// those of the records in their order, -1 for one that was not written, or of
// which that is not known: then the error says why.
func (c *Client) WriteControl(ctx context.Context, group string, records ...control.Record) (offsets []int64, err error) {
	offsets = make([]int64, len(records))
	for i := range offsets {
		offsets[i] = -1
	}
	if len(records) == 0 {
		return offsets, nil
	}
	t, err := controltopic.Open(c.opts, group)
	if err != nil {
		return offsets, err
	}
	defer t.Close()
	if _, err := t.Ensure(ctx); err != nil {
		return offsets, err
	}
	var all errgroup.Group // each is tried, whatever becomes of the others
	for i, r := range records {
		all.Go(func() error {
			at, err := t.Write(ctx, r)
			if err == nil {
				offsets[i] = at
			}
			return err
		})
	}
	return offsets, all.Wait()
}
