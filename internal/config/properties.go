package config

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/streamctl/streamctl/internal/errs"
)

// maxFile bounds what is read of any configuration file or store, in bytes.
const maxFile = 16 << 20

// readFile reads a whole file of at most maxFile bytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("read %q: larger than %d MiB", path, maxFile>>20)
	}
	return data, err
}

// clientFile is a Java client properties file.
type clientFile struct {
	path   string
	values map[string]string // of the keys we know, trimmed, providers resolved
	secret bool              // holds a secret in clear
}

// readClientFile reads a Java client properties file. Keys that are not ours
// are left out: such files are full of serializers and acks.
func readClientFile(path string, env func(string) (string, bool)) (*clientFile, []Warning, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, errs.WithCode(fmt.Errorf("client file: %w", err), errs.Usage)
	}
	all, err := parseProperties(data)
	if err != nil {
		return nil, nil, errs.Usagef("client file %q: %w", path, err)
	}
	providers, err := newProviders(all, env)
	if err != nil {
		return nil, nil, errs.Usagef("client file %q: %w", path, err)
	}
	f := &clientFile{path: path, values: map[string]string{}}
	warnings := misnamed(path, all)
	for _, k := range Keys() {
		name := k.Name
		if name == KeyBootstrap {
			name = bootstrapServers
		}
		raw, ok := all[name]
		if !ok || k.Own || !strings.Contains(name, ".") {
			continue
		}
		value, err := providers.resolve(strings.TrimSpace(raw))
		if err != nil {
			return nil, nil, errs.Usagef("client file %q: %q: %w", path, name, err)
		}
		value = strings.TrimSpace(value)
		f.values[k.Name] = value
		f.secret = f.secret || k.Secret && value != "" && value == strings.TrimSpace(raw)
		if k.Kind == Path && strings.ContainsFunc(value, func(r rune) bool { return r < ' ' }) {
			warnings = append(warnings, Warning(fmt.Sprintf("client file %q: %q has a control character in its path: write each backslash twice, or use /", path, name)))
		}
	}
	return f, warnings, nil
}

// bootstrapServers is what a Java client calls KeyBootstrap.
const bootstrapServers = "bootstrap.servers"
