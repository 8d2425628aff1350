package render

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// terminal takes what is drawn.
type terminal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(b)
}

func (t *terminal) has(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Contains(t.buf.String(), text)
}

// shows waits until something was drawn.
func (t *terminal) shows(tb testing.TB, text string) {
	tb.Helper()
	for end := time.Now().Add(10 * time.Second); !t.has(text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("never drawn: %q\n%q", text, t.buf.String())
		}
	}
}

// A heading and a bar a thing are drawn again in place; other lines go above
// them, and a bar that is over goes.
func TestBars(t *testing.T) {
	out := &terminal{}
	b := NewBars(out, 80)
	b.Draw("  5s  owns 2", []Bar{
		{Key: "0_2", Label: "0_2 pod-a", Text: "8,112 to go", Current: 50, Total: 100}, {Key: "0_5", Label: "0_5 pod-b", Text: "not known"},
	})
	out.shows(t, "  5s  owns 2")
	out.shows(t, "0_2 pod-a  [========>         ] 8,112 to go")
	out.shows(t, "0_5 pod-b  [")
	if err := b.Line("0_2 now on pod-a"); err != nil {
		t.Fatal(err)
	}
	out.shows(t, "0_2 now on pod-a\n")
	b.Draw("  6s  owns 1", []Bar{{Key: "0_5", Label: "0_5 pod-b", Text: "ready", Current: 100, Total: 100}})
	out.shows(t, "  6s  owns 1")
	out.shows(t, "ready")
	if err := b.Line("0_5 now on pod-b"); err != nil {
		t.Fatal(err)
	}
	b.Draw("  7s  owns 0", nil)
	done := make(chan struct{})
	go func() { b.Close(true); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("does not end")
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	text := out.buf.String()
	if last := strings.LastIndex(text, "  7s  owns 0"); last < 0 || strings.Contains(text[last:], "0_") || strings.LastIndex(text, "0_5 now on pod-b") > last {
		t.Errorf("what stays: %q", text)
	}
}
