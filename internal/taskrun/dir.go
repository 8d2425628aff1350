package taskrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/streamctl/streamctl/internal/model"
)

// storeSuffix ends the name of a store file; the task's id comes before it.
const storeSuffix = ".store"

// storePath is where the store of a task is.
func storePath(dir string, id model.TaskID) string {
	return filepath.Join(dir, id.String()+storeSuffix)
}

// dirLock keeps a directory for one host of one group.
type dirLock struct{ db *bbolt.DB }

// lockDir makes the directory if need be and locks it.
func lockDir(dir, group string) (*dirLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	db, err := openLock(filepath.Join(dir, "host.lock"))
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, fmt.Errorf("state directory %q is in use by another instance", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("state directory %q: %w", dir, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("host"))
		if err != nil {
			return err
		}
		if was := b.Get([]byte("group")); was != nil && string(was) != group {
			return fmt.Errorf("state directory %q belongs to group %q, not to %q", dir, was, group)
		}
		return b.Put([]byte("group"), []byte(group))
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &dirLock{db}, nil
}

// lockPatience is how long another instance may take to make a new lock file.
const lockPatience = 500 * time.Millisecond

// openLock opens the file that is locked. One that is damaged, as by a disk that
// was full when it was made, is made anew, so that nobody has to: who holds it
// has found it whole. One that is being made may look damaged, so it is looked at
// twice.
func openLock(path string) (*bbolt.DB, error) {
	db, err := tryLock(path)
	if !isDamage(err) {
		return db, err
	}
	time.Sleep(lockPatience)
	if db, err = tryLock(path); !isDamage(err) {
		return db, err
	}
	if gone := os.Remove(path); gone != nil {
		return nil, errors.Join(err, gone)
	}
	return tryLock(path)
}

func tryLock(path string) (*bbolt.DB, error) {
	return openWhole(path, &bbolt.Options{Timeout: time.Second})
}

func (l *dirLock) close() error {
	if l == nil {
		return nil
	}
	return l.db.Close()
}

// find takes in the copies that the directory holds, at rest. Files of tasks
// that this topology has not, or not with state, are left alone.
func (h *Host) find() error {
	entries, err := os.ReadDir(h.o.Dir)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), storeSuffix)
		if !ok {
			continue
		}
		id, err := model.ParseTaskID(name)
		if err != nil || id.String() != name {
			continue
		}
		t, err := h.newTask(id)
		if err != nil || !t.stateful() {
			continue
		}
		if err := h.openStore(t); err != nil {
			return fmt.Errorf("task %q: %w", id, err)
		}
		if err := t.st.close(); err != nil {
			return fmt.Errorf("task %q: %w", id, err)
		}
		t.st = nil
		h.tasks[id] = t
	}
	return nil
}
