package taskrun

import (
	"context"
	"errors"

	"github.com/streamctl/streamctl/internal/model"
)

// Host runs the tasks of one instance. Its methods can be called from several
// goroutines, but those of one task one after the other.
type Host struct{}

// Open starts a host without tasks. Copies that it finds in Options.Dir are
// listed by Held and rest: their lag is known, but they are not restored until
// Copy or Activate.
func Open(o Options) (*Host, error) { return nil, errors.New("not built yet") }

// Copy makes a stateful task a copy that follows its changelog. It does nothing
// to a task that is a copy already, and is refused for an active one (see
// Demote) and for a stateless one.
func (h *Host) Copy(task model.TaskID) error { return nil }

// Activate makes a task active and returns at once: the restore is finished
// first, then Started is reported. For a task that is active already only the
// committer is replaced, from its next commit on.
func (h *Host) Activate(task model.TaskID, c Committer) error { return nil }

// Demote stops the processing of tasks, all at the same time: each finishes the
// record in hand, waits for its changelog writes and commits. A stateful task
// is a copy afterwards, a stateless one is closed. Tasks that are not active
// are left as they are. When ctx ends first, what was not committed is given up
// (others process it again) and the error wraps ctx's; an error that is Fenced
// means the same. In any case the task does not process any more, but for a
// call of Process that does not return: its writes are dropped.
func (h *Host) Demote(ctx context.Context, tasks ...model.TaskID) error { return nil }

// Close demotes a task if it is active and forgets it. With keep its state
// stays and rests, as if found by Open; without, it is deleted.
func (h *Host) Close(ctx context.Context, task model.TaskID, keep bool) error { return nil }

// Lag is the number of records that a copy has still to restore, 0 for an
// active stateful task that processes. It is not known for a task that is not
// held, a stateless one, and until the end of the changelog was read.
func (h *Host) Lag(task model.TaskID) (records int64, known bool) { return 0, false }

// Positions gives the progress of all stateful tasks that are held, by task.
func (h *Host) Positions() []Position { return nil }

// Held lists the tasks whose state is here and that are not active: copies and
// those that rest, in order.
func (h *Host) Held() []model.TaskID { return nil }

// Active lists the tasks that process or are being activated, in order.
func (h *Host) Active() []model.TaskID { return nil }

// SetRestoreRate changes Options.RestoreRate from now on.
func (h *Host) SetRestoreRate(recordsPerSecond int) {}

// Shutdown demotes all active tasks, writes all checkpoints and ends
// everything, at the latest when ctx ends. It returns what could not be
// committed. The host is of no use afterwards.
func (h *Host) Shutdown(ctx context.Context) error { return nil }

// Crash ends everything at once without flush, commit or checkpoint, and leaves
// the directory as a crash of the process would. For tests.
func (h *Host) Crash() {}
