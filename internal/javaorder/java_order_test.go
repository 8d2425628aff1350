package javaorder_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/streamctl/streamctl/internal/javaorder"
)

// recorded is a line of testdata/java-order.jsonl.
type recorded struct {
	Map *struct {
		Capacity int
		Steps    []struct{ Put, Compute, Present *uint32 }
		Order    []int32
	}
	Queue *struct {
		Steps []struct {
			Fill          []int
			Offer, Remove *int
			Poll          bool
		}
		Polled, Items []int
	}
	UUIDs   []string
	Strings []struct {
		Text string
		Hash uint32
	}
	Texts *struct {
		Capacity int
		Steps    []struct{ Put, Compute *string }
		Order    []int32
	}
}

func lines(t *testing.T, do func(n int, r *recorded)) {
	t.Helper()
	f, err := os.Open("testdata/java-order.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r recorded
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		n++
		do(n, &r)
	}
	if in.Err() != nil || n != 362 {
		t.Fatalf("%d lines, %v; want 362", n, in.Err())
	}
}

func TestHashMap(t *testing.T) {
	lines(t, func(n int, r *recorded) {
		if r.Map == nil {
			return
		}
		m := javaorder.NewHashMap(r.Map.Capacity)
		for _, s := range r.Map.Steps {
			switch {
			case s.Put != nil:
				m.Put(*s.Put)
			case s.Compute != nil:
				m.ComputeIfAbsent(*s.Compute)
			default:
				m.ComputePresent()
			}
		}
		if got := m.Order(); !slices.Equal(got, r.Map.Order) {
			t.Errorf("line %d: order %v, want %v", n, got, r.Map.Order)
		}
	})
}

func TestTextMap(t *testing.T) {
	lines(t, func(n int, r *recorded) {
		if r.Texts == nil {
			return
		}
		m := javaorder.NewTextMap(r.Texts.Capacity)
		for _, s := range r.Texts.Steps {
			if s.Put != nil {
				m.Put(*s.Put)
			} else {
				m.ComputeIfAbsent(*s.Compute)
			}
		}
		if got := m.Order(); !slices.Equal(got, r.Texts.Order) {
			t.Errorf("line %d: order %v, want %v", n, got, r.Texts.Order)
		}
	})
}

func TestPriorityQueue(t *testing.T) {
	lines(t, func(n int, r *recorded) {
		if r.Queue == nil {
			return
		}
		var keys []int // by element
		at := map[int]int{}
		q := javaorder.NewPriorityQueue(func(a, b int) bool { return keys[a] < keys[b] }, func(x, i int) { at[x] = i })
		polled := []int{}
		for _, s := range r.Queue.Steps {
			switch {
			case s.Offer != nil:
				keys = append(keys, *s.Offer)
				q.Offer(len(keys) - 1)
			case s.Remove != nil:
				q.RemoveAt(at[*s.Remove])
			case s.Poll:
				x, ok := q.Poll()
				if !ok {
					x = -1
				}
				polled = append(polled, x)
			default:
				keys = s.Fill
				items := make([]int, len(keys))
				for i := range items {
					items[i] = i
				}
				q.Fill(items)
			}
		}
		if !slices.Equal(polled, r.Queue.Polled) || !slices.Equal(q.Items(), r.Queue.Items) || q.Len() != len(r.Queue.Items) {
			t.Errorf("line %d: polled %v, left %v; want %v, %v", n, polled, q.Items(), r.Queue.Polled, r.Queue.Items)
		}
		for i, x := range q.Items() {
			if at[x] != i {
				t.Errorf("line %d: element %d was tracked at %d, is at %d", n, x, at[x], i)
			}
		}
	})
}

func TestQueueForgetsWhatLeft(t *testing.T) {
	at := map[int]int{}
	q := javaorder.NewPriorityQueue(func(a, b int) bool { return a < b }, func(x, i int) { at[x] = i })
	q.Fill([]int{3, 1, 2})
	if x, _ := q.Poll(); x != 1 || at[1] != -1 {
		t.Errorf("polled %d, tracked at %d", x, at[1])
	}
	q.RemoveAt(at[3])
	if at[3] != -1 || !slices.Equal(q.Items(), []int{2}) {
		t.Errorf("removed one is tracked at %d, left %v", at[3], q.Items())
	}
	q.Reset()
	if _, ok := q.Poll(); ok || q.Len() != 0 {
		t.Error("an empty queue gave something")
	}
}

func TestUUIDOrder(t *testing.T) {
	lines(t, func(_ int, r *recorded) {
		if r.UUIDs == nil {
			return
		}
		ids := make([]javaorder.UUID, len(r.UUIDs))
		for i, s := range r.UUIDs {
			id, err := javaorder.ParseUUID(s)
			if err != nil || id.String() != s {
				t.Fatalf("%q reads as %q, %v", s, id, err)
			}
			ids[i] = id
		}
		shuffle(ids)
		slices.SortFunc(ids, javaorder.UUID.Compare)
		for i, id := range ids {
			if id.String() != r.UUIDs[i] {
				t.Errorf("place %d has %q, want %q", i, id, r.UUIDs[i])
			}
		}
	})
}

func TestParseUUID(t *testing.T) {
	id, err := javaorder.ParseUUID("23871EE6-f703-4fc9-8576-be61e8994eba")
	if err != nil || id.String() != "23871ee6-f703-4fc9-8576-be61e8994eba" {
		t.Errorf("capitals: %q, %v", id, err)
	}
	for _, s := range []string{
		"", "1", "23871ee6f7034fc98576be61e8994eba", "23871ee6-f703-4fc9-8576-be61e8994eb", "23871ee6-f703-4fc9-8576-be61e8994eba0",
		"23871eeg-f703-4fc9-8576-be61e8994eba", "23871ee6-f703-4fc9-8576+be61e8994eba", "23871ee6-f70--4fc9-8576-be61e8994eba",
	} {
		if id, err := javaorder.ParseUUID(s); err == nil {
			t.Errorf("%q reads as %q", s, id)
		}
	}
}

func TestStrings(t *testing.T) {
	lines(t, func(_ int, r *recorded) {
		if r.Strings == nil {
			return
		}
		var texts []string
		for _, s := range r.Strings {
			texts = append(texts, s.Text)
			if got := javaorder.HashString(s.Text); got != s.Hash {
				t.Errorf("hash of %q is %d, want %d", s.Text, got, s.Hash)
			}
		}
		want := slices.Clone(texts)
		shuffle(texts)
		slices.SortFunc(texts, javaorder.CompareStrings)
		if !slices.Equal(texts, want) {
			t.Errorf("order %q, want %q", texts, want)
		}
		for i, a := range want {
			for j, b := range want {
				if got := javaorder.CompareStrings(a, b); cmp.Compare(got, 0) != cmp.Compare(i, j) {
					t.Errorf("%q against %q: %d", a, b, got)
				}
			}
		}
	})
}

func shuffle[T any](s []T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	rnd.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}
