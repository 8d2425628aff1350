package worker

import (
	"sync"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/taskrun"
)

// events hands events to the observer, in order and from one goroutine. Its
// lock is a leaf: the tasks report from inside, and may not wait for the
// instance.
type events struct {
	instance string
	observer func(Event)
	started  func(model.TaskID) // told after Started, without locks

	mu     sync.Mutex
	queue  []Event
	owners map[model.TaskID]int // worker that a task was opened by last
	gens   []int32              // generation of each worker
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

func newEvents(instance string, workers int, observer func(Event), started func(model.TaskID)) *events {
	e := &events{
		instance: instance, observer: observer, started: started, owners: map[model.TaskID]int{},
		gens: make([]int32, workers), wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go e.run()
	return e
}

// owner notes by which worker's membership a task is opened.
func (e *events) owner(t model.TaskID, worker int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.owners[t] = worker
}

// generation notes a worker's generation.
func (e *events) generation(worker int, generation int32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gens[worker] = generation
}

func (e *events) emit(v Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.put(v)
}

// put queues an event; e.mu is held.
func (e *events) put(v Event) {
	if e.closed {
		return
	}
	v.At, v.Instance = time.Now(), e.instance
	e.queue = append(e.queue, v)
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// task takes an event of the tasks' runtime.
func (e *events) task(t taskrun.Event) {
	v := Event{Kind: eventKind(t.Kind), Task: taskID(t.Task), Lag: t.Lag, Records: t.Records, Err: t.Err}
	if v.Kind == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch v.Kind {
	case ActiveStarted, ActiveHalted, ActiveStopped:
		v.Worker = e.owners[t.Task]
		v.Generation = e.gens[v.Worker]
	}
	e.put(v)
}

// eventKind is what an event of the tasks' runtime is to an app; "" for one that
// it does not hear of: Within and Beyond, since the lag is looked at by itself.
func eventKind(k taskrun.Kind) EventKind {
	switch k {
	case taskrun.Started:
		return ActiveStarted
	case taskrun.Halted:
		return ActiveHalted
	case taskrun.Stopped:
		return ActiveStopped
	case taskrun.CaughtUp:
		return CaughtUp
	case taskrun.Progress:
		return Restoring
	case taskrun.Committed:
		return Committed
	case taskrun.Fenced, taskrun.Trouble, taskrun.Cleared:
		return Trouble
	}
	return ""
}

func (e *events) run() {
	defer close(e.done)
	for range e.wake {
		for {
			e.mu.Lock()
			list, closed := e.queue, e.closed
			e.queue = nil
			e.mu.Unlock()
			for _, v := range list {
				if v.Kind == ActiveStarted {
					e.started(v.Task.internal())
				}
				if e.observer != nil {
					e.observer(v)
				}
			}
			if closed {
				return
			}
			if len(list) == 0 {
				break
			}
		}
	}
}

// close hands over what is queued and ends.
func (e *events) close() {
	e.mu.Lock()
	was := e.closed
	e.closed = true
	e.mu.Unlock()
	if !was {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
	<-e.done
}
