package worker

import (
	"slices"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
)

// Only who has had a status for a whole day, and was in none of the rounds of
// all that time, is forgotten.
func TestAbsences(t *testing.T) {
	t.Parallel()
	a := absences{}
	start := time.Unix(1000, 0)
	with := []string{"gone", "here", "now and then"}
	look := func(after time.Duration, in ...string) []string {
		set := map[string]bool{}
		for _, id := range in {
			set[id] = true
		}
		return a.due(start.Add(after), with, set, statusKept)
	}
	for _, step := range []struct {
		after time.Duration
		in    []string
		want  []string
	}{
		{0, []string{"here"}, nil},
		{23 * time.Hour, []string{"here", "now and then"}, nil},
		{24*time.Hour - time.Second, []string{"here"}, nil},
		{24 * time.Hour, []string{"here"}, []string{"gone"}},
		{47 * time.Hour, []string{"here"}, []string{"gone"}},
		{48 * time.Hour, []string{"here"}, []string{"gone", "now and then"}},
	} {
		if got := look(step.after, step.in...); !slices.Equal(got, step.want) {
			t.Errorf("after %v: %v, want %v", step.after, got, step.want)
		}
	}
	with = []string{"here"}
	look(49 * time.Hour)
	if len(a) != 1 {
		t.Errorf("those without a status are still counted: %v", a)
	}
}

// What a worker hears is the mode, the mark on itself and who has a status.
func TestHeard(t *testing.T) {
	t.Parallel()
	const me, other = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
	h := newHeard(me)
	mark := []byte(`{"schema_version":1,"mark":"m","timeout_ms":null,"deadline":null,"at":"2026-11-30T06:30:00.000Z","who":"a","reason":null}`)
	at := int64(0)
	put := func(key string, value []byte) {
		h.take(record(key, value, at))
		at += 2
	}
	put("status/"+other, []byte("not even JSON"))
	put("leaving/"+other, mark)
	if _, marked := h.mark(); marked || len(h.state.Leaving) != 0 || !slices.Equal(h.withStatus(), []string{other}) {
		t.Errorf("heard %+v", h)
	}
	put("leaving/"+me, mark)
	if m, marked := h.mark(); !marked || m.Mark != "m" {
		t.Errorf("heard %+v", h)
	}
	put("leaving/"+me, nil)
	put("status/"+other, nil)
	put("nonsense", []byte("x"))
	if _, marked := h.mark(); marked || len(h.withStatus()) != 0 || h.offset != at-1 {
		t.Errorf("heard %+v, offset %d after %d", h, h.offset, at)
	}
}

func record(key string, value []byte, offset int64) control.Record {
	return control.Record{Key: key, Value: value, Offset: offset}
}
