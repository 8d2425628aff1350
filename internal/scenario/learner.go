package scenario

import (
	"encoding/json"
	"errors"

	"github.com/streamctl/streamctl/internal/assign"
)

// Learner is a scenario of the learner assignor: one round of a stream group,
// in the form of testdata/learner.
type Learner struct {
	Name  string
	Input assign.LearnerInput
}

// NameLearner is the assignor of these scenarios.
const NameLearner = assign.NameLearner

// learnerLine is a scenario as it is written. Fields that are for the reader
// only (bounds, chain, round, event, result) are passed over.
type learnerLine struct {
	Name          string               `json:"name"`
	Assignor      string               `json:"assignor"`
	Config        learnerConfig        `json:"config"`
	Subtopologies []learnerSubtopology `json:"subtopologies"`
	Processes     []learnerProcess     `json:"processes"`
}

// ParseLearner reads the scenario on one line of a file; line is its number,
// from 1, for what the error says. Errors are an *Error; of a bad line at least
// the name is returned, if it has one.
func ParseLearner(line int, data []byte) (*Learner, error) {
	s, err := parseLearner(data)
	if err != nil {
		err.Line = line
		return s, err
	}
	return s, nil
}

func parseLearner(data []byte) (*Learner, *Error) {
	var in learnerLine
	if err := decode(data, &in); err != nil {
		return &Learner{Name: in.Name}, err
	}
	c := &learnerChecker{}
	s := &Learner{Name: in.Name, Input: c.input(&in)}
	return s, c.err
}

// AppendResult appends a result of the scenario as JSON, in the form and order
// of testdata/learner.
func (s *Learner) AppendResult(b []byte, r *assign.LearnerResult) []byte {
	w := &resultWriter{b: b, group: &assign.Group{Topology: s.Input.Topology}}
	w.text(`{"processes":{`)
	for k := range r.Instances {
		in := &r.Instances[k]
		w.key(k, in.ID)
		w.tasks(`{"active":`, in.Active)
		w.tasks(`,"learner":`, in.Learner)
		w.tasks(`,"standby":`, in.Standby)
		w.tasks(`,"release":`, in.Release)
		w.text(`}`)
	}
	w.text(`}}`)
	return w.b
}

// AnswerLearner is Answer for a scenario of the learner assignor.
func AnswerLearner(line int, data []byte) ([]byte, error) {
	s, err := parseLearner(data)
	if err != nil {
		err.Line = line
		b, marshalErr := json.Marshal(struct {
			Name  string       `json:"name"`
			Error answerFailed `json:"error"`
		}{s.Name, newAnswerFailed(err)})
		return b, errors.Join(err, marshalErr)
	}
	r := assign.Learner(s.Input)
	b := append(appendText([]byte(`{"name":`), s.Name), `,"result":`...)
	return append(s.AppendResult(b, &r), '}'), nil
}
