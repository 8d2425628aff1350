package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/render"
)

// LabStatus is what `lab status` shows, and what a command that steers a lab
// left behind. It comes from the lab itself, not from its broker.
type LabStatus struct {
	Head
	Bootstrap     string        `json:"bootstrap"`
	Group         string        `json:"group"`
	Mode          *string       `json:"mode"`
	Tasks         int           `json:"tasks"`
	Idle          []string      `json:"unassigned_tasks"` // tasks that nobody processes now
	LongestIdleMs int64         `json:"longest_idle_ms"`  // the longest time that a task had nobody
	RestoreRate   *int          `json:"restore_rate"`     // records a second of each instance; null: without limit
	Records       LabRecords    `json:"records"`
	Instances     []LabInstance `json:"instances"` // in the order in which they are given

	done string // what was done just now, for people
}

// LabRecords is what was written to the input of a lab's job and what became
// of it.
type LabRecords struct {
	Produced int64  `json:"produced"`
	Counted  int64  `json:"counted"` // of these, in the stores
	Waiting  int64  `json:"waiting"` // of these, still to be counted
	Twice    *int64 `json:"twice"`   // counted again after a crash; null: it cannot be told
	Lost     *int64 `json:"lost"`    // null: it cannot be told
}

// LabInstance is one instance of a lab's job.
type LabInstance struct {
	Name    string  `json:"name"`
	ID      *string `json:"id"`     // UUID
	State   string  `json:"state"`  // running, paused, stopped, killed, drained, expired, failed
	Leader  bool    `json:"leader"` // it led the last round
	Leaving bool    `json:"leaving"`
	Active  int     `json:"active"`
	Standby int     `json:"standby"`
	Learner int     `json:"learner"`
	Restore int64   `json:"remaining_records"` // of its standbys and learners
	Why     *string `json:"error"`
}

// NewLabStatus makes the report of what a lab said. done is a sentence about
// what was done just now, "" when it was only asked.
func NewLabStatus(s LabStatus, done string) *LabStatus {
	s.Head, s.done = head("LabStatus"), done
	s.Idle = append([]string{}, s.Idle...)
	s.Instances = append([]LabInstance{}, s.Instances...)
	return &s
}

// Text writes what was done, or the whole status.
func (s *LabStatus) Text(p *render.Page) {
	if s.done != "" {
		p.Line(2, s.done)
		return
	}
	left := []render.Span{{Text: p.Name(s.Group), Style: render.Strong}, {Text: "live job"}}
	if s.Mode != nil {
		left = append(left, render.Span{Text: *s.Mode})
	}
	p.Head("lab at "+s.Bootstrap, left...)
	p.Blank()
	p.Facts(0, []render.Fact{s.records(), s.verdict(), s.idle(), s.gap(), {Label: "Restore rate", Text: s.rate()}})
	p.Blank()
	p.ScreenRows(s.Grid())
}

func (s *LabStatus) records() render.Fact {
	return render.Fact{Label: "Records", Text: fmt.Sprintf("%s written, %s counted, %s under way",
		render.Int(s.Records.Produced), render.Int(s.Records.Counted), render.Int(s.Records.Waiting))}
}

func (s *LabStatus) verdict() render.Fact {
	f := render.Fact{Label: "Counts", Text: "cannot be told: others write to the input too", Style: render.Warning}
	if r := s.Records; r.Lost != nil && r.Twice != nil {
		f.Text, f.Style = fmt.Sprintf("%s lost, %s counted twice", render.Int(*r.Lost), render.Int(*r.Twice)), render.Good
		if *r.Lost > 0 {
			f.Style = render.Problem
		}
	}
	return f
}

func (s *LabStatus) idle() render.Fact {
	if len(s.Idle) == 0 {
		return render.Fact{Label: "Owners", Text: fmt.Sprintf("all of %s run", render.Count(s.Tasks, "task")), Style: render.Good}
	}
	names, more := s.Idle, ""
	if len(names) > 6 {
		names, more = names[:6], " …"
	}
	text := fmt.Sprintf("%d of %s run nowhere: %s%s", len(s.Idle), render.Count(s.Tasks, "task"), strings.Join(names, " "), more)
	return render.Fact{Label: "Owners", Text: text, Style: render.Problem}
}

func (s *LabStatus) gap() render.Fact {
	f := render.Fact{Label: "Longest gap", Text: "no task ever ran nowhere"}
	if s.LongestIdleMs > 0 {
		f.Text = render.Millis(s.LongestIdleMs) + " in which a task ran nowhere"
	}
	return f
}

func (s *LabStatus) rate() string {
	if s.RestoreRate == nil {
		return "without limit"
	}
	return render.Int(int64(*s.RestoreRate)) + " records/s an instance"
}

// Grid is a row an instance.
func (s *LabStatus) Grid() *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "INSTANCE", Cap: nameCap}, render.Column{Head: "STATE"},
		render.Column{Head: "ACTIVE", Right: true}, render.Column{Head: "STANDBY", Right: true},
		render.Column{Head: "LEARNER", Right: true}, render.Column{Head: "TO RESTORE", Right: true},
		render.Column{Head: "LEADER", In: render.InMachine},
		render.Column{Head: "ID", In: render.InFull}, render.Column{Head: "ERROR", In: render.InFull},
	)
	for _, i := range s.Instances {
		state := i.State
		if i.Leader {
			state += ", leader"
		}
		if i.Leaving {
			state += ", leaving"
		}
		cells := []render.Cell{render.Text(i.Name), render.Text(i.State).Shown(state)}
		if slices.Contains([]string{"running", "paused"}, i.State) {
			cells = append(cells, render.Num(i.Active), render.Num(i.Standby), render.Num(i.Learner), render.Num(i.Restore))
		} else {
			cells = append(cells, render.Dash(), render.Dash(), render.Dash(), render.Dash())
		}
		g.Row(append(cells, render.Bool(&i.Leader), optText(i.ID), optText(i.Why))...)
	}
	return g
}
