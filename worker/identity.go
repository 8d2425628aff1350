package worker

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
)

// identityFile holds the UUID of the instance, so that it survives a restart.
const identityFile = "instance-id"

// identity reads the instance's UUID, or makes one and keeps it. Without a
// directory it is a new one each time.
func identity(dir string) (string, error) {
	if dir == "" {
		return newUUID(), nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	path := filepath.Join(dir, identityFile)
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		id := newUUID()
		return id, writeIdentity(path, id)
	case err != nil:
		return "", fmt.Errorf("instance id: %w", err)
	}
	id := strings.TrimSpace(string(raw))
	if !control.IsUUID(id) {
		return "", fmt.Errorf("%q holds no instance id (a UUID in lower case): remove it to get a new one", path)
	}
	return id, nil
}

// writeIdentity replaces the file in one step: a crash leaves the whole id or
// none.
func writeIdentity(path, id string) error {
	f, err := os.CreateTemp(filepath.Dir(path), identityFile+"-*")
	if err != nil {
		return fmt.Errorf("instance id: %w", err)
	}
	_, err = f.WriteString(id + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("instance id: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// newUUID is a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return control.UUID(b)
}
