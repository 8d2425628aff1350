package model

import (
	"cmp"
	"slices"
	"strings"
)

// Gone is an instance that is not in the group, of which the control topic still
// tells.
type Gone struct {
	ID     string
	Name   string // by which people knew it; its id where nothing tells
	Marked bool   // there is a mark on it
	Offset int64  // of its status; -1 when there is none
}

// GoneInstances lists the instances that are not in the group and of which the
// control topic has a status or a mark, by id.
func GoneInstances(g *Group) []Gone {
	by := map[string]*Gone{}
	get := func(id string) *Gone {
		if by[id] == nil {
			by[id] = &Gone{ID: id, Offset: -1}
		}
		return by[id]
	}
	if g.Control != nil {
		for i := range g.Control.Status {
			if s := &g.Control.Status[i]; s.Gone {
				x := get(s.Instance)
				x.Name, x.Offset = cmp.Or(s.ClientID, s.Host), s.Offset
			}
		}
	}
	for i := range g.Marks {
		if m := &g.Marks[i]; m.Stale {
			x := get(m.Instance)
			x.Name, x.Marked = cmp.Or(m.Name, x.Name), true
		}
	}
	out := make([]Gone, 0, len(by))
	for _, x := range by {
		x.Name = cmp.Or(x.Name, x.ID)
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Gone) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// GoneName is the name by which people knew an instance that is not in the
// group; "" when nothing tells.
func GoneName(g *Group, id string) string {
	for _, x := range GoneInstances(g) {
		if x.ID == id && x.Name != id {
			return x.Name
		}
	}
	return ""
}

// ResolveGone finds the instances that are gone and that name means: by UUID, by
// client id, host or the name that a mark has for it, or by a prefix of the UUID
// where nothing has the name as a whole. They are sorted by id.
func ResolveGone(g *Group, name string) []Gone {
	if found := goneByName(g, name); len(found) > 0 {
		return found
	}
	return slices.DeleteFunc(GoneInstances(g), func(x Gone) bool { return !isPrefix(x.ID, name) })
}

// goneByName finds the instances that are gone and that have the name as a whole.
func goneByName(g *Group, name string) []Gone {
	told := map[string]bool{} // ids of those whose last status has the name
	if g.Control != nil {
		for i := range g.Control.Status {
			s := &g.Control.Status[i]
			told[s.Instance] = told[s.Instance] || s.ClientID != "" && s.ClientID == ClientBase(name) || isHost(s.Host, name)
		}
	}
	return slices.DeleteFunc(GoneInstances(g), func(x Gone) bool {
		return !strings.EqualFold(x.ID, name) && x.Name != name && !told[x.ID]
	})
}
