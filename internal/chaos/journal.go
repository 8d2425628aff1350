package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// entry is an event of one life of an instance, or a word of the test.
type entry struct {
	worker.Event
	name string
	life int
	said string
}

// end is how a life of an instance ended that the test ended, or saw ended.
type end struct {
	how         string
	began, done time.Time
}

// Journal is everything that happened.
type Journal struct {
	label func(worker.TaskID) string

	mu      sync.Mutex
	entries []entry
	ends    map[string]end    // by name and life
	names   map[string]string // by instance id
}

func newJournal(label func(worker.TaskID) string) *Journal {
	return &Journal{label: label, ends: map[string]end{}, names: map[string]string{}}
}

func lifeOf(name string, life int) string { return fmt.Sprintf("%s#%d", name, life) }

func (l *Journal) observe(name string, life int, e worker.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[e.Instance] = name
	l.entries = append(l.entries, entry{Event: e, name: name, life: life})
}

// Say puts a word of the test into the journal.
func (l *Journal) Say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry{Event: worker.Event{At: time.Now()}, said: fmt.Sprintf(format, args...)})
}

func (l *Journal) began(name string, life int, id string) {
	l.Say("%s starts, life %d", name, life)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[id] = name
}

func (l *Journal) ended(name string, life int, how string, began time.Time) {
	l.Say("%s %s, life %d", name, how, life)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends[lifeOf(name, life)] = end{how, began, time.Now()}
}

// nameOf is the name of an instance by its id, "" for one that is not known.
// Instances that run are heard of at any moment.
func (l *Journal) nameOf(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names[id]
}

// sorted is the journal by time.
func (l *Journal) sorted() []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.entries)
	slices.SortStableFunc(list, func(a, b entry) int { return a.At.Compare(b.At) })
	return list
}

// Count is how many events of a kind there were.
func (l *Journal) Count(kind worker.EventKind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for i := range l.entries {
		if l.entries[i].Kind == kind {
			n++
		}
	}
	return n
}

// Events are those of some kinds, by time.
func (l *Journal) Events(kinds ...worker.EventKind) []worker.Event {
	var list []worker.Event
	for _, e := range l.sorted() {
		if slices.Contains(kinds, e.Kind) {
			list = append(list, e.Event)
		}
	}
	return list
}

// Tail is the end of the journal, n lines of it; 0: all.
func (l *Journal) Tail(n int) string {
	list := slices.DeleteFunc(l.sorted(), func(e entry) bool { return e.Kind == worker.Committed || e.Kind == worker.Restoring })
	if n > 0 {
		list = list[max(0, len(list)-n):]
	}
	var b strings.Builder
	for _, e := range list {
		b.WriteString(l.line(e) + "\n")
	}
	return b.String()
}

func (l *Journal) line(e entry) string {
	at := e.At.Format("04:05.000")
	if e.said != "" {
		return at + " ---- " + e.said
	}
	s := fmt.Sprintf("%s %s#%d w%d %s gen %d", at, e.name, e.life, e.Worker, e.Kind, e.Generation)
	switch e.Kind {
	case worker.ActiveStarted, worker.ActiveHalted, worker.ActiveStopped, worker.CopyOpened, worker.CopyClosed, worker.CaughtUp, worker.LearnerReady:
		s += fmt.Sprintf(" %s records %d", l.label(e.Task), e.Records)
	case worker.MarkSeen, worker.MarkChanged, worker.MarkWithdrawn, worker.Drained, worker.Expired:
		s += fmt.Sprintf(" mark %s remaining %v", e.Mark, e.Remaining)
	case worker.ModeSeen, worker.SwitchBegun, worker.SwitchDone, worker.SwitchRolledBack:
		s += fmt.Sprintf(" %s epoch %d pause %v", e.Mode, e.Epoch, e.Pause)
	case worker.RoundLed:
		s += " " + l.told(e.Round)
	case worker.Trouble:
		s += " " + l.label(e.Task)
	}
	if e.Text != "" {
		s += " " + e.Text
	}
	if e.Err != nil {
		s += fmt.Sprintf(" error %v", e.Err)
	}
	return s
}

// told shows a round: being-learned actives with a star, released ones with a
// minus; learners in brackets after a question mark, standbys after an equals
// sign.
func (l *Journal) told(r *worker.Round) string {
	var b strings.Builder
	for _, in := range r.Instances {
		roles := map[string][]string{}
		for _, t := range in.Tasks {
			s := l.label(t.ID)
			if slices.Contains(t.Tags, tagLearned) {
				s += "*"
			}
			if t.Release {
				s += "-"
			}
			roles[t.Role] = append(roles[t.Role], s)
		}
		b.WriteString(l.nameOf(in.ID))
		if in.Leaving {
			b.WriteString("(leaving)")
		}
		if in.Expired {
			b.WriteString("(expired)")
		}
		fmt.Fprintf(&b, "%v", roles[roleActive])
		if len(roles[roleLearner]) > 0 {
			fmt.Fprintf(&b, "?%v", roles[roleLearner])
		}
		if len(roles[roleStandby]) > 0 {
			fmt.Fprintf(&b, "=%v", roles[roleStandby])
		}
		b.WriteString(" ")
	}
	fmt.Fprintf(&b, "epoch %d", r.Epoch)
	if r.SwitchWaiting {
		b.WriteString(" waits")
	}
	if r.AnotherRound {
		b.WriteString(" another")
	}
	if r.MarksVoid {
		b.WriteString(" void")
	}
	return b.String()
}
