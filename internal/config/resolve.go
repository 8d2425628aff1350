package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
)

// Warning is one line for stderr: something that is allowed and probably not
// meant. It holds no secret.
type Warning string

// Source tells where a value came from.
type Source string

// The sources, the strongest first.
const (
	FromFlag    Source = "flag"
	FromEnv     Source = "environment"
	FromFile    Source = "file" // context or client file
	FromDefault Source = "default"
)

// Sources are the places where settings may come from.
type Sources struct {
	// Flag returns the values of a flag that the user gave, by its name
	// without dashes; false for one that was not given. Besides the names in
	// Keys it is asked for "config" (the file) and "context".
	Flag func(name string) ([]string, bool)
	// Env looks up an environment variable, as os.LookupEnv does.
	Env func(name string) (string, bool)
	// Now is the time, for the tokens that we make; nil: time.Now.
	Now func() time.Time
}

// Setting is the value of one key and where it came from.
type Setting struct {
	Key    Key
	Source Source
	Origin string // `--timeout`, `STREAMCTL_TIMEOUT`, `config.yaml:7`, `client.properties`; "" for a default

	values []Secret // one, for a List any number
}

// Resolved is everything that was set, each key with its strongest source.
type Resolved struct {
	Path     string   // the configuration file, "" when there is none
	Context  string   // the context in use, "" when none is
	Contexts []string // all contexts of the file, in its order

	settings map[string]Setting
	now      func() time.Time
}

// loader holds what the sources of one Load are.
type loader struct {
	Sources
	context *Context
	dir     string // of the configuration file
	file    string // path of the configuration file
	client  *clientFile

	// clientFirst: the client file was named by flag or environment, so it
	// stands for all that the context says about connecting.
	clientFirst bool
}

