package cmd

import (
	"fmt"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// checkReport is the Check document.
type checkReport struct {
	report.Head
	Check    string       `json:"check"`
	Group    string       `json:"group"`
	Instance string       `json:"instance"`
	Answer   string       `json:"answer"`
	Reason   *string      `json:"reason"` // what holds for the whole group
	Blockers []blockerDoc `json:"blockers"`
	report.Read

	g  *model.Group
	in *model.Instance
	c  progress.StopCheck
}

func newCheckReport(g *model.Group, in *model.Instance, c progress.StopCheck) *checkReport {
	r := &checkReport{
		Head: docHead("Check"), Check: "stop", Group: g.ID, Instance: in.ID, Answer: string(c.Answer),
		Blockers: newBlockers(c.Blockers), Read: readOf(g), g: g, in: in, c: c,
	}
	if c.Reason != "" {
		r.Reason = &r.c.Reason
	}
	return r
}

// Text writes the answer, then a line for each task in the way.
func (r *checkReport) Text(p *render.Page) {
	style := render.Warning
	switch r.c.Answer {
	case progress.Yes:
		style = render.Good
	case progress.No:
		style = render.Problem
	case progress.Unknown:
	}
	p.Styled(2, style, r.c.Headline(p.Name(r.in.Name)))
	const shown = 50
	for i, b := range r.c.Blockers {
		if i == shown {
			p.Line(4, fmt.Sprintf("  %d more: -o json lists all", len(r.c.Blockers)-shown))
			break
		}
		p.Line(4, "  "+render.Escape(b.Object)+": "+render.Escape(b.Why))
	}
	if r.c.Answer != progress.Yes && r.g.Kind == model.Classic && len(r.c.Blockers) > 0 {
		p.Line(2, "positions of a classic group are from its last round"+r.age())
	}
	if r.c.Answer == progress.Yes && r.g.Kind == model.Classic && len(r.c.Active) > 0 {
		p.Line(2, "once the process has ended, its tasks wait for the session timeout (45s by default) before others take them")
	}
}

// age is how long ago the last round was, as far as that is known.
func (r *checkReport) age() string {
	at, now := r.g.Positions.AsOf, r.g.TakenAt
	if at == nil || now == nil {
		return ", which is not known to be recent"
	}
	text := render.Duration(now.Sub(*at)) + " ago"
	if r.g.Positions.Estimated {
		text = "~" + text
	}
	return ", " + text
}
