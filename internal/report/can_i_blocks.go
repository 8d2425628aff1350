package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/render"
)

// resourceRows are the resources of one kind on which commands need the same and
// have the same.
type resourceRows struct {
	resources []string // names, whole
	rows      []Permission
}

// blocks writes the permissions by resource, whose names are shown whole: they
// are what an ACL is made of.
func (c *CanI) blocks(p *render.Page) {
	list := byResource(c.Permissions)
	operation, folded := 0, false
	for _, b := range list {
		for i := range b.rows {
			operation = max(operation, render.Width(b.rows[i].Operation))
		}
	}
	for _, b := range list {
		p.Blank()
		kind, name, named := strings.Cut(b.resources[0], " ")
		text := kind
		if named {
			names := []string{name}
			for _, r := range b.resources[1:] {
				_, n, _ := strings.Cut(r, " ")
				names = append(names, n)
			}
			if len(names) > 1 {
				text += "s"
			}
			text += " " + strings.Join(names, ", ")
		}
		p.Whole(2, render.Escape(text))
		p.Codes(2, permissionFacts(b.rows, operation))
		for i := range b.rows {
			folded = folded || strings.Contains(b.rows[i].Command, moreCommands)
		}
	}
	if folded {
		p.Blank()
		p.Styled(2, render.Dim, "+N: N more commands need the same; -o wide names them")
	}
}

// moreCommands stands before the number of commands that need the same.
const moreCommands = " +"

// byResource folds the commands that need the same into one row, and the
// resources of which all rows are the same into one block.
func byResource(list []Permission) []resourceRows {
	var order []string
	rows := map[string][]Permission{}
	more := map[string]int{}
	for _, p := range list {
		if rows[p.Resource] == nil {
			order = append(order, p.Resource)
		}
		k := p.Resource + "\x00" + p.Operation + "\x00" + p.Purpose
		if more[k]++; more[k] == 1 {
			rows[p.Resource] = append(rows[p.Resource], p)
		}
	}
	var out []resourceRows
	at := map[string]int{}
	for _, r := range order {
		kind, _, _ := strings.Cut(r, " ")
		sign := kind
		for i := range rows[r] {
			p := &rows[r][i]
			if n := more[r+"\x00"+p.Operation+"\x00"+p.Purpose]; n > 1 {
				p.Command += moreCommands + strconv.Itoa(n-1)
			}
			sign += fmt.Sprint("\x00", p.Command, "\x00", p.Operation, "\x00", p.Purpose, p.Required, p.Allowed != nil, p.Allowed != nil && *p.Allowed, p.unneeded())
		}
		if i, ok := at[sign]; ok {
			out[i].resources = append(out[i].resources, r)
			continue
		}
		at[sign] = len(out)
		out = append(out, resourceRows{[]string{r}, rows[r]})
	}
	return out
}

// permissionFacts is a line a permission, whose first words are in columns in
// all blocks, and whose others break at blanks.
func permissionFacts(list []Permission, operation int) []render.Fact {
	out := make([]render.Fact, len(list))
	for i := range list {
		p := &list[i]
		allowed, style, must := "unknown", render.Plain, "optional for "
		switch {
		case p.unneeded():
			allowed, style = "not needed", render.Dim
		case p.Allowed == nil:
		case *p.Allowed:
			allowed = "allowed"
		default:
			allowed, style = "refused", render.Problem
		}
		if p.Required {
			must = "required by "
		}
		out[i] = render.Fact{Label: fmt.Sprintf("%-*s  %s", operation, p.Operation, allowed), Style: style, Text: render.Escape(must + p.Command + ": " + p.Purpose)}
	}
	return out
}
