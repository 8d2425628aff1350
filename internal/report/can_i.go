package report

import (
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
	Needed    *bool   `json:"needed"`   // false: groups of this kind need it not; null: the kind is not known
	Ask       *string `json:"ask"`      // the ACL to ask for, where it is refused and may be needed
}

// unneeded reports whether the group of that kind needs it not.
func (p *Permission) unneeded() bool { return p.Needed != nil && !*p.Needed }

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
	switch {
	case len(c.Permissions) == 0:
	case p.Wide():
		p.Blank()
		p.Rows(permissionGrid(c.Permissions))
	default:
		c.blocks(p)
	}
	asked := map[string]bool{}
	for _, perm := range c.Permissions {
		if perm.Ask == nil || asked[*perm.Ask] {
			continue
		}
		if len(asked) == 0 {
			p.Blank()
		}
		asked[*perm.Ask] = true
		word := "missing, optional: "
		if perm.Required {
			word = "missing, ask for: "
		}
		p.Whole(2, word+render.Escape(*perm.Ask)) // to be copied
	}
}

// Grid is a row a permission.
func (c *CanI) Grid() *render.Grid { return permissionGrid(c.Permissions) }

func permissionGrid(list []Permission) *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "COMMAND"}, render.Column{Head: "OPERATION"}, render.Column{Head: "RESOURCE"},
		render.Column{Head: "ALLOWED"}, render.Column{Head: "REQUIRED", Drop: 1}, render.Column{Head: "FOR", Key: "purpose", Drop: 2},
		render.Column{Head: "API", In: render.InFull}, render.Column{Head: "ASK", In: render.InMachine},
	)
	for _, p := range list {
		allowed, required := render.Bool(p.Allowed), render.Bool(&p.Required)
		if p.unneeded() {
			required = required.Shown("not needed")
		} else if p.Allowed != nil && !*p.Allowed {
			allowed = allowed.In(render.Problem)
		}
		g.Row(render.Text(p.Command), render.Text(p.Operation), render.Text(p.Resource), allowed, required,
			render.Text(p.Purpose), optText(p.API), optText(p.Ask))
	}
	return g
}
