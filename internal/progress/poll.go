package progress

import (
	"context"
	"time"
)

// Poll looks again and again until step says that it is done: at once, then
// every so often, counted from the end of a look. A failed look is handed to
// step, which decides whether to go on. It ends with what step returns, or with
// the cause of the context's end.
func Poll[T any](ctx context.Context, every time.Duration, now func() time.Time,
	look func(context.Context) (T, error), step func(at time.Time, v T, err error) (done bool, _ error),
) error {
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		v, err := look(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
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
