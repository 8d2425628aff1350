package report

import (
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// ConfigTest is what `config test` shows: the steps of a connection, to each
// broker.
type ConfigTest struct {
	Head
	OK    bool         `json:"ok"`
	Steps []ConfigStep `json:"steps"`
	Read
}

// ConfigStep is one step. OK is null for a step that was not reached.
type ConfigStep struct {
	Step   string  `json:"step"`   // tcp, tls, api-versions, login, metadata
	Object string  `json:"object"` // "bootstrap HOST:PORT" or "broker ID HOST:PORT"
	OK     *bool   `json:"ok"`
	TookMs *int64  `json:"took_ms"`
	Detail *string `json:"detail"`
	Error  *string `json:"error"`
	Hint   *string `json:"hint"`
}

// NewConfigTest makes the report; the steps keep their order.
func NewConfigTest(steps []ConfigStep, o ItemOptions) *ConfigTest {
	t := &ConfigTest{Head: head("ConfigTest"), OK: true, Steps: steps, Read: o.read([]*model.Group{})}
	for _, s := range steps {
		t.OK = t.OK && s.OK != nil && *s.OK
	}
	return t
}

// Text writes the steps, then what went wrong.
func (t *ConfigTest) Text(p *render.Page) {
	p.Rows(t.Grid())
	for _, s := range t.Steps {
		if s.Error == nil {
			continue
		}
		p.Styled(2, render.Problem, render.Escape(s.Step+" "+s.Object+": "+*s.Error))
		if s.Hint != nil {
			p.Line(2, "hint: "+render.Escape(*s.Hint))
		}
	}
}

// Grid is a row a step.
func (t *ConfigTest) Grid() *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "STEP"}, render.Column{Head: "TO", Key: "object", Cap: 24}, render.Column{Head: "OK"},
		render.Column{Head: "TOOK", Key: "took_ms", Right: true}, render.Column{Head: "DETAIL", Cap: 30},
		render.Column{Head: "ERROR", In: render.InMachine}, render.Column{Head: "HINT", In: render.InMachine},
	)
	for _, s := range t.Steps {
		ok := render.Dash()
		if s.OK != nil {
			ok = render.Bool(s.OK).In(render.Good)
			if !*s.OK {
				ok = ok.In(render.Problem)
			}
		}
		took := render.OptNum(s.TookMs)
		if s.TookMs != nil {
			took = took.Shown(render.Millis(*s.TookMs))
		}
		g.Row(render.Text(s.Step), render.Text(s.Object), ok, took, optText(s.Detail), optText(s.Error), optText(s.Hint))
	}
	return g
}
