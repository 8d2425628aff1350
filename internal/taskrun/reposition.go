package taskrun

import (
	"context"
	"fmt"
	"time"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/model"
)

// A client that finds its offset out of range could go on from the start of the
// log by itself, and everything would be processed again without a word. So the
// client never does: the offset to go on from is chosen here, and told.

// repositionWait bounds the questions that a new offset takes.
const repositionWait = 10 * time.Second

// reposition finds the offset from which an input goes on whose next one is not
// in the log, and has it fetched from there. Not in the inputs poller, which has
// other inputs to fetch.
func (h *Host) reposition(s *stint, tp model.TopicPartition) {
	ctx, cancel := context.WithTimeout(h.ctx, repositionWait)
	defer cancel()
	next := s.box.rewind(tp, -1)
	to, why := h.choose(ctx, s.t, tp, next)
	if why != nil {
		h.trouble(s.t, fmt.Errorf("input %q: %w", tp, why))
	}
	if to == next { // nothing is known, or it is in the log again
		_ = clock.Sleep(h.ctx, errorPause) // a job of a host that ends is never run
	}
	h.inputs.do(func() {
		if h.byInput[tp] == s {
			s.box.rewind(tp, to)
			h.addInput(tp, to)
		}
	})
}

// choose gives the offset to go on from, and why it is another than next.
func (h *Host) choose(ctx context.Context, t *task, tp model.TopicPartition, next int64) (int64, error) {
	start, err := h.offsetOf(ctx, tp, atStart)
	if err != nil {
		return next, err
	}
	end, err := h.offsetOf(ctx, tp, atEnd)
	switch {
	case err != nil:
		return next, err
	case next < start:
		return start, fmt.Errorf("records %d to %d were deleted before they were processed: it goes on at %d", next, start-1, start)
	case next <= end:
		return next, nil
	}
	offsets, err := h.committed(ctx, t)
	if err != nil {
		return next, err
	}
	lost := fmt.Sprintf("the log ends at %d, but was read up to %d: records are lost", end, next)
	if at := offsets[tp]; at >= start && at <= end {
		return at, fmt.Errorf("%s; it goes on at the committed offset %d", lost, at)
	}
	return start, fmt.Errorf("%s; it begins again at the log's start, %d", lost, start)
}
