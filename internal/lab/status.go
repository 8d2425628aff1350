package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// Status is a look at a live job. Nothing in it comes from the broker: it is
// what the instances themselves, their stores and the producer know.
type Status struct {
	Bootstrap   string        `json:"bootstrap"`
	Group       string        `json:"group"`
	Mode        string        `json:"mode"`
	Tasks       int           `json:"tasks"`
	Idle        []string      `json:"idle"`         // tasks that nobody processes now
	LongestIdle time.Duration `json:"longest_idle"` // longest time so far that a task had nobody
	RestoreRate int           `json:"restore_rate"` // records a second; 0: without limit
	Records     Records       `json:"records"`
	Instances   []PodStatus   `json:"instances"` // by name
}

// PodStatus is one instance of a job.
type PodStatus struct {
	Name       string   `json:"name"`
	ID         string   `json:"id"`
	State      PodState `json:"state"`
	Leader     bool     `json:"leader"` // it led the last round; of none when several say so
	Leaving    bool     `json:"leaving"`
	Active     int      `json:"active"` // that it processes
	Standby    int      `json:"standby"`
	Learner    int      `json:"learner"`
	Restore    int64    `json:"restore"` // records that its copies have still to restore
	Generation int32    `json:"generation"`
	Why        string   `json:"why"` // what it failed of
}

// Status looks at the job.
func (j *Job) Status() Status {
	j.mu.Lock()
	pods := make([]pod, 0, len(j.pods))
	for _, p := range j.pods {
		pods = append(pods, *p)
	}
	s := Status{Bootstrap: j.l.Bootstrap(), Group: j.o.Group, Tasks: j.o.Tasks, RestoreRate: j.restoreRate, Idle: []string{}}
	produced, leader := j.produced, j.leader
	j.mu.Unlock()
	newest := int32(0)
	for _, p := range pods {
		one, mode := p.status()
		one.Leader = p.name == leader && (p.state == Running || p.state == Paused)
		s.Instances = append(s.Instances, one)
		if p.state == Running && one.Generation >= newest && mode != "" {
			newest, s.Mode = one.Generation, mode
		}
	}
	slices.SortFunc(s.Instances, func(a, b PodStatus) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	s.Records = j.ledger.records(produced)
	idle, longest := j.ledger.idle(time.Now())
	s.LongestIdle = longest
	for _, p := range idle {
		s.Idle = append(s.Idle, worker.TaskID{Partition: p}.String())
	}
	return s
}

// brief says what a job waits for.
func (j *Job) brief() string {
	s := j.Status()
	text := fmt.Sprintf("%d of %d records are not counted, %d of %d tasks run nowhere", s.Records.Waiting, s.Records.Produced, len(s.Idle), s.Tasks)
	for _, i := range s.Instances {
		text += fmt.Sprintf("; %s %s, generation %d, %d active, %d learner, %d to restore", i.Name, i.State, i.Generation, i.Active, i.Learner, i.Restore)
		if i.Why != "" {
			text += ", " + i.Why
		}
	}
	return text
}

func (p *pod) status() (s PodStatus, mode string) {
	s = PodStatus{Name: p.name, State: p.state, Why: p.why}
	if p.in == nil {
		return s, ""
	}
	s.ID = p.in.ID()
	if p.state != Running && p.state != Paused {
		return s, ""
	}
	x := p.in.Stats()
	s.Generation, s.Leaving = x.Generation, x.Leaving
	for _, t := range x.Tasks {
		switch {
		case t.Processing:
			s.Active++
		case t.Role == "learner":
			s.Learner++
			s.Restore += max(0, t.Lag)
		case t.Role == "standby":
			s.Standby++
			s.Restore += max(0, t.Lag)
		}
	}
	return s, string(x.Mode)
}

// observe keeps the ledger, and tells what happens to an instance that lives.
func (j *Job) observe(name string, e worker.Event) {
	switch e.Kind {
	case worker.ActiveStarted:
		j.ledger.started(e.Task, name, e.At)
	case worker.ActiveStopped:
		j.ledger.stopped(e.Task, name, e.At)
	}
	if !j.crashed(name) { // what is cut short by a crash says nothing any more
		j.tell(name, e)
	}
}

func (j *Job) crashed(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.pods[name]
	return p != nil && p.state == Killed
}

// tell notes what happens for the log.
func (j *Job) tell(name string, e worker.Event) {
	switch e.Kind {
	case worker.RoundLed:
		j.led(name, e)
	case worker.LearnerReady:
		j.say("%s is ready to take %s over", name, e.Task)
	case worker.MembershipLost:
		j.say("%s is out of the group: %v", name, e.Err)
	case worker.MarkSeen:
		j.say("%s is marked as leaving", name)
	case worker.MarkWithdrawn:
		j.say("%s is to stay: its mark is withdrawn", name)
	case worker.Drained, worker.Expired:
		j.leaves(name, PodState(e.Kind))
	case worker.SwitchBegun:
		j.say("%s switches to %s (epoch %d)", name, e.Mode, e.Epoch)
	case worker.SwitchDone:
		j.say("%s is in %s, its tasks paused for %s", name, e.Mode, e.Pause.Round(time.Millisecond))
	case worker.SwitchRolledBack:
		j.say("%s went back to %s", name, e.Mode)
	case worker.Left:
		j.say("%s has left", name)
	case worker.Trouble:
		j.say("%s: %v", name, e.Err)
	}
}

// led notes who led a round. When a leader is lost the embedded broker tells
// every member of the next round that it leads, and takes what one of them
// decides, which is the same for all; then nobody is named.
func (j *Job) led(name string, e worker.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Generation == j.round && !e.At.Before(j.ledAt) && e.At.Sub(j.ledAt) < j.o.SessionTimeout && j.leader != name {
		j.leader = ""
		return
	}
	j.leader, j.round, j.ledAt = name, e.Generation, e.At
	j.say("round %d, led by %s: %s", e.Generation, name, dealt(e.Round))
}

// leaves notes that an instance goes since it was marked.
func (j *Job) leaves(name string, how PodState) {
	j.say("%s is %s", name, how)
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.pods[name]; p != nil && (p.state == Running || p.state == Paused) {
		p.state = how
	}
}

// dealt is who has how much after a round: "pod-a 4, pod-b 2 +1 learner".
func dealt(r *worker.Round) string {
	if r == nil {
		return "-"
	}
	var out []string
	for _, i := range r.Instances {
		active, learner := 0, 0
		for _, t := range i.Tasks {
			switch t.Role {
			case "active":
				active++
			case "learner":
				learner++
			}
		}
		s := fmt.Sprintf("%s %d", i.Host, active)
		if learner > 0 {
			s += fmt.Sprintf(" +%d learned", learner)
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
