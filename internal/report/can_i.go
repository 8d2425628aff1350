package report

import (
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// CanI is what `can-i` shows: what a command needs and which of it one has.
type CanI struct {
	Head
	Command     *string      `json:"command"` // null: all of them
	Group       *string      `json:"group"`
	Principal   *string      `json:"principal"`
	Allowed     *bool        `json:"allowed"` // everything required; null when it cannot be told
	Permissions []Permission `json:"permissions"`
	Read
}

// Permission is one operation on one resource.
type Permission struct {
	Command   string  `json:"command"`
	Operation string  `json:"operation"` // Kafka's name, for example DESCRIBE
	Resource  string  `json:"resource"`  // "group shop", "topic orders", "cluster"
	API       *string `json:"api"`
	Purpose   string  `json:"purpose"`
	Required  bool    `json:"required"` // without it the command can do nothing
	Allowed   *bool   `json:"allowed"`  // null when it cannot be told
	Ask       *string `json:"ask"`      // the ACL to ask for, where it is refused
}

// CanIOptions is what a can-i is about.
type CanIOptions struct {
	Command   string
	Group     string
	Principal string
	Read      ItemOptions
}

// NewCanI makes the report; the permissions keep their order.
func NewCanI(list []Permission, o CanIOptions) *CanI {
	c := &CanI{
		Head: head("CanI"), Command: optional(o.Command), Group: optional(o.Group), Principal: optional(o.Principal),
		Permissions: list, Read: o.Read.read(nil),
	}
	yes, unknown := true, false
	for _, p := range list {
		if p.Required {
			yes = yes && (p.Allowed == nil || *p.Allowed)
			unknown = unknown || p.Allowed == nil
		}
	}
	if !yes || !unknown {
		c.Allowed = &yes
	}
	return c
}

// Text writes the answer, the table, and what to ask for.
func (c *CanI) Text(p *render.Page) {
	switch {
	case c.Allowed == nil:
		p.Styled(0, render.Warning, "cannot tell")
	case *c.Allowed:
		p.Styled(0, render.Good, "yes")
	default:
		p.Styled(0, render.Problem, "no")
	}
	if len(c.Permissions) > 0 {
		p.Blank()
		rows := c.Permissions
		if !p.Wide() {
			rows = folded(rows)
		}
		p.Rows(permissionGrid(rows))
	}
	asked := map[string]bool{}
	for _, perm := range c.Permissions {
		if perm.Ask == nil || asked[*perm.Ask] {
			continue
		}
		asked[*perm.Ask] = true
		word := "optional: "
		if perm.Required {
			word = "ask for: "
		}
		p.Line(2, word+render.Escape(*perm.Ask))
	}
}

// folded are the permissions with one row for all commands that need the same.
func folded(list []Permission) []Permission {
	type key struct{ operation, resource, purpose string }
	at, more := map[key]int{}, map[int]int{}
	var out []Permission
	for _, p := range list {
		k := key{p.Operation, p.Resource, p.Purpose}
		i, ok := at[k]
		if ok {
			more[i]++
			continue
		}
		at[k] = len(out)
		out = append(out, p)
	}
	for i, n := range more {
		out[i].Command += " +" + strconv.Itoa(n)
	}
	return out
}

// Grid is a row a permission.
func (c *CanI) Grid() *render.Grid { return permissionGrid(c.Permissions) }

func permissionGrid(list []Permission) *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "COMMAND"}, render.Column{Head: "OPERATION"}, render.Column{Head: "RESOURCE", Cap: nameCap},
		render.Column{Head: "ALLOWED"}, render.Column{Head: "REQUIRED", Drop: 1}, render.Column{Head: "FOR", Key: "purpose", Drop: 2},
		render.Column{Head: "API", In: render.InFull}, render.Column{Head: "ASK", In: render.InMachine},
	)
	for _, p := range list {
		allowed := render.Bool(p.Allowed)
		if p.Allowed != nil && !*p.Allowed {
			allowed = allowed.In(render.Problem)
		}
		g.Row(render.Text(p.Command), render.Text(p.Operation), render.Text(p.Resource), allowed, render.Bool(&p.Required),
			render.Text(p.Purpose), optText(p.API), optText(p.Ask))
	}
	return g
}

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
