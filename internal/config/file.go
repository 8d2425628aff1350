package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/streamctl/streamctl/internal/errs"
)

// File is streamctl's own configuration file.
type File struct {
	Path     string    // "" when there is none
	Current  string    // name of the context in use; "" for none
	Contexts []Context // in the order of the file

	currentLine int // of the current-context value; 0: the file has none
}

// Context is one named set of settings of a File.
type Context struct {
	Name string
	Line int // of its name, from 1

	settings map[string]fileSetting
}

// fileSetting is one key of a context.
type fileSetting struct {
	values   []Secret
	line     int
	fromFile string // file that holds the secret
	fromEnv  string // environment variable that holds the secret
}

// Words of the file itself.
const (
	fileCurrent  = "current-context"
	fileContexts = "contexts"
	fileName     = "name"
	suffixFile   = "-file"
	suffixEnv    = "-env"
)

// DefaultPath returns where the configuration file is looked for when nothing
// names one: streamctl/config.yaml in $XDG_CONFIG_HOME, else in ~/.config.
func DefaultPath(env func(string) (string, bool)) string {
	if dir, ok := env("XDG_CONFIG_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "streamctl", "config.yaml")
	}
	if runtime.GOOS == "windows" {
		if dir, ok := env("AppData"); ok && dir != "" {
			return filepath.Join(dir, "streamctl", "config.yaml")
		}
	}
	if home, ok := env("HOME"); ok && home != "" {
		return filepath.Join(home, ".config", "streamctl", "config.yaml")
	}
	return ""
}

// Context returns the context of that name; else an error that lists what
// there is.
func (f *File) Context(name string) (*Context, error) {
	var names []string
	for i := range f.Contexts {
		if f.Contexts[i].Name == name {
			return &f.Contexts[i], nil
		}
		names = append(names, f.Contexts[i].Name)
	}
	where := "there is no configuration file"
	hint := ""
	if f.Path != "" {
		where = fmt.Sprintf("%q has none of that name", f.Path)
		hint = "contexts there: " + strings.Join(names, ", ")
		if len(names) == 0 {
			hint = "it has no contexts at all"
		} else if n := nearest(name, names); n != "" {
			hint += fmt.Sprintf("; did you mean %q?", n)
		}
	}
	return nil, errs.WithHint(errs.Usagef("context %q: %s", name, where), hint)
}

// ReadFile reads a configuration file. When optional, a file that is not there
// is an empty one. Every error is of exit code 2 and names file and line,
// never a value.
func ReadFile(path string, optional bool) (*File, error) {
	if path == "" {
		return &File{}, nil
	}
	data, err := readFile(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, errs.WithCode(fmt.Errorf("configuration file: %w", err), errs.Usage)
	}
	return parseFile(path, data)
}

func parseFile(path string, data []byte) (*File, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, errs.WithHint(errs.Usagef("%s", yamlError(path, err)), "put values with special characters into quotes")
	}
	f := &File{Path: path}
	if len(doc.Content) == 0 {
		return f, nil
	}
	p := fileParser{path: path}
	root, err := p.pairs(doc.Content[0], "the file")
	if err != nil {
		return nil, err
	}
	for _, kv := range root {
		switch kv.key {
		case fileCurrent:
			if f.Current, err = p.text(kv.value, fileCurrent); err != nil {
				return nil, err
			}
			f.currentLine = kv.line
		case fileContexts:
			if f.Contexts, err = p.contexts(kv.value); err != nil {
				return nil, err
			}
		default:
			return nil, p.unknown(kv, []string{fileCurrent, fileContexts}, "")
		}
	}
	return f, nil
}

// yamlError says that a file is no YAML without showing any of it: the parser
// quotes what it stumbles over, which may be an unquoted password.
func yamlError(path string, err error) string {
	where := path
	if m := regexp.MustCompile(`line ([0-9]+)`).FindStringSubmatch(err.Error()); m != nil {
		where += ":" + m[1]
	}
	return where + ": not valid YAML"
}

// exposed tells whether others than the owner may read a file.
func exposed(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}
