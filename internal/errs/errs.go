// Package errs gives errors what an operator needs besides their text: the
// exit code of the command (commands.md, Exit codes) and a hint that says what
// to try. Core packages return plain typed errors; kclient and cmd wrap them
// here.
package errs

import (
	"errors"
	"fmt"
)

// Exit codes of every command.
const (
	OK          = 0   // done, or nothing to do
	Failed      = 1   // failed, also in part; refused; not found
	Usage       = 2   // bad usage, nothing was sent
	Unmet       = 3   // a condition that was asked for is not met
	TimedOut    = 4   // a wait ran out; the request stays in force
	Interrupted = 130 // Ctrl-C
	Terminated  = 143 // SIGTERM
)

type coded struct {
	err  error
	code int
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

// WithCode returns err so that ExitCode gives code for it; nil stays nil.
func WithCode(err error, code int) error {
	if err == nil {
		return nil
	}
	return &coded{err: err, code: code}
}

// Usagef is an error of exit code 2: bad usage, nothing was sent.
func Usagef(format string, args ...any) error {
	return WithCode(fmt.Errorf(format, args...), Usage)
}

// Silent is an error that carries only an exit code: everything worth saying
// has been printed already.
type Silent int

func (s Silent) Error() string { return fmt.Sprintf("exit code %d", int(s)) }

// ExitCode returns the exit code for err: 0 for nil, the code given with
// WithCode or Silent (of several joined errors the first found in depth-first
// order), else 1.
func ExitCode(err error) int {
	if err == nil {
		return OK
	}
	if c, ok := errors.AsType[*coded](err); ok {
		return c.code
	}
	if s, ok := errors.AsType[Silent](err); ok {
		return int(s)
	}
	return Failed
}

type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

// WithHint attaches one line that says what to try; nil stays nil, an empty
// hint adds nothing.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return &hinted{err: err, hint: hint}
}

// Hints returns the hints found in err and in everything it wraps or joins,
// outermost first, each text once.
func Hints(err error) []string {
	var out []string
	seen := map[string]bool{}
	var walk func(error)
	walk = func(err error) {
		if err == nil {
			return
		}
		if h, ok := err.(*hinted); ok && !seen[h.hint] { //nolint:errorlint // the tree is walked by hand, node by node
			seen[h.hint] = true
			out = append(out, h.hint)
		}
		switch u := err.(type) { //nolint:errorlint // as above
		case interface{ Unwrap() error }:
			walk(u.Unwrap())
		case interface{ Unwrap() []error }:
			for _, e := range u.Unwrap() {
				walk(e)
			}
		}
	}
	walk(err)
	return out
}
