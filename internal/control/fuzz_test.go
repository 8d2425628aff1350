package control_test

import (
	"testing"

	"github.com/streamctl/streamctl/internal/control"
)

// Any bytes are read or refused; what is read is written again, and that reads
// the same.
func FuzzValue(f *testing.F) {
	for _, v := range lines[valueVector](f, "values.jsonl", 80) {
		f.Add(v.Key, v.bytes())
	}
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		for _, key := range []string{key, "mode", "standbys", "leaving/" + anInstance, "status/" + anInstance} {
			first, err := again(key, value)
			if err != nil || len(first.Value) == 0 {
				continue
			}
			second, err := again(key, first.Value)
			if err != nil || string(second.Value) != string(first.Value) {
				t.Fatalf("%q\nwas written as %q\nand then as   %q, %v", value, first.Value, second.Value, err)
			}
		}
	})
}

// A fold takes any records.
func FuzzFold(f *testing.F) {
	f.Add("mode", []byte("{}"), []byte(nil), "leaving/"+anInstance)
	f.Fuzz(func(t *testing.T, key string, one, two []byte, other string) {
		s := control.Fold([]control.Record{
			{Key: key, Value: one}, {Key: other, Value: two, Offset: 1}, {Key: key, Value: two, Offset: 2}, {Key: other, Value: one, Offset: 3},
		})
		if s.Offset != 4 {
			t.Fatalf("offset %d", s.Offset)
		}
		for _, p := range s.Problems() {
			if p.Err == nil || p.Err.Error() == "" {
				t.Fatalf("problem without a reason: %+v", p)
			}
		}
	})
}

// A group id never makes an illegal topic name.
func FuzzTopicName(f *testing.F) {
	f.Add("clicks")
	f.Fuzz(func(t *testing.T, group string) {
		name := control.TopicName(group)
		if len(name) > 249 || name == "" {
			t.Fatalf("%q has %d bytes", name, len(name))
		}
		for _, c := range name {
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
				t.Fatalf("%q of group %q", name, group)
			}
		}
	})
}
