package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
)

// offsetsSince is the first release of brokers that tell task offsets of streams
// groups.
const offsetsSince = "4.4"

// TaskOffsetsEvery is how old a position of a streams group may be by default
// (streams.task.offset.interval.ms; docs/reference/broker-facts.md, section 5).
const TaskOffsetsEvery = time.Minute

// Departing judges look after look whether instances of a streams group
// (KIP-1071) may stop: whether every task goes to a copy that has caught up, as
// the targets of the broker are foreseen.
type Departing struct {
	every    time.Duration // how old a position may be
	ends     map[model.TaskID][]endSeen
	foretold map[model.TaskID]DepartTask // the last word on each task that was to go
	ever     map[string]bool             // instances that were to stop at some look
}

// endSeen is the end of a task's changelogs at one look.
type endSeen struct {
	at  time.Time
	end int64
}

// DepartLook is the judgement of one look.
type DepartLook struct {
	Open   string      // why nothing can be told by this look: tasks or copies are being moved; "" when it can
	Raise  *plan.Raise // how many standbys it takes, from the present number up; nil when Open
	Enough bool        // the present number is enough, so only restoring is waited for
	Safe   Answer      // every task goes to a copy that has caught up; only with Enough other than No
	Offers bool        // positions are told: Unknown may become Yes
	Tasks  []DepartTask

	Owns      int    // active tasks of the instances
	Ready     int    // of Tasks, those that go to copies that have caught up
	ToRestore *int64 // records that the copies still restore; nil when not known of all
}

// DepartTask is one task that goes elsewhere when the instances stop.
type DepartTask struct {
	Task      model.TaskID
	Stateful  bool
	From      string   // id of its instance
	To        []string // ids of the instances that it may go to, the most likely one first
	ToNames   []string
	Each      []Answer // of To: it has a copy that has caught up, or there is no state
	Answer    Answer   // these have copies that have caught up
	Why       string   // what is missing, for example "pod-b restores 8,112 records"; "" for Yes
	Remaining *int64   // of the copy that is furthest behind; nil when not known
	Total     *int64   // records of its changelogs; nil when not known
}

// NewDeparting returns a judge that has seen nothing. every is how old the
// positions that members report may be; 0 is the default of the brokers.
func NewDeparting(every time.Duration) *Departing {
	if every <= 0 {
		every = TaskOffsetsEvery
	}
	return &Departing{every: every, ends: map[model.TaskID][]endSeen{}, foretold: map[model.TaskID]DepartTask{}, ever: map[string]bool{}}
}

// Look judges the group as it was seen at the time, were these instances to
// stop. An error says that no prediction can be made for such a group.
func (d *Departing) Look(g *model.Group, leaving []string, at time.Time) (DepartLook, error) {
	d.remember(g, at)
	out := DepartLook{Safe: Unknown, Offers: reportsOffsets(g)}
	if out.Open = stillMoving(g); out.Open != "" {
		return out, nil
	}
	in, err := plan.FromGroup(g)
	if err != nil {
		return out, err
	}
	r, err := plan.NeedStandbys(in, leaving, plan.Options{}, -1)
	if err != nil {
		return out, err
	}
	out.Raise, out.Enough = r, r.Need == r.Before
	for i := range g.Instances {
		if slices.Contains(r.Leaving, g.Instances[i].ID) {
			out.Owns += g.Instances[i].Active
		}
	}
	var left int64
	known := true
	out.Safe = Yes
	for i := range r.Now {
		t := d.task(g, &r.Now[i], out.Offers, at)
		out.Tasks = append(out.Tasks, t)
		switch {
		case t.Answer == Yes:
			out.Ready++
		case t.Answer == No:
			out.Safe = No
		case out.Safe == Yes:
			out.Safe = Unknown
		}
		if t.Answer != Yes && t.Remaining == nil {
			known = false
		} else if t.Answer != Yes {
			left += *t.Remaining
		}
	}
	if !out.Enough {
		out.Safe = No
	}
	if known {
		out.ToRestore = &left
	}
	d.foretell(&out)
	return out, nil
}

// foretell keeps what was foretold. Tasks of instances that go thread by thread
// are gone from a look before the instance is.
func (d *Departing) foretell(l *DepartLook) {
	for _, id := range l.Raise.Leaving {
		d.ever[id] = true
	}
	for id, t := range d.foretold {
		if !d.ever[t.From] && departs(l, id) == nil {
			delete(d.foretold, id)
		}
	}
	for _, t := range l.Tasks {
		d.foretold[t.Task] = t
	}
}

func departs(l *DepartLook, id model.TaskID) *DepartTask {
	for i := range l.Tasks {
		if l.Tasks[i].Task == id {
			return &l.Tasks[i]
		}
	}
	return nil
}

// stillMoving says why a look can tell nothing: the broker or the members are moving
// tasks, or the copies that the setting asks for are not placed yet.
func stillMoving(g *model.Group) string {
	if g.State != model.StateStable || g.AssignmentBasis != model.AssignmentCurrent {
		return "the group is " + g.State
	}
	if g.Timing.Standbys == nil {
		return ""
	}
	want := min(*g.Timing.Standbys, len(g.Instances)-1)
	have := map[model.TaskID]int{}
	eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) {
		if t.Stateful == nil || !*t.Stateful {
			return
		}
		n := have[t.ID]
		if t.Role == model.Standby {
			n++
		}
		have[t.ID] = n
	})
	for _, n := range have {
		if n != want {
			return fmt.Sprintf("the broker has not placed the copies for num.standby.replicas %d yet", *g.Timing.Standbys)
		}
	}
	return ""
}