// Load reads the configuration file and the client file and gives each key the
// value of its strongest source: flag, environment, file, default. Of the
// files, the context's own keys are stronger than the client file that it
// names; a client file named by flag or environment replaces all of the
// context's Kafka keys, so that no half of one login is mixed with another. No
// store is opened. Every error is of exit code 2.
func Load(s Sources) (*Resolved, []Warning, error) {
	if s.Flag == nil {
		s.Flag = func(string) ([]string, bool) { return nil, false }
	}
	if s.Env == nil {
		s.Env = func(string) (string, bool) { return "", false }
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	l := &loader{Sources: s}
	r := &Resolved{settings: map[string]Setting{}, now: s.Now}
	warnings, err := l.openContext(r)
	if err != nil {
		return nil, warnings, err
	}
	more, err := l.openClientFile()
	warnings = append(warnings, more...)
	if err != nil {
		return nil, warnings, err
	}
	for _, key := range Keys() {
		set, err := l.setting(key)
		if err == nil {
			err = set.check()
		}
		if err != nil {
			return nil, warnings, err
		}
		r.settings[key.Name] = set
	}
	r.borrow(KeyTimeout, "default.api.timeout.ms")
	r.borrow(KeyRequestTimeout, "request.timeout.ms")
	return r, warnings, nil
}

// one returns the single value of a flag or its environment variable.
func (l *loader) one(name string) (value string, given bool) {
	if v, ok := l.Flag(name); ok && len(v) > 0 {
		return v[len(v)-1], true
	}
	if v, ok := l.Env(EnvName(name)); ok && v != "" {
		return v, true
	}
	return "", false
}

func (l *loader) openContext(r *Resolved) ([]Warning, error) {
	path, given := l.one("config")
	if !given {
		path = DefaultPath(l.Env)
	}
	f, err := ReadFile(path, !given)
	if err != nil {
		return nil, err
	}
	r.Path, l.file, l.dir = f.Path, f.Path, filepath.Dir(f.Path)
	var warnings []Warning
	for i := range f.Contexts {
		r.Contexts = append(r.Contexts, f.Contexts[i].Name)
		if f.Contexts[i].holdsSecret() && exposed(f.Path) && len(warnings) == 0 {
			warnings = append(warnings, exposedWarning("configuration file", f.Path))
		}
	}
	name, given := l.one("context")
	if !given {
		name = f.Current
	}
	if name == "" {
		return warnings, nil
	}
	r.Context = name
	if l.context, err = f.Context(name); err != nil && !given {
		err = fmt.Errorf("%q: %w", fileCurrent, err)
	}
	return warnings, err
}

func exposedWarning(what, path string) Warning {
	return Warning(fmt.Sprintf("%s %q holds a secret and others may read it: chmod 600 %q", what, path, path))
}

func (l *loader) openClientFile() ([]Warning, error) {
	key, _ := LookupKey(KeyCommandConfig)
	set, err := l.setting(key)
	if err != nil || len(set.values) == 0 || set.values[0] == "" {
		return nil, err
	}
	client, warnings, err := readClientFile(set.values[0].Reveal(), l.Env)
	if err != nil {
		return warnings, err
	}
	l.client = client
	l.clientFirst = set.Source == FromFlag || set.Source == FromEnv
	if client.secret && exposed(client.path) {
		warnings = append(warnings, exposedWarning("client file", client.path))
	}
	return warnings, nil
}

// setting returns the strongest value of a key.
func (l *loader) setting(key Key) (Setting, error) {
	if v, ok := l.Flag(key.Name); ok {
		return Setting{Key: key, Source: FromFlag, Origin: "--" + key.Name, values: key.split(v...)}, nil
	}
	if v, ok := l.Env(key.Env()); ok && v != "" {
		return Setting{Key: key, Source: FromEnv, Origin: key.Env(), values: key.split(v)}, nil
	}
	if path, ok := l.Env(key.Env() + "_FILE"); ok && path != "" && key.Secret {
		v, err := readSecret(path)
		if err != nil {
			return Setting{}, errs.WithCode(fmt.Errorf("%s_FILE: %w", key.Env(), err), errs.Usage)
		}
		return Setting{Key: key, Source: FromEnv, Origin: key.Env() + "_FILE", values: []Secret{v}}, nil
	}
	clientSays := false
	if l.client != nil {
		_, clientSays = l.client.values[key.Name]
	}
	if !l.clientFirst || !key.Kafka() && !clientSays {
		if set, ok, err := l.fromContext(key); ok || err != nil {
			return set, err
		}
	}
	if l.client != nil {
		if v, ok := l.client.values[key.Name]; ok {
			return Setting{Key: key, Source: FromFile, Origin: l.client.path, values: key.split(v)}, nil
		}
	}
	set := Setting{Key: key, Source: FromDefault}
	if key.Default != "" {
		set.values = key.split(key.Default)
	}
	return set, nil
}

func (l *loader) fromContext(key Key) (Setting, bool, error) {
	if l.context == nil {
		return Setting{}, false, nil
	}
	s, ok := l.context.settings[key.Name]
	if !ok {
		return Setting{}, false, nil
	}
	set := Setting{Key: key, Source: FromFile, Origin: fmt.Sprintf("%s:%d", l.file, s.line)}
	switch {
	case s.fromFile != "":
		v, err := readSecret(l.inDir(s.fromFile))
		if err != nil {
			return set, true, errs.WithCode(fmt.Errorf("%s: %q: %w", set.Origin, key.Name+suffixFile, err), errs.Usage)
		}
		set.values = []Secret{v}
	case s.fromEnv != "":
		v, ok := l.Env(s.fromEnv)
		if !ok {
			return set, true, errs.Usagef("%s: %q: environment variable %q is not set", set.Origin, key.Name+suffixEnv, s.fromEnv)
		}
		set.values = []Secret{Secret(v)}
	case len(s.values) == 1 && key.Kind == Path && s.values[0] != "":
		set.values = []Secret{Secret(l.inDir(s.values[0].Reveal()))}
	case len(s.values) == 1:
		set.values = key.split(s.values[0].Reveal())
	default:
		set.values = s.values
	}
	return set, true, nil
}

// inDir makes a path of the configuration file one that holds from anywhere.
func (l *loader) inDir(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, ok := l.Env("HOME"); ok {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.dir, path)
}

// readSecret reads a secret from a file of its own, without the line end that
// editors add.
func readSecret(path string) (Secret, error) {
	data, err := readFile(path)
	return Secret(strings.TrimRight(string(data), "\r\n")), err
}

// holdsSecret tells whether the context has a secret in clear.
func (c *Context) holdsSecret() bool {
	for name, s := range c.settings {
		if k, ok := LookupKey(name); ok && k.Secret && len(s.values) > 0 && s.values[0] != "" {
			return true
		}
	}
	return false
}
