package config

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// jaasLogin is the content of one sasl.jaas.config line.
type jaasLogin struct {
	module  string
	options map[string]Secret
}

// jaasError says where a sasl.jaas.config line is wrong, never what stands
// there: it may be a password.
type jaasError struct {
	at  int // characters from the start, the first is 1; 0: the whole line
	why string
}

func (e *jaasError) Error() string {
	if e.at == 0 {
		return e.why
	}
	return fmt.Sprintf("at character %d: %s", e.at, e.why)
}

// jaasToken is one piece of the line: a word (quoted or not), a single
// character such as ';', a number (which Java reads as one and then refuses),
// or the end.
type jaasToken struct {
	kind jaasKind
	text string // of a word
	char rune   // of a single character
	at   int    // where it starts, in characters from 1
	open bool   // quoted, and the line ended before the quote was closed
}

type jaasKind int

const (
	jaasEnd jaasKind = iota
	jaasWord
	jaasNumber
	jaasChar
)

// jaasOther says which characters an unquoted value cannot have.
const jaasOther = "characters other than letters, digits, _, - and $"

// jaasScanner cuts the line into tokens as the Java client does.
type jaasScanner struct {
	in []rune
	at int // index of the next character
}

func (s *jaasScanner) peek(ahead int) rune {
	if s.at+ahead < len(s.in) {
		return s.in[s.at+ahead]
	}
	return utf8.RuneError
}

func (s *jaasScanner) done() bool { return s.at >= len(s.in) }

// skip passes over blanks and comments. A lone "/" starts a comment to the end
// of the line just as "//" does, and "/*" without its end runs to the end of
// the text: both as in Java.
func (s *jaasScanner) skip() {
	for !s.done() {
		switch c := s.in[s.at]; {
		case c <= ' ':
			s.at++
		case c == '/' && s.peek(1) == '*':
			s.at += 2
			for !s.done() && (s.in[s.at] != '*' || s.peek(1) != '/') {
				s.at++
			}
			s.at = min(s.at+2, len(s.in))
		case c == '/':
			for !s.done() && s.in[s.at] != '\n' && s.in[s.at] != '\r' {
				s.at++
			}
		default:
			return
		}
	}
}

func jaasDigit(c rune) bool { return c >= '0' && c <= '9' || c == '.' || c == '-' }

func jaasLetter(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '$' || c >= 0xa0
}

func (s *jaasScanner) next() jaasToken {
	s.skip()
	t := jaasToken{at: s.at + 1}
	if s.done() {
		return t
	}
	switch c := s.in[s.at]; {
	case c == '"' || c == '\'':
		t.kind = jaasWord
		t.text, t.open = s.quoted(c)
	case jaasDigit(c):
		t.kind = jaasNumber
		for !s.done() && jaasDigit(s.in[s.at]) {
			s.at++
		}
	case jaasLetter(c):
		t.kind = jaasWord
		start := s.at
		for !s.done() && (jaasLetter(s.in[s.at]) || jaasDigit(s.in[s.at])) {
			s.at++
		}
		t.text = string(s.in[start:s.at])
	default:
		t.kind, t.char = jaasChar, c
		s.at++
	}
	return t
}

// quoted reads from an opening quote to its end, or to the end of the line,
// where Java stops too.
func (s *jaasScanner) quoted(quote rune) (text string, open bool) {
	var b strings.Builder
	for s.at++; !s.done(); {
		c := s.in[s.at]
		if c == '\n' || c == '\r' {
			return b.String(), true
		}
		s.at++
		switch {
		case c == quote:
			return b.String(), false
		case c == '\\' && !s.done():
			b.WriteRune(s.escape())
		case c != '\\':
			b.WriteRune(c)
		}
	}
	return b.String(), true
}

// escape reads what follows a backslash: the escapes of C with up to three
// octal digits; any other character stands for itself.
func (s *jaasScanner) escape() rune {
	c := s.in[s.at]
	s.at++
	if c >= '0' && c <= '7' {
		value, most := c-'0', 2
		if c > '3' {
			most = 1
		}
		for ; most > 0 && !s.done() && s.in[s.at] >= '0' && s.in[s.at] <= '7'; most-- {
			value = value*8 + s.in[s.at] - '0'
			s.at++
		}
		return value
	}
	if i := strings.IndexRune("abfnrtv", c); i >= 0 {
		return rune("\a\b\f\n\r\t\v"[i])
	}
	return c
}

// parseJaas reads a sasl.jaas.config line: a login module, a control flag,
// options and a semicolon. It accepts and refuses what the Java client does
// (testdata/java/jaas.json).
func parseJaas(line string) (*jaasLogin, error) {
	s := &jaasScanner{in: []rune(line)}
	t := s.next()
	switch {
	case t.kind == jaasEnd:
		return nil, &jaasError{0, "no login module given"}
	case t.kind != jaasWord:
		return nil, &jaasError{t.at, "expected the name of a login module"}
	}
	login := &jaasLogin{module: t.text, options: map[string]Secret{}}
	t = s.next()
	switch strings.ToUpper(t.text) {
	case "REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL":
	default:
		return nil, &jaasError{t.at, "expected a control flag such as required after the login module"}
	}
	end, err := s.options(login.options)
	if err != nil {
		return nil, err
	}
	if t = s.next(); t.kind != jaasEnd {
		return nil, &jaasError{t.at, fmt.Sprintf("more text after the semicolon at character %d: only one login module is allowed, and a value with a semicolon needs quotes", end)}
	}
	return login, nil
}

// options reads the options up to the final semicolon, whose place it returns.
func (s *jaasScanner) options(into map[string]Secret) (end int, err error) {
	open := 0 // where a quote opened that its line does not close; Java lets it pass
	defer func() {
		if err != nil && open > 0 {
			err = &jaasError{open, "the quote that opens here is not closed"}
		}
	}()
	next := func() jaasToken {
		t := s.next()
		if t.open {
			open = t.at
		}
		return t
	}
	for {
		key := next()
		switch {
		case key.kind == jaasEnd:
			return 0, &jaasError{key.at, "the line must end with a semicolon"}
		case key.kind == jaasChar && key.char == ';':
			return key.at, nil
		case key.kind != jaasWord:
			return 0, &jaasError{key.at, "expected the name of an option or the final semicolon; no commas between options, and a value with " + jaasOther + " needs quotes"}
		}
		if eq := next(); eq.kind != jaasChar || eq.char != '=' {
			return 0, &jaasError{eq.at, "expected = after the name of an option; a value with " + jaasOther + " needs quotes"}
		}
		value := next()
		switch {
		case value.kind == jaasNumber:
			return 0, &jaasError{value.at, "a value that starts with a digit, a dot or a minus needs quotes"}
		case value.kind != jaasWord:
			return 0, &jaasError{value.at, "expected a value; one with " + jaasOther + " needs quotes"}
		}
		into[key.text] = Secret(value.text)
	}
}
