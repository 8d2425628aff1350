package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// fifo is a pipe with a name that nobody writes to or reads from.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	t.Cleanup(func() { // lets the one that waits go on
		if f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			f.Close() //nolint:errcheck // only opened
		}
	})
	return path
}

// A file that never comes is bound by --timeout like a broker that is silent.
func TestFilesAreBoundByTimeout(t *testing.T) {
	good := filepath.Join("..", "testdata", "snapshot", "classic-learners.json")
	for _, args := range [][]string{
		{"describe", "group", "--from", fifo(t)}, {"diff", good, fifo(t)}, {"diff", fifo(t), good},
		{"describe", "group", "--from", good, "--topology", fifo(t)},
		{"get", "groups", "--config", fifo(t)}, {"get", "groups", "--command-config", fifo(t)}, {"config", "view", "--config", fifo(t)},
		{"plan", "--from", good, "--check", fifo(t)},
	} {
		began := time.Now()
		got := runWith(t, fakeDeps(t, nil), append(args, "--timeout", "50ms")...)
		if got.code != errs.Failed || !strings.Contains(got.err, "--timeout of 50ms is over") || time.Since(began) > 5*time.Second {
			t.Errorf("%q: exit %d after %s, stderr %q", args, got.code, time.Since(began), got.err)
		}
	}
}

// snapshot -f replaces files only: a device or a pipe is written to, a link
// stays a link and its target keeps its rights.
func TestSnapshotFileKinds(t *testing.T) {
	dir := t.TempDir()
	target, link, dangling, nothing := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c"), filepath.Join(dir, "d")
	for name, to := range map[string]string{link: target, dangling: nothing} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, lands := range map[string]string{link: target, dangling: nothing, filepath.Join(dir, "e"): filepath.Join(dir, "e")} {
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-learners")}}), "snapshot", "-f", file)
		if got.code != 0 {
			t.Fatalf("exit %d: %s", got.code, got.err)
		}
		if b, err := os.ReadFile(lands); err != nil || !strings.HasPrefix(string(b), "{") {
			t.Errorf("%s holds %.20q, %v", lands, b, err)
		}
	}
	for name, want := range map[string]os.FileMode{link: os.ModeSymlink | 0o777, dangling: os.ModeSymlink | 0o777, target: 0o600, nothing: 0o644} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".snapshot-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A pipe gets the file, and stays a pipe.
func TestSnapshotIntoPipe(t *testing.T) {
	pipe := fifo(t)
	read := make(chan string)
	go func() {
		b, err := os.ReadFile(pipe)
		if err != nil {
			b = []byte(err.Error())
		}
		read <- string(b)
	}()
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-learners")}}), "snapshot", "-f", pipe)
	if s := <-read; got.code != 0 || !strings.HasPrefix(s, "{") {
		t.Errorf("exit %d, read %.20q, stderr %q", got.code, s, got.err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// What cannot be written is an error, and nothing is left behind.
func TestSnapshotFileErrors(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{dir, filepath.Join(dir, "no", "file")} {
		if err := writeFile(file, []byte("x")); err == nil {
			t.Errorf("%s: no error", file)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Both files of diff cannot be one stdin.
func TestDiffStdinOnce(t *testing.T) {
	if got := runWith(t, fakeDeps(t, nil), "diff", "-", "-"); got.code != errs.Usage {
		t.Errorf("exit %d, stderr %q", got.code, got.err)
	}
}

func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	if v, err := within(ctx, func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	never := make(chan struct{})
	defer close(never)
	cancel(stopped{by: "interrupted"})
	if _, err := within(ctx, func() (int, error) { <-never; return 7, nil }); err == nil || err.Error() != "interrupted" {
		t.Errorf("%v", err)
	}
}
