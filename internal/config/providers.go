package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// providers are the config providers that a client file turns on with its
// config.providers lines; without such lines ${env:X} is plain text.
type providers struct {
	use map[string]provider // by the name that the file gives it
}

// provider looks up one ${name:path:key}; path may be empty.
type provider func(path, key string) (string, error)

const providerPackage = "org.apache.kafka.common.config.provider."

// newProviders reads the config.providers lines of a client file.
func newProviders(all map[string]string, env func(string) (string, bool)) (*providers, error) {
	p := &providers{use: map[string]provider{}}
	for name := range strings.SplitSeq(all["config.providers"], ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		param := func(key string) string {
			return strings.TrimSpace(all["config.providers."+name+".param."+key])
		}
		class := strings.TrimSpace(all["config.providers."+name+".class"])
		switch strings.TrimPrefix(class, providerPackage) {
		case "EnvVarConfigProvider":
			allowed, err := regexp.Compile("^(?:" + param("allowlist.pattern") + ")$")
			if err != nil {
				return nil, fmt.Errorf("%q is no pattern", "config.providers."+name+".param.allowlist.pattern")
			}
			p.use[name] = envProvider(env, allowed, param("allowlist.pattern") == "")
		case "FileConfigProvider":
			p.use[name] = fileProvider(splitList(param("allowed.paths")))
		case "DirectoryConfigProvider":
			p.use[name] = dirProvider(splitList(param("allowed.paths")))
		case "":
			return nil, fmt.Errorf("config provider %q has no %q line", name, "config.providers."+name+".class")
		default:
			return nil, fmt.Errorf("config provider %q: class %q is not supported, only EnvVarConfigProvider, FileConfigProvider and DirectoryConfigProvider", name, class)
		}
	}
	return p, nil
}

// resolve replaces each ${name:…} of a provider that is turned on; anything
// else stays as it is. What comes out is not looked at again.
func (p *providers) resolve(value string) (string, error) {
	if len(p.use) == 0 {
		return value, nil
	}
	var out strings.Builder
	for {
		start := strings.Index(value, "${")
		if start < 0 {
			break
		}
		length := strings.IndexByte(value[start:], '}')
		if length < 0 {
			break
		}
		name, rest, ok := strings.Cut(value[start+2:start+length], ":")
		use := p.use[name]
		if !ok || use == nil {
			out.WriteString(value[:start+2])
			value = value[start+2:]
			continue
		}
		path, key, ok := strings.Cut(rest, ":")
		if !ok {
			path, key = "", rest
		}
		got, err := use(path, key)
		if err != nil {
			return "", fmt.Errorf("${%s:…}: %w", name, err)
		}
		out.WriteString(value[:start])
		out.WriteString(got)
		value = value[start+length+1:]
	}
	out.WriteString(value)
	return out.String(), nil
}

func envProvider(env func(string) (string, bool), allowed *regexp.Regexp, all bool) provider {
	return func(_, key string) (string, error) {
		value, ok := env(key)
		switch {
		case !all && !allowed.MatchString(key):
			return "", fmt.Errorf("environment variable %q is not in the allowlist", key)
		case !ok:
			return "", fmt.Errorf("environment variable %q is not set", key)
		}
		return value, nil
	}
}

// fileProvider takes a key out of a properties file, which Java reads as UTF-8
// here.
func fileProvider(allowed []string) provider {
	return func(path, key string) (string, error) {
		if err := checkAllowed(path, allowed); err != nil {
			return "", err
		}
		data, err := readFile(path)
		if err != nil {
			return "", err
		}
		all, err := parsePropertiesUTF8(data)
		if err != nil {
			return "", fmt.Errorf("%q: %w", path, err)
		}
		value, ok := all[key]
		if !ok {
			return "", fmt.Errorf("file %q has no key %q", path, key)
		}
		return value, nil
	}
}

// dirProvider takes the content of one file of a directory, less the line end
// that editors add.
func dirProvider(allowed []string) provider {
	return func(dir, file string) (string, error) {
		if err := checkAllowed(dir, allowed); err != nil {
			return "", err
		}
		if file == "" || file != filepath.Base(file) || file == ".." || file == "." {
			return "", fmt.Errorf("%q is not the name of a file in %q", file, dir)
		}
		data, err := readFile(filepath.Join(dir, file))
		return strings.TrimRight(string(data), "\r\n"), err
	}
}

// checkAllowed tells whether path is in one of the allowed places; none given
// allows all.
func checkAllowed(path string, allowed []string) error {
	if path == "" {
		return errors.New("no path given")
	}
	if len(allowed) == 0 {
		return nil
	}
	path = filepath.Clean(path)
	for _, a := range allowed {
		a = filepath.Clean(a)
		if path == a || strings.HasPrefix(path, strings.TrimSuffix(a, string(os.PathSeparator))+string(os.PathSeparator)) {
			return nil
		}
	}
	return fmt.Errorf("%q is not in allowed.paths", path)
}

// splitList cuts a list at its commas, without blanks and empty parts.
func splitList(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
