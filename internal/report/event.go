package report

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// Event is one line of `watch`.
type Event struct {
	Head
	At            time.Time `json:"at"`
	Group         string    `json:"group"`
	What          string    `json:"what"`
	Object        string    `json:"object"`
	Before        *string   `json:"before"`
	After         *string   `json:"after"`
	Cause         *string   `json:"cause"`
	CauseInferred bool      `json:"cause_inferred"`
	Read

	e progress.Event
}

// NewEvent makes the report of one event of g.
func NewEvent(g *model.Group, e progress.Event) *Event {
	return &Event{
		Head: head("Event"), At: e.At, Group: e.Group, What: e.What, Object: e.Object, Before: optional(e.Before), After: optional(e.After),
		Cause: optional(e.Cause), CauseInferred: e.CauseInferred, Read: readOf(g), e: e,
	}
}

// Text writes the event on one line, or several where a terminal is narrow.
func (e *Event) Text(p *render.Page) {
	parts := []string{e.At.UTC().Format(time.TimeOnly)}
	if e.What == "rebalance" {
		parts = append(parts, e.rebalance()...)
	} else {
		parts = append(parts, e.What)
		if e.Object != "group "+e.Group {
			parts = append(parts, render.Escape(e.Object))
		}
		parts = append(parts, e.change())
	}
	if e.e.Cause != "" {
		mark := ""
		if e.CauseInferred {
			mark = "~"
		}
		parts = append(parts, "cause"+mark+": "+render.Escape(e.e.Cause))
	}
	p.Log(strings.Join(parts, "  "))
}

func (e *Event) change() string {
	switch {
	case e.e.Before == "":
		return "new: " + render.Escape(e.e.After)
	case e.e.After == "":
		return "over: " + render.Escape(e.e.Before)
	}
	return render.Escape(e.e.Before) + " -> " + render.Escape(e.e.After)
}

// rebalance is one line a round: which, how long, whose tasks changed.
func (e *Event) rebalance() []string {
	parts := []string{"rebalance " + strconv.Itoa(e.e.Round)}
	if e.e.Took != nil {
		parts[0] += " in " + render.Duration(*e.e.Took)
	}
	if strings.HasPrefix(e.e.After, "epoch ") {
		parts = append(parts, e.change())
	}
	const shown = 8
	var members []string
	for i, m := range e.e.Members {
		if i == shown {
			members = append(members, render.Int(int64(len(e.e.Members)-shown))+" more members")
			break
		}
		members = append(members, render.Escape(m.String()))
	}
	return append(parts, cmp.Or(strings.Join(members, "; "), "no task moved"))
}

// Diff is what `diff` shows.
type Diff struct {
	Head
	Changes []Change `json:"changes"`
	Read
}

// Change is one thing that differs between two looks.
type Change struct {
	Object string  `json:"object"`
	What   string  `json:"what"`
	Before *string `json:"before"` // null: it appeared
	After  *string `json:"after"`  // null: it is gone
}

// DiffResult is what a comparison gave.
type DiffResult struct {
	Before, After *time.Time // when the two were taken
	ClusterID     *string    // nil: they are of two clusters, or it is not known
	Changes       []progress.Change
}

// NewDiff makes the report; taken_at is that of the second look.
func NewDiff(r DiffResult) *Diff {
	d := &Diff{Head: head("Diff"), Changes: make([]Change, len(r.Changes)), Read: Read{TakenAt: r.After, ClusterID: r.ClusterID, Errors: []Error{}}}
	for i, c := range r.Changes {
		d.Changes[i] = Change{Object: c.Object, What: c.What, Before: optional(c.Before), After: optional(c.After)}
	}
	return d
}

// Text writes the table.
func (d *Diff) Text(p *render.Page) {
	if len(d.Changes) == 0 {
		p.Line(0, "no difference")
		return
	}
	if p.Wide() {
		p.Rows(d.Grid())
		return
	}
	facts := make([]render.Fact, len(d.Changes))
	for i, c := range d.Changes {
		facts[i] = render.Fact{Label: render.Escape(c.Object), Text: render.Escape(c.sentence())}
	}
	p.Facts(0, facts)
}

// sentence says the change in words.
func (c *Change) sentence() string {
	before, after := render.None, render.None
	if c.Before != nil {
		before = *c.Before
	}
	if c.After != nil {
		after = *c.After
	}
	switch {
	case c.What == "joined", c.What == "left":
		return c.What
	case c.What == "finding" && c.Before == nil:
		return "new finding " + after
	case c.What == "finding" && c.After == nil:
		return "no longer " + before
	case c.Before == nil:
		return c.What + " " + after
	case c.After == nil && c.What == string(model.Active):
		return c.What + " " + before + " -> nobody"
	case c.After == nil:
		return "no " + c.What + " any more, was " + before
	}
	return c.What + " " + before + " -> " + after
}

// Grid is a row a change.
func (d *Diff) Grid() *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "OBJECT", Cap: 32}, render.Column{Head: "WHAT"},
		render.Column{Head: "BEFORE", Cap: 18}, render.Column{Head: "AFTER", Cap: 18},
	)
	for _, c := range d.Changes {
		g.Row(render.Text(c.Object), render.Text(c.What), optText(c.Before), optText(c.After))
	}
	return g
}
