package scenario

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/streamctl/streamctl/internal/assign"
)

// Answer gives for a scenario the object with its name and the result of its
// assignor, or with an error that has message, line and field, without a line
// end. line is the number of the line, from 1. The error is what the object
// calls error; the object is there in any case.
func Answer(line int, data []byte) ([]byte, error) {
	s, err := parseKafka(data)
	if s.Assignor == NameLearner {
		return AnswerLearner(line, data)
	}
	if err == nil {
		var b []byte
		if b, err = s.answer(); err == nil {
			return b, nil
		}
	}
	err.Line = line
	b, marshalErr := json.Marshal(struct {
		Name  string       `json:"name"`
		Error answerFailed `json:"error"`
	}{s.Name, newAnswerFailed(err)})
	return b, errors.Join(err, marshalErr)
}

type answerFailed struct {
	Message string  `json:"message"`
	Line    int     `json:"line"`
	Field   *string `json:"field"` // null: it is about no field
}

func newAnswerFailed(err *Error) answerFailed {
	a := answerFailed{Message: err.Error(), Line: err.Line}
	if err.Field != "" {
		a.Field = &err.Field
	}
	return a
}

func (s *Kafka) answer() ([]byte, *Error) {
	a, err := assign.Find(s.Assignor, s.KafkaVersion)
	if err != nil {
		return nil, &Error{Field: "kafka_version", Text: err.Error()}
	}
	r, err := a.Assign(s.Group)
	if err != nil {
		return nil, &Error{Text: err.Error()}
	}
	b := append(appendText([]byte(`{"name":`), s.Name), `,"result":`...)
	return append(s.AppendResult(b, r), '}'), nil
}

// maxLine bounds a line of a scenario file, in bytes.
const maxLine = 1 << 30

// AnswerAll answers each line of a file of scenarios with a line; empty ones
// are passed over. A bad one does not stop it. It returns how many were bad;
// the error is about reading and writing.
func AnswerAll(r io.Reader, w io.Writer) (bad int, err error) {
	in, out := bufio.NewReaderSize(r, 1<<16), bufio.NewWriterSize(w, 1<<16)
	var data []byte
	for line := 1; ; line++ {
		var done bool
		if data, done, err = readLine(in, data[:0]); err != nil {
			return bad, errors.Join(fmt.Errorf("line %d: %w", line, err), out.Flush())
		}
		if data = bytes.TrimSpace(data); len(data) > 0 {
			b, lineErr := Answer(line, data)
			if lineErr != nil {
				bad++
			}
			if _, err := out.Write(append(b, '\n')); err != nil {
				return bad, err
			}
		}
		if done {
			return bad, out.Flush()
		}
	}
}

// readLine reads a line of any length up to maxLine; done says that it is the
// last.
func readLine(in *bufio.Reader, data []byte) (_ []byte, done bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		data = append(data, part...)
		switch {
		case errors.Is(err, io.EOF):
			return data, true, nil
		case len(data) > maxLine:
			return data, true, errors.New("longer than " + strconv.Itoa(maxLine) + " bytes")
		case err == nil:
			return data, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return data, true, err
		}
	}
}
