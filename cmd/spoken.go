package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/ui"
)

// wrapped breaks a line of stderr at blanks, with what follows the first line
// two blanks further in; width 0, no terminal, leaves it whole.
func wrapped(indent, text string, width int) []string {
	if width == 0 || len(indent)+render.Width(text) <= width {
		return []string{indent + text}
	}
	lines := render.Wrap(text, max(20, width-len(indent)-2))
	for i := range lines {
		if i > 0 {
			lines[i] = "  " + lines[i]
		}
		lines[i] = indent + lines[i]
	}
	return lines
}

func writeLines(w io.Writer, lines []string) {
	fmt.Fprintln(w, strings.Join(lines, "\n")) //nolint:errcheck // nowhere left to say it
}

func printStopped(out *ui.Streams, stop stopped, onStop string) {
	line := stop.by
	if onStop != "" {
		line += ": " + onStop
	}
	writeLines(out.Err, wrapped("", oneLine(line), out.ErrWidth()))
}

// What a person reads of many errors and hints; the documents of -o json and
// yaml have all of them.
const (
	errorsShown = 20
	hintsShown  = 5
)

// printError writes an error and its hints, each on lines of its own. What has
// been said already (errs.Silent) and a reader that went away are not said; of
// very many errors, as a cluster of a thousand dead brokers gives, the rest is
// counted. On a terminal lines break at blanks.
func printError(out *ui.Streams, err error) {
	if err == nil {
		return
	}
	var lines []string
	for _, e := range innerLeaves(err) {
		if _, silent := errors.AsType[errs.Silent](e); silent || errors.Is(e, syscall.EPIPE) {
			continue
		}
		lines = append(lines, "error: "+oneLine(e.Error()))
	}
	if more := len(lines) - errorsShown; more > 1 {
		lines = append(lines[:errorsShown], fmt.Sprintf("error: and %d more; the document of -o json has them all", more))
	}
	for i, h := range errs.Hints(err) {
		if i == hintsShown {
			break
		}
		lines = append(lines, "hint: "+oneLine(h))
	}
	for _, l := range lines {
		writeLines(out.Err, wrapped("", l, out.ErrWidth()))
	}
}

// leavesOf splits errors that were joined.
func leavesOf(err error) []error {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		text := make([]string, 0, len(j.Unwrap()))
		var out []error
		for _, e := range j.Unwrap() {
			text = append(text, e.Error())
			out = append(out, leavesOf(e)...)
		}
		if strings.Join(text, "\n") == err.Error() {
			return out
		}
	}
	return []error{err}
}

// innerLeaves also splits what a code or a hint is put around.
func innerLeaves(err error) []error {
	list := leavesOf(err)
	if len(list) == 1 {
		if u := errors.Unwrap(list[0]); u != nil && u.Error() == list[0].Error() {
			return innerLeaves(u)
		}
	}
	return list
}

// oneLine keeps a message on one line and takes control characters out of it:
// texts of a broker may be in it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || isBidi(r):
			return '\uFFFD'
		}
		return r
	}, strings.TrimSpace(s))
}

// isBidi tells the marks that turn the direction of text around.
func isBidi(r rune) bool {
	return r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}
