// Package ui holds what a command talks to: the three streams, what is known
// about the terminal behind them, and the one prompt. It writes nothing by
// itself but that prompt.
package ui

import (
	"io"
	"os"
	"strconv"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// Streams is the standard streams of a command. Tests fill it with buffers;
// the zero values of the terminal fields mean "no terminal".
type Streams struct {
	In  io.Reader
	Out io.Writer // the report and nothing else
	Err io.Writer // errors, progress, prompts, hints

	InTTY, OutTTY, ErrTTY bool

	Color   Mode                             // --color
	Size    func() int                       // columns of the terminal behind Out, 0 when unknown; nil: unknown
	ErrSize func() int                       // of that behind Err; nil: as Size
	Env     func(name string) (string, bool) // nil: an empty environment
}

// System returns the streams of this process.
func System() *Streams {
	return &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: isTerminal(os.Stdin), OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
		Size: sizeOf(os.Stdout), ErrSize: sizeOf(os.Stderr),
		Env: os.LookupEnv,
	}
}

// sizeOf gives the columns of the terminal behind a file when asked.
func sizeOf(f *os.File) func() int {
	return func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return w
	}
}

func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

// DefaultWidth is the width taken for a terminal that does not tell its size.
const DefaultWidth = 80

// Width returns the columns that output may use: 0 when Out is no terminal (no
// limit), else COLUMNS when it is a positive number, else the size of the
// terminal, else DefaultWidth.
func (s *Streams) Width() int {
	return s.columns(s.OutTTY, s.Size)
}

// ErrWidth is Width for Err.
func (s *Streams) ErrWidth() int {
	if s.ErrSize == nil {
		return s.columns(s.ErrTTY, s.Size)
	}
	return s.columns(s.ErrTTY, s.ErrSize)
}

func (s *Streams) columns(terminal bool, size func() int) int {
	if !terminal {
		return 0
	}
	if v, _ := s.env("COLUMNS"); v != "" {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			return n
		}
	}
	if size != nil {
		if n := size(); n > 0 {
			return n
		}
	}
	return DefaultWidth
}

func (s *Streams) env(name string) (string, bool) {
	if s.Env == nil {
		return "", false
	}
	return s.Env(name)
}
