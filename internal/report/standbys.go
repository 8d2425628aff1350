package report

import (
	"fmt"
	"time"

	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// StandbysChange is what `mark-leaving` and `unmark` did with the standbys of a
// streams group besides the rest of their document.
type StandbysChange struct {
	Before    *string `json:"before"`     // num.standby.replicas before the drain; null: not raised for one
	BeforeOwn bool    `json:"before_own"` // that was the group's own setting, not the brokers' default
	Set       *string `json:"set"`        // what it was raised to; null: it was not
	Need      *int    `json:"need"`       // the smallest number that is enough; null: not computed, or none is
	PutBack   bool    `json:"put_back"`   // it is as before again
	Left      *string `json:"left"`       // what somebody else set meanwhile, and was left; null: nobody did

	Safe             *string     `json:"safe"`               // yes, no or unknown: every task goes to a caught-up copy; null: not looked
	PositionsEveryMs *int64      `json:"positions_every_ms"` // how old the copies' positions may be; null: the brokers tell none
	Departures       []Departure `json:"departures"`         // by task, as last foretold
}

// Departure is one task that goes elsewhere when the instances stop.
type Departure struct {
	Task             string   `json:"task"`
	From             string   `json:"from"`
	To               []string `json:"to"`     // instance ids, the most likely one first
	Answer           string   `json:"answer"` // they have caught-up copies: yes, no or unknown
	Why              *string  `json:"why"`
	RemainingRecords *int64   `json:"remaining_records"`
}

// Look fills in what one look foretold.
func (c *StandbysChange) Look(l *progress.DepartLook, every time.Duration) {
	if l.Raise == nil {
		return
	}
	if l.Raise.Need >= 0 {
		n := l.Raise.Need
		c.Need = &n
	}
	safe := string(l.Safe)
	c.Safe = &safe
	if l.Offers {
		ms := every.Milliseconds()
		c.PositionsEveryMs = &ms
	}
	c.Departures = []Departure{}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		d := Departure{Task: t.Task.String(), From: t.From, To: t.To, Answer: string(t.Answer), Why: optional(t.Why), RemainingRecords: t.Remaining}
		if d.To == nil {
			d.To = []string{}
		}
		c.Departures = append(c.Departures, d)
	}
}

const departForm = "%5s  %5s  %5s  %10s"

// DepartHead is the heading of the lines of a drain of a streams group.
func DepartHead() string { return fmt.Sprintf(departForm, "TIME", "TASKS", "READY", "TO RESTORE") }

// DepartLine is one look in a line below DepartHead.
func DepartLine(since time.Duration, l *progress.DepartLook) string {
	restore := "-"
	if l.ToRestore != nil {
		restore = render.Int(*l.ToRestore)
	}
	return fmt.Sprintf(departForm, since.Round(time.Second), render.Int(int64(len(l.Tasks))), render.Int(int64(l.Ready)), restore)
}
