package render

import "testing"

// A name in a command that is to be copied is that name, whatever it is.
func TestShellWord(t *testing.T) {
	for name, want := range map[string]string{
		"pod-a": "pod-a", "10.0.0.1:9092": "10.0.0.1:9092", "": "''", "a b": "'a b'", "$(reboot)": "'$(reboot)'", "x;y": "'x;y'", "it's": `'it'\''s'`, "группа": "'группа'", "*": "'*'", "a\x1b[2J": `'a\x1b[2J'`,
	} {
		if got := ShellWord(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
