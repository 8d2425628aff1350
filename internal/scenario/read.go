package scenario

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Scenario is one line of a file: of Kafka's own assignors or of learner.
type Scenario struct {
	Name     string   // "line 3" where the line has none
	Kafka    *Kafka   // nil for learner
	Learner  *Learner // nil for the others
	Assignor string
}

// Read reads all scenarios of a file; empty lines are passed over. The error
// about a line is an *Error.
func Read(r io.Reader) ([]Scenario, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	var out []Scenario
	var data []byte
	for line := 1; ; line++ {
		var done bool
		var err error
		if data, done, err = readLine(in, data[:0]); err != nil {
			return out, fmt.Errorf("line %d: %w", line, err)
		}
		if data = bytes.TrimSpace(data); len(data) > 0 {
			s, err := readOne(line, data)
			if err != nil {
				return out, err
			}
			out = append(out, s)
		}
		if done {
			return out, nil
		}
	}
}

func readOne(line int, data []byte) (Scenario, error) {
	var head struct {
		Assignor string `json:"assignor"`
	}
	if err := decode(data, &head); err != nil {
		err.Line = line
		return Scenario{}, err
	}
	s := Scenario{Assignor: head.Assignor}
	var err error
	if head.Assignor == NameLearner {
		if s.Learner, err = ParseLearner(line, data); err == nil {
			s.Name = s.Learner.Name
		}
	} else if s.Kafka, err = ParseKafka(line, data); err == nil {
		s.Name = s.Kafka.Name
	}
	if s.Name == "" {
		s.Name = fmt.Sprintf("line %d", line)
	}
	return s, err
}

// Is reports whether a file that begins so holds scenarios, not one of our own
// documents, which all tell their kind. It reads no more than it has to.
func Is(r io.Reader) bool {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		switch key {
		case "kind":
			return false
		case "assignor", "subtopologies", "processes", "members":
			return true
		}
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return false
		}
	}
	return false
}
