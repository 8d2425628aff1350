package worker

import (
	"context"
	"errors"
)

// Instance is a running instance: one process's part of a group.
type Instance struct{}

// Start brings an instance up. It returns when the control topic was read, or
// could not be for a while, and the first join is on its way. The context
// bounds the start only.
func Start(ctx context.Context, c Config) (*Instance, error) { return nil, errors.New("not built yet") }

// ID is the instance's UUID.
func (i *Instance) ID() string { return "" }

// Done is closed when the instance has ended, by itself (drained, expired) or
// by Close or Kill.
func (i *Instance) Done() <-chan struct{} { return nil }

// Wait waits for the end and says how it came: nil after Close, and when the
// instance was drained or its time was up.
func (i *Instance) Wait() error { return nil }

// Close stops all tasks, commits, leaves the group, and ends the instance. Its
// state stays in StateDir.
func (i *Instance) Close(ctx context.Context) error { return nil }

// Kill ends the instance as a crash would: nothing is committed, nobody is
// told. For tests.
func (i *Instance) Kill() {}

// Pause cuts the instance off from all brokers until Resume. For tests.
func (i *Instance) Pause() {}

// Resume ends a Pause.
func (i *Instance) Resume() {}

// SetRestoreRate changes Config.RestoreRate from now on.
func (i *Instance) SetRestoreRate(recordsPerSecond int) {}

// Stats is what the instance has and does at the moment.
func (i *Instance) Stats() Stats { return Stats{} }

// Stats is a look at an instance.
type Stats struct {
	Instance   string
	Generation int32 // of the last round of its first worker; 0: none
	Mode       Mode
	Epoch      int64
	Leaving    bool
	Marks      []string
	Tasks      []TaskStats // by task
}

// TaskStats is one task of an instance.
type TaskStats struct {
	ID         TaskID
	Role       string   // active, standby, learner
	Tags       []string // of the protocol, in the order of its table
	Worker     int
	Processing bool
	Lag        int64 // records still to restore; -1: unknown
}
