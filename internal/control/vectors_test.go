package control_test

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/streamctl/streamctl/internal/control"
)

// lines reads a file of vectors.
func lines[T any](t testing.TB, file string, atLeast int) []T {
	t.Helper()
	f, err := os.Open("../../testdata/control/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	s := bufio.NewScanner(f)
	s.Buffer(nil, 4<<20)
	for s.Scan() {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := s.Err(); err != nil || len(out) < atLeast {
		t.Fatalf("%s: %d lines, %v", file, len(out), err)
	}
	return out
}

type valueVector struct {
	Name    string
	Key     string
	Value   string
	Base64  []byte `json:"value_base64"`
	Decodes bool
	Written string
}

func (v *valueVector) bytes() []byte {
	if v.Base64 != nil {
		return v.Base64
	}
	return []byte(v.Value)
}

// again decodes a value of a key and writes what it says.
func again(key string, value []byte) (control.Record, error) {
	kind, instance := control.ParseKey(key)
	switch kind {
	case control.KindMode:
		return rewrite(value, control.DecodeMode, control.Mode.Record)
	case control.KindStandbys:
		return rewrite(value, control.DecodeStandbys, control.Standbys.Record)
	case control.KindReplace:
		return rewrite(value, control.DecodeReplace, control.Replace.Record)
	case control.KindLeaving:
		return rewrite(value, control.DecodeLeaving, of(instance, control.Leaving.Record))
	case control.KindStatus:
		return rewrite(value, control.DecodeStatus, of(instance, control.Status.Record))
	}
	return control.Record{}, nil
}

func rewrite[T any](value []byte, decode func([]byte) (T, error), record func(T) (control.Record, error)) (control.Record, error) {
	v, err := decode(value)
	if err != nil {
		return control.Record{}, err
	}
	return record(v)
}

// of binds the instance that a record is about.
func of[T any](instance string, record func(T, string) (control.Record, error)) func(T) (control.Record, error) {
	return func(v T) (control.Record, error) { return record(v, instance) }
}

func TestValueVectors(t *testing.T) {
	for _, v := range lines[valueVector](t, "values.jsonl", 80) {
		got, err := again(v.Key, v.bytes())
		switch {
		case v.Decodes != (err == nil):
			t.Errorf("%s: decodes %v: %v", v.Name, v.Decodes, err)
		case v.Decodes && (string(got.Value) != v.Written || got.Key != v.Key):
			t.Errorf("%s: key %s, written\n%s\nwant\n%s", v.Name, got.Key, got.Value, v.Written)
		}
	}
}

func TestTopicVectors(t *testing.T) {
	type vector struct{ Group, Topic string }
	for _, v := range lines[vector](t, "topics.jsonl", 10) {
		got := control.TopicName(v.Group)
		if got != v.Topic || len(got) > 249 {
			t.Errorf("group %q: %q (%d bytes), want %q", v.Group, got, len(got), v.Topic)
		}
	}
}

type foldVector struct {
	Name    string
	Records []struct {
		Key   string
		Value *string
	}
	ModeEpoch   *int64            `json:"mode_epoch"`
	Leaving     map[string]string // instance to mark
	StandbysSet *string           `json:"standbys_set"`
	Status      []string
	Undecodable []string
}

func TestFoldVectors(t *testing.T) {
	for _, v := range lines[foldVector](t, "folds.jsonl", 10) {
		var records []control.Record
		for i, r := range v.Records {
			rec := control.Record{Key: r.Key, Offset: int64(i)}
			if r.Value != nil {
				rec.Value = []byte(*r.Value)
			}
			records = append(records, rec)
		}
		s := control.Fold(records)
		marks := map[string]string{}
		for id, l := range s.Leaving {
			marks[id] = l.Mark
		}
		var problems []string
		for _, p := range s.Problems() {
			problems = append(problems, p.Key)
		}
		if (s.Mode == nil) != (v.ModeEpoch == nil) || s.Mode != nil && s.Mode.Epoch != *v.ModeEpoch ||
			(s.Standbys == nil) != (v.StandbysSet == nil) || s.Standbys != nil && s.Standbys.Set != *v.StandbysSet ||
			!maps.Equal(marks, v.Leaving) || !slices.Equal(slices.Sorted(maps.Keys(s.Status)), v.Status) ||
			!slices.Equal(problems, v.Undecodable) || s.Offset != int64(len(records)) {
			t.Errorf("%s: state %+v, marks %v, undecodable %q", v.Name, s, marks, problems)
		}
	}
}
