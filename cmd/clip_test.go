package cmd

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/streamctl/streamctl/internal/control"
)

// A text that a record cannot hold is cut between two characters, however long
// it is: hosts and client ids are what strangers say.
func TestClip(t *testing.T) {
	room := control.MaxText
	for name, c := range map[string]struct{ in, want string }{
		"short":               {"pod-a", "pod-a"},
		"just fits":           {strings.Repeat("x", room), strings.Repeat("x", room)},
		"one too many":        {strings.Repeat("x", room+1), strings.Repeat("x", room)},
		"within a character":  {strings.Repeat("x", room-1) + "é", strings.Repeat("x", room-1)},
		"behind a character":  {strings.Repeat("x", room-2) + "éy", strings.Repeat("x", room-2) + "é"},
		"of four bytes each":  {strings.Repeat("🙂", room), strings.Repeat("🙂", room/4)},
		"as long as can come": {strings.Repeat("é", 16<<20), strings.Repeat("é", room/2)},
	} {
		t.Run(name, func(t *testing.T) {
			got := clip(c.in)
			if got != c.want || !utf8.ValidString(got) {
				t.Errorf("%d bytes, want %d: …%q", len(got), len(c.want), got[max(0, len(got)-8):])
			}
		})
	}
}
