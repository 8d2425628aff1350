package render

import "strings"

// ShellWord gives a name of a group or an instance, which an app chose, as a
// word of a command that somebody copies into a shell: there it is this name and
// nothing else, and on a terminal it is safe (Escape).
func ShellWord(name string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-:/@%+=,", c)
	}
	if name != "" && strings.IndexFunc(name, func(c rune) bool { return !plain(c) }) < 0 {
		return name
	}
	return "'" + Escape(strings.ReplaceAll(name, "'", `'\''`)) + "'"
}

// ShellWords gives names as words of a command, a space between two.
func ShellWords(names []string) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = ShellWord(n)
	}
	return strings.Join(words, " ")
}
