package progress

import (
	"context"
	"errors"
	"time"
)

// EndedError says that the context of a Poll ended in the middle of a look that
// failed for it. It reads as the cause of that end.
type EndedError struct {
	Cause error // of the end
	Look  error // what the look says that it waited for
}

func (e *EndedError) Error() string { return e.Cause.Error() }

// Unwrap gives both.
func (e *EndedError) Unwrap() []error { return []error{e.Cause, e.Look} }

// LookOf is what the look that did not end in time waited for; nil when err says
// nothing of that.
func LookOf(err error) error {
	if e, ok := errors.AsType[*EndedError](err); ok {
		return e.Look
	}
	return nil
}

// Poll looks again and again until step says that it is done: at once, then
// every so often, counted from the end of a look. A failed look is handed to
// step, which decides whether to go on. It ends with what step returns, or with
// the cause of the context's end, in an EndedError where a look failed for it.
func Poll[T any](ctx context.Context, every time.Duration, now func() time.Time,
	look func(context.Context) (T, error), step func(at time.Time, v T, err error) (done bool, _ error),
) error {
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		v, err := look(ctx)
		if cause := context.Cause(ctx); cause != nil {
			if err != nil {
				return &EndedError{cause, err}
			}
			return cause
		}
		if done, err := step(now(), v, err); done || err != nil {
			return err
		}
		timer.Reset(every)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}
