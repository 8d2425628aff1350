package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
)

// split makes the values of a key out of texts: one, or for a list all parts
// between commas.
func (k Key) split(texts ...string) []Secret {
	var out []Secret
	if k.Kind != List {
		if len(texts) > 0 {
			out = []Secret{Secret(texts[len(texts)-1])}
		}
		return out
	}
	for _, t := range texts {
		for _, part := range splitList(t) {
			out = append(out, Secret(part))
		}
	}
	return out
}

// text is the single value, or the parts of a list with commas.
func (s Setting) text() string {
	parts := make([]string, len(s.values))
	for i, v := range s.values {
		parts[i] = v.Reveal()
	}
	return strings.Join(parts, ",")
}

// check refuses a value of the wrong form. The value itself is in the message
// unless it is a secret.
func (s Setting) check() error {
	v := s.text()
	if v == "" {
		return nil
	}
	bad := func(want string) error {
		shown := ""
		if !s.Key.Secret {
			shown = fmt.Sprintf(" %q", v)
		}
		name := ""
		if s.Source == FromFile {
			name = fmt.Sprintf(" %q:", s.Key.javaName(s.Origin))
		}
		return errs.Usagef("%s:%s%s is not %s", s.Origin, name, shown, want)
	}
	var err error
	switch s.Key.Kind {
	case Switch:
		if !strings.EqualFold(v, "true") && !strings.EqualFold(v, "false") {
			return bad("true or false")
		}
	case Duration:
		var d time.Duration
		if d, err = time.ParseDuration(v); err != nil || d < 0 {
			return bad("a duration such as 30s or 5m")
		}
	case Number:
		if _, err = strconv.ParseUint(v, 10, 63); err != nil {
			return bad("a whole number")
		}
	case Millis:
		if _, err = strconv.ParseUint(v, 10, 31); err != nil {
			return bad("a number of milliseconds")
		}
	case Text, List, Path:
	}
	if len(s.Key.OneOf) > 0 && !slices.Contains(s.Key.OneOf, v) {
		return bad("one of " + strings.Join(s.Key.OneOf, ", "))
	}
	return nil
}

// javaName is the key as the file at origin spells it.
func (k Key) javaName(origin string) string {
	if k.Name == KeyBootstrap && !strings.Contains(origin, ":") {
		return bootstrapServers
	}
	return k.Name
}

// borrow lets one of our settings that is not set take the value of the Kafka
// key for the same thing.
func (r *Resolved) borrow(name, millis string) {
	ours, theirs := r.settings[name], r.settings[millis]
	if ours.Source != FromDefault || theirs.Source == FromDefault || theirs.text() == "" {
		return
	}
	theirs.Key = ours.Key
	theirs.values = []Secret{Secret(millisOf(r.settings[millis]).String())}
	r.settings[name] = theirs
}

func millisOf(s Setting) time.Duration {
	n, _ := strconv.ParseInt(s.text(), 10, 32) // checked when loaded
	return time.Duration(n) * time.Millisecond
}

// Setting returns a key with its source; an unknown name is the zero value.
func (r *Resolved) Setting(name string) Setting { return r.settings[name] }

// IsSet tells whether anything but the default decided.
func (s Setting) IsSet() bool { return s.Source != FromDefault && s.Source != "" }

// Text returns the value of a setting that is no secret, "" when it is not
// set; a list has commas.
func (r *Resolved) Text(name string) string {
	s := r.settings[name]
	if s.Key.Secret {
		return ""
	}
	return s.text()
}

// List returns the parts of a list in the order given.
func (r *Resolved) List(name string) []string {
	out := []string{}
	for _, v := range r.settings[name].values {
		if !r.settings[name].Key.Secret {
			out = append(out, v.Reveal())
		}
	}
	return out
}

// Duration returns the value of a Duration or Millis setting, 0 when not set.
func (r *Resolved) Duration(name string) time.Duration {
	s := r.settings[name]
	if s.Key.Kind == Millis {
		return millisOf(s)
	}
	d, _ := time.ParseDuration(s.text()) // checked when loaded
	return d
}

// Switch returns the value of a Switch setting.
func (r *Resolved) Switch(name string) bool {
	return strings.EqualFold(r.settings[name].text(), "true")
}

// Number returns the value of a Number setting and whether there is one.
func (r *Resolved) Number(name string) (int64, bool) {
	n, err := strconv.ParseInt(r.settings[name].text(), 10, 64)
	return n, err == nil
}

// secret returns the value of any setting to the code that connects.
func (r *Resolved) secret(name string) Secret { return Secret(r.settings[name].text()) }

// Entry is one line of `config view`.
type Entry struct {
	Key    string
	Value  string // as given, a list with commas; "" for a secret
	Secret bool
	Set    bool // there is a value that is not empty
	Source Source
	Origin string // as in Setting
}

// View returns what was resolved: every setting of streamctl's own, in the
// order of Keys, then those of Kafka's keys that have a value.
func (r *Resolved) View() []Entry {
	var out []Entry
	for _, k := range Keys() {
		s := r.settings[k.Name]
		text := s.text()
		if k.Kafka() && text == "" && !s.IsSet() {
			continue
		}
		e := Entry{Key: k.Name, Secret: k.Secret, Set: text != "", Source: s.Source, Origin: s.Origin}
		if !k.Secret {
			e.Value = text
			if k.Name == KeyBootstrap || k.Name == keyEndpoint {
				parts := r.List(k.Name)
				for i := range parts {
					parts[i] = withoutUser(parts[i])
				}
				e.Value = strings.Join(parts, ",")
			}
		}
		out = append(out, e)
	}
	return out
}

// withoutUser takes what stands before an @ out of a URL or an address, and the
// query out of a URL, where a password may be; any other text stays.
func withoutUser(text string) string {
	if path, _, ok := strings.Cut(text, "?"); ok && strings.Contains(path, "://") {
		text = path + "?…"
	}
	at := strings.LastIndex(text, "@")
	if at < 0 {
		return text
	}
	scheme := ""
	if before, _, ok := strings.Cut(text[:at], "://"); ok {
		scheme = before + "://"
	}
	return scheme + "…" + text[at:]
}

// Format prints no values, whatever the verb: package fmt does not ask a
// Secret in an unexported field how it wants to be printed.
func (s Setting) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "%s from %s", s.Key.Name, s.Source)
}

// Format prints no values, for the same reason; View is for showing.
func (r Resolved) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "settings of context %q", r.Context)
}
