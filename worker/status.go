package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/taskrun"
)

// When a status is written (docs/protocol/control.md, status).
const (
	statusEvery   = time.Second           // between two looks whether it has changed, unless something asks for one
	statusRefresh = 5 * time.Second       // after which it is written unchanged, but for positions: tools take silence for a crash
	statusLater   = 15 * time.Second      // the longest wait after statuses that could not be written
	statusTurn    = 2 * time.Millisecond  // times the instances: over so long they spread what all have to say at once
	statusShare   = 10 * time.Millisecond // times the instances: the gap between two statuses of one, up to a quarter of statusEvery
	statusRate    = 100_000               // bytes a second that one instance writes at most: every other one reads them
)

// say asks for a status soon.
func (l *link) say() {
	select {
	case l.push <- struct{}{}:
	default:
	}
}

// publish writes the status when it has changed, until the instance ends.
func (l *link) publish() {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	var last string
	var at time.Time
	wait := time.Duration(0) // after failures
	for {
		select {
		case <-l.i.ctx.Done():
			return
		case <-tick.C:
		case <-l.push:
			if clock.Sleep(l.i.ctx, l.i.turn()) != nil {
				return
			}
		}
		l.forget(l.i.ctx, time.Now())
		s := l.i.status(l)
		same := l.fingerprint(s)
		if same == last && time.Since(at) < statusRefresh {
			continue
		}
		if err := l.write(l.i.ctx, s, false); err == nil {
			last, at, wait = same, time.Now(), 0
		} else {
			wait = min(max(2*wait, statusEvery), statusLater)
		}
		if clock.Sleep(l.i.ctx, wait+statusGap(l.i.others(), len(same))) != nil {
			return
		}
	}
}

// turn is when this instance's turn is to say what all have to say, as after a
// round.
func (i *Instance) turn() time.Duration {
	return rand.N(time.Duration(max(i.others(), 1)) * statusTurn)
}

// others is how many instances there were in the last round.
func (i *Instance) others() int32 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.st.members[0].last
}

// statusGap is how long an instance writes no other status after one of so many
// bytes. Few instances may say at once what each round of several in a row has
// brought; of many each says it a few times a second at the most.
func statusGap(instances int32, bytes int) time.Duration {
	gap := min(time.Duration(max(instances, 1))*statusShare, statusEvery/4)
	return max(gap, time.Duration(bytes)*time.Second/statusRate)
}

// last writes the status of an instance that goes, and how.
func (l *link) last(left control.Departure) {
	ctx, cancel := context.WithTimeout(l.i.ctx, writeWait)
	defer cancel()
	s := l.i.status(l)
	s.Tasks, s.Round, s.Left = nil, nil, left
	_ = l.write(ctx, s, true) // said by write
}

// write writes a status, but none after the final one; why it cannot is said
// once.
func (l *link) write(ctx context.Context, s control.Status, final bool) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.final {
		return nil
	}
	l.final = final
	ctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	r, err := s.Record(l.i.id)
	if err == nil {
		err = l.topic.Put(ctx, r)
	}
	l.mu.Lock()
	was := l.unsaid
	l.unsaid = err
	l.mu.Unlock()
	if err != nil && l.i.ctx.Err() == nil && (was == nil || was.Error() != err.Error()) {
		l.i.events.emit(Event{Kind: Trouble, Err: fmt.Errorf("write the status: %w", err)})
	}
	return err
}

// fingerprint is what of a status is worth a record before its time. How far a
// task is counts only while it restores: where records come in, the positions of
// all others change all the time.
func (l *link) fingerprint(s control.Status) string {
	s.At, s.RemainingMs, s.ControlOffset = time.Time{}, nil, nil
	s.Tasks = slices.Clone(s.Tasks)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Role == model.Active || t.Lag != nil && *t.Lag <= l.i.c.Settings.AcceptableLag {
			t.Lag, t.Position, t.End = nil, nil, nil
		}
	}
	value, err := s.Value()
	if err != nil {
		return err.Error()
	}
	return string(value)
}

