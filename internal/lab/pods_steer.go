package lab

import (
	"context"
	"fmt"
	"time"
)

// Kill ends an instance as a crash does: nobody is told.
func (j *Job) Kill(name string) error {
	j.steer.Lock()
	defer j.steer.Unlock()
	in, _, err := j.live(name)
	if err != nil {
		return err
	}
	j.mark(name, Killed)
	in.Kill()
	j.ledger.gone(name, time.Now())
	return nil
}

// Stop closes an instance: it commits and leaves the group.
func (j *Job) Stop(ctx context.Context, name string) error {
	j.steer.Lock()
	defer j.steer.Unlock()
	return j.stop(ctx, name)
}

func (j *Job) stop(ctx context.Context, name string) error {
	in, _, err := j.live(name)
	if err != nil {
		return err
	}
	j.mark(name, Stopped)
	err = in.Close(ctx)
	j.ledger.gone(name, time.Now())
	if err != nil {
		return fmt.Errorf("instance %q: %w", name, err)
	}
	return nil
}

// Pause cuts an instance off from the broker: it goes on by itself, and is
// thrown out when its session ends.
func (j *Job) Pause(name string) error {
	j.steer.Lock()
	defer j.steer.Unlock()
	in, state, err := j.live(name)
	if err != nil {
		return err
	}
	if state == Paused {
		return fmt.Errorf("instance %q is paused already", name)
	}
	j.mark(name, Paused)
	in.Pause()
	j.ledger.gone(name, time.Now())
	return nil
}

// Resume ends a Pause.
func (j *Job) Resume(name string) error {
	j.steer.Lock()
	defer j.steer.Unlock()
	in, state, err := j.live(name)
	if err != nil {
		return err
	}
	if state != Paused {
		return fmt.Errorf("instance %q is not paused", name)
	}
	in.Resume()
	j.mark(name, Running)
	for _, t := range in.Stats().Tasks {
		if t.Processing { // unless it was thrown out, of which it is about to learn
			j.ledger.resumed(t.ID, name, time.Now())
		}
	}
	return nil
}

// Restart starts an instance again with the state and the identity that it
// had. One that runs is stopped before.
func (j *Job) Restart(ctx context.Context, name string) error {
	j.steer.Lock()
	defer j.steer.Unlock()
	if _, _, err := j.live(name); err == nil {
		if err := j.stop(ctx, name); err != nil {
			return err
		}
	}
	j.mu.Lock()
	p := j.pods[name]
	j.mu.Unlock()
	if p == nil {
		return fmt.Errorf("instance %q: %w", name, ErrNoInstance)
	}
	return j.start(ctx, name)
}
