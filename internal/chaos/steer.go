package chaos

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
	"github.com/streamctl/streamctl/worker"
)

// onTopic opens the control topic for a moment.
func (j *Job) onTopic(f func(context.Context, *controltopic.Topic) error) {
	j.T.Helper()
	t, err := controltopic.Open([]kgo.Opt{kgo.SeedBrokers(j.O.Seeds...)}, j.O.Group)
	if err != nil {
		j.T.Fatal(err)
	}
	defer t.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		err := f(ctx, t)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			j.T.Errorf("control topic: %v", err)
			return
		}
		j.Say("control topic, once more: %v", err) // a broker that has just died is one that cannot be dialled
		time.Sleep(200 * time.Millisecond)
	}
}

func (j *Job) write(r control.Record, err error) {
	j.T.Helper()
	if err != nil {
		j.T.Fatal(err)
	}
	j.onTopic(func(ctx context.Context, t *controltopic.Topic) error {
		_, err := t.Write(ctx, r)
		return err
	})
}

// Mark marks an instance as leaving; timeout 0 leaves it to the instance.
func (j *Job) Mark(name, mark string, timeout time.Duration) {
	j.T.Helper()
	p := j.Pod(name)
	l := control.Leaving{Mark: mark, At: time.Now(), Who: "chaos"}
	if timeout > 0 {
		l.Timeout = &timeout
	}
	j.write(l.Record(p.ID))
	j.mu.Lock()
	defer j.mu.Unlock()
	p.Mark, p.Hurry = mark, timeout > 0
}

// Unmark withdraws the mark of an instance.
func (j *Job) Unmark(name string) {
	j.T.Helper()
	p := j.Pod(name)
	j.write(control.Withdrawal(p.ID), nil)
	j.mu.Lock()
	defer j.mu.Unlock()
	p.Mark, p.Hurry = "", false
}

// State is what the control topic says.
func (j *Job) State() (s control.State) {
	j.T.Helper()
	j.onTopic(func(ctx context.Context, t *controltopic.Topic) error {
		c, err := t.Read(ctx)
		s = control.Fold(c.Records)
		return err
	})
	return s
}

// Switch writes the record that names a mode, with the next epoch, and returns
// that.
func (j *Job) Switch(m worker.Mode, allowed time.Duration) (epoch int64) {
	j.T.Helper()
	if now := j.State().Mode; now != nil {
		epoch = now.Epoch
	}
	epoch++
	j.write(control.Mode{Mode: control.RebalanceMode(m), Epoch: epoch, Allowed: allowed, At: time.Now(), Who: "chaos"}.Record())
	return epoch
}