// reportsOffsets tells whether members say how far their copies are.
func reportsOffsets(g *model.Group) bool {
	v := g.Facts.KafkaVersion
	return g.Positions.Basis == model.PositionsHeartbeat || v != "" && !olderThan(v, offsetsSince)
}

// olderThan compares releases of the form "4.3".
func olderThan(a, b string) bool {
	var x, y [2]int
	fmt.Sscanf(a, "%d.%d", &x[0], &x[1]) //nolint:errcheck // what is no release is older than all
	fmt.Sscanf(b, "%d.%d", &y[0], &y[1]) //nolint:errcheck // one of ours
	return x[0] < y[0] || x[0] == y[0] && x[1] < y[1]
}

// remember keeps the ends for as long as a position may be old.
func (d *Departing) remember(g *model.Group, at time.Time) {
	seen := map[model.TaskID]bool{}
	eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) {
		if t.Restore.End == nil || seen[t.ID] {
			return
		}
		seen[t.ID] = true
		l := append(d.ends[t.ID], endSeen{at, *t.Restore.End})
		d.ends[t.ID] = slices.DeleteFunc(l, func(e endSeen) bool { return at.Sub(e.at) > d.every+slackOf(g) })
	})
}

// slackOf is how much older than the interval a position may be: members send it
// with a heartbeat.
func slackOf(g *model.Group) time.Duration {
	if ms := g.Timing.HeartbeatMs; ms != nil {
		return 2 * time.Duration(min(*ms, 60_000)) * time.Millisecond
	}
	return 10 * time.Second
}

// task judges one departure by the copies at the instances that it may go to.
func (d *Departing) task(g *model.Group, from *plan.Departure, offers bool, at time.Time) DepartTask {
	out := DepartTask{Task: from.Task, Stateful: from.Stateful, From: from.From, To: from.To, Answer: Yes}
	for _, id := range from.To {
		out.ToNames = append(out.ToNames, nameOf(g, id))
	}
	if len(from.To) == 0 {
		out.Answer, out.Why = No, "nobody is left to take it"
		return out
	}
	if !from.Stateful {
		out.Each = slices.Repeat([]Answer{Yes}, len(from.To))
		return out
	}
	var why []string
	for i, id := range from.To {
		a, text, remaining := d.copyAt(g, id, out.ToNames[i], from.Task, offers, &out)
		out.Each = append(out.Each, a)
		if a != Yes {
			why = append(why, text)
			if remaining == nil || out.Remaining != nil && *out.Remaining < *remaining || len(why) == 1 {
				out.Remaining = remaining
			}
		}
		if a == No || a == Unknown && out.Answer == Yes {
			out.Answer = a
		}
	}
	out.Why = strings.Join(why, "; ")
	return out
}

// copyAt judges the copy of a task at one instance. One that has restored all
// that was there when a position may last have been taken is caught up: with
// producers at work no position is ever at the present end.
func (d *Departing) copyAt(g *model.Group, id, name string, task model.TaskID, offers bool, of *DepartTask) (Answer, string, *int64) {
	var found *model.Task
	markers := int64(1)
	eachTask(g, func(in *model.Instance, _ *model.Member, t *model.Task) {
		if t.ID != task {
			return
		}
		if t.Restore.End != nil {
			of.Total = t.Restore.End
		}
		if in.ID == id && !t.TargetOnly && t.Role != model.Active {
			found = t
		}
	})
	for i := range g.Topology.Subtopologies {
		if s := &g.Topology.Subtopologies[i]; s.ID == task.Subtopology {
			markers = max(markers, int64(len(s.ChangelogTopics))) // of transactions, one a log
		}
	}
	switch {
	case found == nil:
		return No, name + " has no copy", of.Total
	case found.Restore.State == model.CaughtUp || found.Restore.End != nil && *found.Restore.End == 0:
		return Yes, "", nil
	case found.Restore.Position == nil && offers:
		return No, "the copy on " + name + " has not told its position yet", nil
	case found.Restore.Position == nil:
		return Unknown, "how far the copy on " + name + " is cannot be seen", nil
	}
	for _, e := range d.ends[task] {
		if *found.Restore.Position+markers >= e.end {
			return Yes, "", nil
		}
	}
	if found.Restore.RemainingRecords == nil {
		return No, "the copy on " + name + " restores, the end of its log is not known", nil
	}
	return No, fmt.Sprintf("the copy on %s restores %s records", name, model.Thousands(*found.Restore.RemainingRecords)), found.Restore.RemainingRecords
}

func nameOf(g *model.Group, id string) string {
	if in := instance(g, id); in != nil && in.Name != "" {
		return in.Name
	}
	return id
}

// Blocker says what is in the way of a task, as waits and checks show it.
func (t *DepartTask) Blocker() Blocker {
	b := taskBlocker(t.Task, t.Why)
	if len(t.To) > 0 {
		b.Copy = t.To[0]
	}
	b.RemainingRecords = t.Remaining
	return b
}
