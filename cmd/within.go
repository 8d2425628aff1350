package cmd

import "context"

// within runs f and ends with the context where f does not: opening or reading
// a pipe to which nobody writes cannot be interrupted. f then goes on alone
// until the process ends.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// inTime is within for what has no result.
func inTime(ctx context.Context, f func() error) error {
	_, err := within(ctx, func() (struct{}, error) { return struct{}{}, f() })
	return err
}
