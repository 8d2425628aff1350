package cmd

import (
	"time"

	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// diffResult is what diff found.
type diffResult struct {
	Before, After *time.Time // when the two files were taken
	Changes       []progress.Change
}

// diffReport is the Diff document.
type diffReport struct {
	report.Head
	BeforeAt *time.Time  `json:"before_taken_at"`
	AfterAt  *time.Time  `json:"after_taken_at"`
	Changes  []changeDoc `json:"changes"`
}

type changeDoc struct {
	Object string  `json:"object"`
	What   string  `json:"what"`
	Before *string `json:"before"`
	After  *string `json:"after"`
}

func newDiffReport(r diffResult) *diffReport {
	d := &diffReport{Head: docHead("Diff"), BeforeAt: r.Before, AfterAt: r.After, Changes: []changeDoc{}}
	for _, c := range r.Changes {
		d.Changes = append(d.Changes, changeDoc{Object: c.Object, What: c.What, Before: textOrNull(c.Before), After: textOrNull(c.After)})
	}
	return d
}

// Text writes a row a change.
func (d *diffReport) Text(p *render.Page) {
	if len(d.Changes) == 0 {
		p.Line(0, "no difference")
		return
	}
	p.Rows(d.Grid())
}

// Grid is a row a change.
func (d *diffReport) Grid() *render.Grid {
	g := render.NewGrid(render.Column{Head: "OBJECT", Cap: 30}, render.Column{Head: "WHAT"}, render.Column{Head: "BEFORE"}, render.Column{Head: "AFTER"})
	for _, c := range d.Changes {
		g.Row(render.Text(c.Object), render.Text(c.What), optionalText(c.Before), optionalText(c.After))
	}
	return g
}

func optionalText(s *string) render.Cell {
	if s == nil {
		return render.Dash()
	}
	return render.Text(*s)
}
