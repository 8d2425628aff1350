package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// endlessLine is how many times its limit a line may have before the file is
// given up: a device gives bytes for ever.
const endlessLine = 16

// errLongLine says that a line of a batch was passed over for its length.
var errLongLine = errors.New("the line is too long")

// batchLines gives the lines of a batch file that are not blank, without their
// line ends; a byte order mark at the beginning is none of them.
type batchLines struct {
	in    *bufio.Reader
	limit int
	begun bool
	line  []byte
}

func newBatchLines(in io.Reader, limit int) *batchLines {
	return &batchLines{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// next gives the next line, which holds until the next call. After errLongLine
// the lines that follow can be read; io.EOF ends the file.
func (l *batchLines) next() ([]byte, error) {
	for {
		line, err := l.read()
		if !l.begun {
			l.begun, line = true, bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		line = bytes.TrimSpace(line)
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = nil // the last line has no end; the next read meets the end of the file
		}
		if err != nil || len(line) > 0 {
			return line, err
		}
	}
}

// read reads up to the end of a line, and of one that is too long no more than
// is needed to see it.
func (l *batchLines) read() ([]byte, error) {
	l.line = l.line[:0]
	size := 0
	for {
		part, err := l.in.ReadSlice('\n')
		size += len(part)
		long := size > l.limit
		if !long {
			l.line = append(l.line, part...)
		}
		switch {
		case size > endlessLine*l.limit:
			return nil, errors.New("no line ends in sight")
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case long:
			return nil, errLongLine
		}
		return l.line, err
	}
}

// notEOF is err unless it only says that the file has ended.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
