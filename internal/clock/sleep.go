// Package clock lets time pass.
package clock

import (
	"context"
	"time"
)

// Sleep waits for d, but no longer than ctx lives. It returns nil once d has
// passed, and the cause of the end of ctx when that came first; a context that
// has ended already is not waited with at all.
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
