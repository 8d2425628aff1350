package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A lab that can be steered listens on a socket named by the port of its first
// broker, in a directory that only its user can look into.
const socketEnd = ".sock"

// SocketDir is where the sockets of labs are: below $XDG_RUNTIME_DIR (the value
// that is given), else below the folder for what is temporary, with the user in
// its name.
func SocketDir(runtimeDir string) string {
	if runtimeDir != "" && filepath.IsAbs(runtimeDir) {
		return filepath.Join(runtimeDir, "streamctl-lab")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("streamctl-lab-%d", os.Getuid()))
}

// private makes sure that a directory is there and is the user's alone: whoever
// could put a socket into it could pass for a lab.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("directory of the lab's socket: %w", err)
	}
	return checkPrivate(dir)
}

func checkPrivate(dir string) error {
	i, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !i.IsDir() || i.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%q is open to other users, or no directory (%s): remove it, or chmod 700", dir, i.Mode())
	}
	return nil
}

// listen opens the socket of the lab on this port. One that a lab left behind
// is replaced.
func listen(ctx context.Context, dir string, port int) (net.Listener, error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, strconv.Itoa(port)+socketEnd)
	if !answers(ctx, path) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("socket that a lab left behind: %w", err)
		}
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("socket of the lab: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("socket of the lab: %w", err), l.Close())
	}
	return l, nil
}

// answers reports whether somebody listens on a socket; only a refusal says
// that nobody does.
func answers(ctx context.Context, path string) bool {
	d := net.Dialer{Timeout: 2 * time.Second}
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist)
	}
	_ = c.Close() // it was only asked whether it opens
	return true
}

// ports lists the labs that run, by port.
func ports(ctx context.Context, dir string) ([]int, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("directory of the lab's socket: %w", err)
	}
	if err := checkPrivate(dir); err != nil {
		return nil, err
	}
	var out []int
	for _, e := range list {
		name, ok := strings.CutSuffix(e.Name(), socketEnd)
		if port, err := strconv.Atoi(name); ok && err == nil && answers(ctx, filepath.Join(dir, e.Name())) {
			out = append(out, port)
		}
	}
	slices.Sort(out)
	return out, nil
}
