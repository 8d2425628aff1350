package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/seat"
	"github.com/streamctl/streamctl/internal/taskrun"
)

// Instance is a running instance: one process's part of a group.
type Instance struct {
	c      Config
	id     string
	net    *seat.Network
	opts   []kgo.Opt // the app's, over net
	tasks  *taskrun.Host
	topics *topics
	link   *link
	events *events
	ctx    context.Context // ends with the instance
	end    context.CancelFunc
	life   context.Context // of all clients; ends with the instance's last breath, or when it is killed
	die    context.CancelFunc
	work   sync.WaitGroup // everything that runs for the instance

	kick  chan struct{} // wakes the loop
	over  chan struct{} // closed when it has ended
	why   error         // set before over is closed
	ended sync.Once

	mu         sync.Mutex
	cond       *sync.Cond // of mu: slots, seats or dead changed
	st         *state
	slots      map[model.TaskID]*slot
	seats      []*chair
	dead       bool      // crashed, or its tasks are shut down: nothing is done any more
	departing  bool      // it is on its way out
	switched   bool      // a mode switch is over, but not everything runs again yet
	stopped    time.Time // when a mode switch stopped the first task; zero: no pause is measured
	resumed    time.Time // when all workers were back and everything that they own ran again; zero: not yet
	reconciled time.Time // last
	led        *leaderRound
	ledGen     int32
}

// tickEvery is how often the clock and the lag of learners are looked at.
const tickEvery = 50 * time.Millisecond

// reconcileEvery is how often tasks and wants are compared when nothing has
// happened.
const reconcileEvery = time.Second

// Start brings an instance up. It returns when the control topic was read, or
// could not be for a while, and the first join is on its way. The context
// bounds the start only.
func Start(ctx context.Context, c Config) (*Instance, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	if c.Host == "" {
		c.Host, _ = os.Hostname() // for people only
	}
	id, err := identity(c.StateDir)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	i := &Instance{
		c: c, id: id, net: seat.NewNetwork(), kick: make(chan struct{}, 1), over: make(chan struct{}),
		st: newState(id, &c), slots: map[model.TaskID]*slot{},
	}
	i.cond = sync.NewCond(&i.mu)
	i.ctx, i.end = context.WithCancel(context.Background())
	i.life, i.die = context.WithCancel(context.Background())
	i.events = newEvents(id, c.Workers, c.Observer, i.taskStarted)
	if err := i.open(ctx); err != nil {
		i.end()
		i.die()
		i.work.Wait()
		i.events.close()
		return nil, fmt.Errorf("worker: %w", err)
	}
	return i, nil
}

func (i *Instance) open(ctx context.Context) (err error) {
	if i.opts, err = i.net.Over(append([]kgo.Opt{kgo.ClientID(i.c.ClientID), kgo.WithContext(i.life)}, i.c.Client...)); err != nil {
		return fmt.Errorf("client options: %w", err)
	}
	if i.topics, err = openTopics(i.opts, i.st.topology); err != nil {
		return err
	}
	if err := i.topics.refresh(ctx, i.c.MetadataMaxAge); err != nil {
		i.topics.close()
		return err
	}
	o := taskrun.Options{
		Opts: i.opts, Group: i.c.Group, Topics: i.topics.all, AcceptableLag: i.c.Settings.AcceptableLag, RestoreRate: i.c.RestoreRate,
		CommitInterval: i.c.CommitInterval, Events: i.events.task,
		NewProcessor: func(t model.TaskID) taskrun.Processor { return processor{i.c.NewProcessor(taskID(t))} },
	}
	if i.c.StateDir != "" {
		o.Dir = filepath.Join(i.c.StateDir, "tasks")
	}
	for _, t := range i.st.topology {
		o.Subtopologies = append(o.Subtopologies, taskrun.Subtopology{ID: int(t.ID), Sources: t.inputs(), Changelog: t.Changelog})
	}
	if i.tasks, err = taskrun.Open(o); err != nil {
		i.topics.close()
		return err
	}
	i.st.found(i.tasks.Held())
	for _, id := range i.tasks.Held() {
		i.slots[id] = &slot{is: slotRest}
	}
	if i.link, err = openLink(i); err != nil {
		i.tasks.Crash()
		i.topics.close()
		return err
	}
	i.link.start(ctx)
	i.mu.Lock()
	for n := range i.c.Workers {
		i.seats = append(i.seats, &chair{i: i, n: n, ses: newSession()})
		i.st.members[n].as = i.st.mode
	}
	for _, c := range i.seats {
		c.move()
	}
	i.mu.Unlock()
	i.work.Go(i.loop)
	return nil
}

// loop looks at the clock until the instance ends.
func (i *Instance) loop() {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case <-i.ctx.Done():
			return
		case <-tick.C:
		case <-i.kick:
		}
		i.look()
	}
}

// look does what the clock asks for.
func (i *Instance) look() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead || i.departing {
		return
	}
	a := i.st.tick(time.Now(), i.tasks.Lag, i.isReady, 2*i.c.Heartbeat)
	for _, r := range a.ready {
		i.events.emit(Event{Kind: LearnerReady, Worker: r.worker, Task: taskID(r.task)})
	}
	for n, cause := range a.ask {
		i.events.emit(Event{Kind: RoundAsked, Worker: n, Text: cause})
		if s := i.seats[n].seat; s != nil {
			s.Rejoin()
		} else {
			i.st.members[n].wish(time.Now().Add(tickEvery), cause) // its seat is about to be there
		}
	}
	for _, n := range a.tryOther {
		m := i.st.members[n]
		m.as = other(m.as)
		m.moves++
		i.seats[n].move()
	}
	switch {
	case a.expire:
		i.depart(Expired)
	case a.drained:
		i.depart(Drained)
	}
	if a.rollBack {
		i.goBack()
	}
	i.settleSwitch(a.switched)
	late := time.Since(i.reconciled) > reconcileEvery
	if late {
		i.revive()
	}
	if i.retries() || late {
		i.reconcile()
	}
}

func (i *Instance) isReady(t model.TaskID) bool { return i.c.Ready == nil || i.c.Ready(taskID(t)) }

// wakeUp makes the loop look at once.
func (i *Instance) wakeUp() {
	select {
	case i.kick <- struct{}{}:
	default:
	}
}

// taskStarted notes that a task processes.
func (i *Instance) taskStarted(t model.TaskID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if s := i.slots[t]; s != nil {
		s.started = true
	}
	i.wakeUp()
}

// ID is the instance's UUID.
func (i *Instance) ID() string { return i.id }

// Done is closed when the instance has ended, by itself (drained, expired) or
// by Close or Kill.
func (i *Instance) Done() <-chan struct{} { return i.over }

// ErrKilled is how an instance ended that was killed.
var ErrKilled = errors.New("worker: killed")

// Wait waits for the end and says how it came: nil after Close, and when the
// instance was drained or its time was up.
func (i *Instance) Wait() error {
	<-i.over
	return i.why
}

// Pause cuts the instance off from all brokers until Resume. For tests.
func (i *Instance) Pause() { i.net.Cut() }

// Resume ends a Pause.
func (i *Instance) Resume() { i.net.Restore() }

// SetRestoreRate changes Config.RestoreRate from now on.
func (i *Instance) SetRestoreRate(recordsPerSecond int) { i.tasks.SetRestoreRate(recordsPerSecond) }
