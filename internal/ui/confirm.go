package ui

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrNoTerminal is returned by Confirm when nobody can be asked.
var ErrNoTerminal = errors.New("no terminal to ask on, and --yes is not given")

// Confirm asks on Err and reads one line from In. Only "y" and "yes" (in any
// case) mean yes; the end of the input means no.
func (s *Streams) Confirm(question string) (bool, error) {
	if !s.InTTY || !s.ErrTTY {
		return false, ErrNoTerminal
	}
	if _, err := fmt.Fprintf(s.Err, "%s [y/N] ", question); err != nil {
		return false, err
	}
	line, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}
