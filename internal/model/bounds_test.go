package model_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/model"
)

type boundsLine struct {
	Name    string   `json:"name"`
	Factor  float64  `json:"balancing_factor"`
	Tasks   int      `json:"tasks"`
	Workers []int    `json:"workers"`
	Bounds  [][2]int `json:"bounds"`
}

func TestBoundsOfRecordedRounds(t *testing.T) {
	f, err := os.Open("testdata/bounds.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for s := bufio.NewScanner(f); s.Scan(); lines++ {
		var l boundsLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		want := make([]model.Range, len(l.Bounds))
		for i, b := range l.Bounds {
			want[i] = model.Range{Low: b[0], High: b[1]}
		}
		got := model.Bounds(l.Tasks, l.Workers, model.FactorThousandths(l.Factor))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d tasks, workers %v, r %v: bounds %v, want %v", l.Name, l.Tasks, l.Workers, l.Factor, got, want)
		}
	}
	if lines < 100 {
		t.Fatalf("only %d lines", lines)
	}
}

// In floating point ⌈(14×3÷5)÷1.2⌉ is 8.
func TestBoundsAreReckonedInWholeNumbers(t *testing.T) {
	got := model.Bounds(14, []int{3, 2}, model.FactorThousandths(1.2))
	if got[0].Low != 7 {
		t.Errorf("low %d, want 7", got[0].Low)
	}
}

func TestBoundsAlwaysLeaveRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.IntRange(0, 5000).Draw(t, "tasks")
		workers := rapid.SliceOfN(rapid.IntRange(1, 8), 1, 40).Draw(t, "workers")
		r := rapid.Int64Range(1000, 1_000_000_000).Draw(t, "thousandths")
		low, high := 0, 0
		for i, b := range model.Bounds(tasks, workers, r) {
			if b.Low > b.High || b.Low < 0 {
				t.Fatalf("instance %d has bounds %v", i, b)
			}
			low, high = low+b.Low, high+min(b.High, tasks)
		}
		if low > tasks || high < tasks {
			t.Fatalf("lows add up to %d, highs to %d, there are %d tasks", low, high, tasks)
		}
	})
}

func TestProportion(t *testing.T) {
	for _, c := range []struct{ whole, n, all, want int64 }{
		{100, 50, 100, 50},
		{100, 1, 3, 34}, // rounded up
		{100, 0, 3, 0},
		{100, 7, 3, 100},
		{0, 1, 3, 0},
		{1 << 62, 1<<62 - 1, 1 << 62, 1<<62 - 1},
	} {
		if got := model.Proportion(c.whole, c.n, c.all); got != c.want {
			t.Errorf("Proportion(%d, %d, %d) = %d, want %d", c.whole, c.n, c.all, got, c.want)
		}
	}
}
