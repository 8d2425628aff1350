package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// lastGone is the instance that a name meant before it left its group: the one
// that spoke last where several had it, one after the other. ok is false when
// the control topic tells of none.
func lastGone(g *model.Group, name string) (last model.Gone, ok bool) {
	found := model.ResolveGone(g, name)
	if len(found) == 0 {
		return last, false
	}
	return slices.MaxFunc(found, func(a, b model.Gone) int { return cmp.Compare(a.Offset, b.Offset) }), true
}

// departed sorts out of the names those of instances that are not in the group
// any more and that have handed their tasks over, as somebody asked them to. Of
// others it says how they went. Names that mean nothing stay.
func departed(g *model.Group, names []string) (rest, gone []string, err error) {
	for _, name := range names {
		_, missing := model.ResolveInstance(g, name)
		if _, is := errors.AsType[*model.NotFoundError](missing); !is {
			rest = append(rest, name)
			continue
		}
		x, ok := lastGone(g, name)
		if !ok {
			rest = append(rest, name)
			continue
		}
		f := progress.FarewellOf(g, x.ID)
		if !f.Drained {
			return nil, nil, fmt.Errorf("instance %q (%s) %s: there is nothing to hand over", x.Name, x.ID, f.Text)
		}
		gone = append(gone, fmt.Sprintf("%s (%s) %s", x.Name, x.ID, f.Text))
	}
	return rest, gone, nil
}

// leftBefore is the result of a command about instances that have all gone as
// they were asked to.
func (m *marking) leftBefore() report.ChangeResult {
	res := m.change.result(m.s.g, !m.flags.dryRun)
	res.Leaving = &report.Leaving{Marks: []report.LeavingMark{}, HandedOver: []report.HandedOver{}}
	for _, text := range m.left {
		res.Text = append(res.Text, report.GoodLine("nothing to do: "+render.Escape(text)))
	}
	return res
}

// staleMarks lists the instances that are gone, that a name means, and that have
// a mark.
func staleMarks(g *model.Group, name string) []model.Gone {
	return slices.DeleteFunc(model.ResolveGone(g, name), func(x model.Gone) bool { return !x.Marked })
}

// goneNames lists instances that are gone, for an error; of many the first.
func goneNames(list []model.Gone) string {
	parts := make([]string, 0, min(len(list), hintsShown)+1)
	for i, x := range list {
		switch {
		case i == hintsShown:
			return strings.Join(append(parts, fmt.Sprintf("%d more", len(list)-i)), ", ")
		case x.Name != x.ID:
			parts = append(parts, fmt.Sprintf("%s (%s)", x.ID, x.Name))
		default:
			parts = append(parts, x.ID)
		}
	}
	return strings.Join(parts, ", ")
}
