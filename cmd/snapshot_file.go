package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// write puts the snapshot where --file says, or on stdout.
func (o *snapshotOptions) write(ctx context.Context, data []byte) error {
	if o.file == "" || o.file == "-" {
		_, err := o.d.io.Out.Write(data)
		return err
	}
	if err := inTime(ctx, func() error { return writeFile(o.file, data) }); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	o.d.note("wrote %s", o.file)
	return nil
}

// writeFile puts a file in place in one step, so that nobody reads half of it
// and a full disk leaves the old one. What is no regular file, such as a device
// or a pipe, is written to and never replaced; a link is followed.
func writeFile(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	target, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil { // a link to nothing yet
			return os.WriteFile(path, data, mode)
		}
		target = path
	case err != nil:
		return err
	default:
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return writeThrough(target, data)
		}
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(target), ".snapshot-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // gone already when all went well
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), target)
}

// writeThrough writes into what is there already.
func writeThrough(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
