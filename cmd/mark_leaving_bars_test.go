package cmd

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// drawing takes what bars draw.
type drawing struct {
	mu   sync.Mutex
	text strings.Builder
}

func (d *drawing) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(b)
}

// lines are all lines that were drawn, without what moves the cursor.
func (d *drawing) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Split(regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]").ReplaceAllString(d.text.String(), ""), "\n")
}

// On a terminal no line of a drain is longer than it is wide, rows stand below
// their headings, and the last row is not shown a second time.
func TestBarsOfADrainFitTheTerminal(t *testing.T) {
	for _, width := range []string{"80", "60"} {
		d := fakeDeps(t, nil, "COLUMNS="+width)
		out := &drawing{}
		d.io.Err, d.io.ErrTTY = out, true
		b := newDrainBars(d)
		long := "clicks-7d9f8b6c5d-x2x9z"
		rate, left, to := 12267.0, 3*time.Second, int64(8112)
		b.say("a note of many words, that a terminal would break in the middle of one of them if it were left to it: " + long)
		b.draw(5*time.Second, &progress.DrainLook{Owns: 1, ToRestore: &to, Rate: &rate, Left: &left, Tasks: []progress.DrainTask{
			{Task: model.TaskID{Partition: 5}, Owner: long, On: long, Stateful: true, Remaining: &to, Total: &to, Rate: &rate},
		}})
		for end := time.Now().Add(10 * time.Second); !strings.Contains(strings.Join(out.lines(), "\n"), "8,112 to go"); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("width %s: no bar: %q", width, out.lines())
			}
		}
		moved := make([]*progress.Handover, 8)
		for i := range moved {
			moved[i] = &progress.Handover{Task: model.TaskID{Partition: int32(i)}, ToName: long}
		}
		b.draw(6*time.Second, &progress.DrainLook{Moved: moved})
		b.close()
		lines := out.lines()
		last, seen := 0, map[string]int{}
		for i, l := range lines {
			l = strings.TrimRight(l, " ")
			seen[l]++
			if w := render.Width(l); w > d.io.ErrWidth() {
				t.Errorf("width %s: %d columns: %q", width, w, l)
			}
			if strings.HasPrefix(l, "     6s  ") {
				last = i
			}
		}
		rows := 0
		for _, l := range lines[last:] {
			if strings.Contains(l, "6s ") {
				rows++
			}
		}
		if last == 0 || rows != 1 || !strings.HasPrefix(lines[0], "   TIME  ROUND  OWNS") {
			t.Errorf("width %s: the last row is there %d times after line %d: %q", width, rows, last, lines)
		}
	}
}
