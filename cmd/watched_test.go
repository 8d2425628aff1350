package cmd

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

func matches(text, pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// waitsForDrain is what mark-leaving says once its mark is there.
const waitsForDrain = "marked. Ctrl-C ends the waiting, not the drain"

// watched is an output that tells when a text has come.
type watched struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	want string
	seen chan struct{}
	told bool
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.buf.Write(b)
	if !w.told && w.want != "" && strings.Contains(w.buf.String(), w.want) {
		w.told = true
		close(w.seen)
	}
	return n, err
}

// tell says that the text has come, whether it has or not.
func (w *watched) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.told {
		w.told = true
		close(w.seen)
	}
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}