// status is what the instance says of itself.
func (i *Instance) status(l *link) control.Status {
	positions := map[model.TaskID]taskrun.Position{}
	for _, p := range i.tasks.Positions() {
		positions[p.Task] = p
	}
	l.mu.Lock()
	offset, failed := l.offset, l.failed
	if failed == nil {
		failed = l.unsaid
	}
	whole := l.whole
	l.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	s := control.Status{
		Source: control.SourceWorker, Software: "streamctl", Version: version(), At: time.Now(), Epoch: i.st.epoch, Mode: control.RebalanceMode(i.st.mode),
		Workers: int32(len(i.st.members)), Marks: []string{}, ClientID: i.c.ClientID, Host: i.c.Host,
	}
	session := i.c.SessionTimeout.Milliseconds()
	s.Session = &session
	if whole {
		s.ControlOffset = &offset
	}
	if failed != nil {
		s.ControlError = failed.Error()
	}
	generation := i.st.generation()
	if generation > 0 {
		s.Generation = &generation
	}
	if m := i.st.mark; m != nil {
		s.Leaving, s.Expired, s.Marks = true, i.st.expired, []string{m.id}
		if !m.deadline.IsZero() {
			ms := max(0, time.Until(m.deadline).Milliseconds())
			s.RemainingMs = &ms
		}
	}
	for _, t := range i.have() {
		s.Tasks = append(s.Tasks, i.statusTask(t, positions))
	}
	if i.leads() {
		s.Round = i.led.status(generation)
	}
	return s
}

// owned is one task with its strongest claim on the instance.
type owned struct {
	id     model.TaskID
	worker int
	*claim
}

// have lists what the instance has, by task; i.mu is held.
func (i *Instance) have() []owned {
	best := i.st.best()
	var list []owned
	for _, m := range i.st.members {
		for id, c := range m.tasks {
			if best[id] == c {
				list = append(list, owned{id, m.n, c})
			}
		}
	}
	slices.SortFunc(list, func(a, b owned) int { return a.id.Compare(b.id) })
	return list
}

func (i *Instance) statusTask(t owned, positions map[model.TaskID]taskrun.Position) control.Task {
	out := control.Task{ID: t.id, Role: t.role, Tags: t.shown(i.st.stateful(t.id), i.st.mark != nil).List()}
	if lag, known := i.tasks.Lag(t.id); known {
		out.Lag = &lag
	}
	if p, ok := positions[t.id]; ok && i.st.stateful(t.id) {
		next, end := p.Next, p.End
		out.Position = &next
		if end >= 0 {
			out.End = &end
		}
	}
	return out
}

// status is the whole round as the leader says it.
func (l *leaderRound) status(generation int32) *control.Round {
	set := l.of.set.wire()
	r := &control.Round{Generation: &generation, MarksVoid: l.result.MarksVoid, AnotherRound: l.result.AnotherRound, Settings: control.Settings{
		BalancingFactor: set.BalancingFactor, StandbyReplicas: set.StandbyReplicas, AcceptableRecoveryLag: set.AcceptableRecoveryLag,
		RejoinPolicy: string(set.RejoinPolicy),
	}}
	if set.MaxLearners.Known {
		r.Settings.MaxLearners = &set.MaxLearners.N
	}
	if set.ScaleDownTimeoutMs.Known {
		r.Settings.ScaleDownTimeoutMs = &set.ScaleDownTimeoutMs.N
	}
	for _, t := range l.of.wireTopology(l.counts) {
		r.Topology = append(r.Topology, control.Subtopology{
			ID: t.ID, Stateful: t.Stateful, Partitions: t.Partitions, SourceTopics: t.SourceTopics, RepartitionSourceTopics: t.RepartitionSourceTopics,
			RepartitionSinkTopics: t.RepartitionSinkTopics, ChangelogTopics: t.ChangelogTopics,
		})
	}
	for i := range l.result.Instances {
		share := &l.result.Instances[i]
		in := control.RoundInstance{ID: share.ID, Workers: int32(len(share.Workers)), Leaving: l.leaving(share.ID), PlugIn: true, Marks: l.marksOf(share.ID)}
		for _, w := range share.Workers {
			lags := l.lags(w.ID)
			for _, given := range w.Tasks {
				t := l.task(share.ID, given)
				in.Tasks = append(in.Tasks, control.Task{ID: t.ID, Role: t.Role, Tags: t.Tags.List(), Lag: lags[t.ID], Reason: string(t.Reason)})
			}
		}
		r.Instances = append(r.Instances, in)
	}
	return r
}

// lags are the records that a member said it still has to restore, by task; those
// that it did not tell are absent.
func (l *leaderRound) lags(member string) map[model.TaskID]*int64 {
	tasks := l.members[member].Tasks
	lags := make(map[model.TaskID]*int64, len(tasks))
	for i := range tasks {
		if t := &tasks[i]; t.Lag.Known {
			n := t.Lag.N
			lags[t.ID] = &n
		}
	}
	return lags
}

// version is that of the build, "" when it has none.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		return b.Main.Version
	}
	return ""
}
