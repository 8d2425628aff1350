package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Use makes the context of that name the current one, in the file itself;
// everything else in the file stays as it is, comments too.
func Use(path, name string) error {
	f, err := ReadFile(path, false)
	if err != nil {
		return err
	}
	if _, err := f.Context(name); err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	data, err := readFile(target)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	changed := setCurrent(string(data), f.currentLine, name)
	if again, err := parseFile(path, []byte(changed)); err != nil || again.Current != name {
		return fmt.Errorf("%s: %q cannot be changed where it stands: edit the file by hand", path, fileCurrent)
	}
	return replaceFile(target, []byte(changed))
}

// setCurrent replaces the line that sets the current context, or puts one in
// front when line is 0.
func setCurrent(text string, line int, name string) string {
	set := fileCurrent + ": " + strconv.Quote(name)
	if regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`).MatchString(name) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(name)) {
		set = fileCurrent + ": " + name
	}
	if line == 0 {
		return set + "\n" + text
	}
	lines := strings.Split(text, "\n")
	old := strings.TrimSuffix(lines[line-1], "\r")
	end := lines[line-1][len(old):]
	if i := strings.Index(old, " #"); i >= 0 {
		set += old[i:]
	}
	lines[line-1] = set + end
	return strings.Join(lines, "\n")
}

// replaceFile writes a file anew in one step and keeps its rights.
func replaceFile(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".config-*")
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // gone already when all went well
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	return nil
}
