package report

import (
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// PlugIn is what is known of our assignor in the instances of a classic group.
type PlugIn struct {
	Has     []string   `json:"has"`     // ids of instances that are known to have it
	Lacks   []string   `json:"lacks"`   // ids of those that are not known to
	Leader  *string    `json:"leader"`  // instance whose leader told of a round last; null: none did
	Version *string    `json:"version"` // of the plug-in there
	At      *time.Time `json:"at"`      // of that round, by that instance's clock
	Fresh   bool       `json:"fresh"`   // that round is the present one: roles, tags, lags and topology are exact
	Stale   *string    `json:"stale"`   // why it is not
}

func newPlugIn(p *model.PlugIn) *PlugIn {
	if p == nil {
		return nil
	}
	return &PlugIn{
		Has: append([]string{}, p.Has...), Lacks: append([]string{}, p.Lacks...), Leader: optional(p.Leader), Version: optional(p.Version),
		At: p.At, Fresh: p.Fresh, Stale: optional(p.Stale),
	}
}

// plugInText says in a line who has the plug-in, and who led the last round with
// it; "" where nobody is known to have it.
func plugInText(page *render.Page, g *model.Group) string {
	p := g.PlugIn
	if p == nil {
		return ""
	}
	name := func(id string) string {
		for i := range g.Instances {
			if g.Instances[i].ID == id {
				return page.Name(g.Instances[i].Name)
			}
		}
		return page.Name(id)
	}
	text := "streamctl's plug-in"
	if p.Version != "" {
		text += " " + render.Escape(p.Version)
	}
	switch {
	case p.Fresh:
		text += ", led the last round on " + name(p.Leader)
	case p.Leader == "":
		text += ", no round of its told (no control topic before the first mark, or it cannot be seen)"
	default:
		text += ", not known to have led the last round"
	}
	text += "; " + render.Int(int64(len(p.Has))) + " of " + render.Count(len(p.Has)+len(p.Lacks), "instance")
	if len(p.Has)+len(p.Lacks) == 1 {
		text += " has it"
	} else {
		text += " have it"
	}
	if len(p.Lacks) > 0 {
		var names []string
		for _, id := range p.Lacks {
			names = append(names, name(id))
		}
		slices.Sort(names)
		const shown = 6
		more := ""
		if n := len(names) - shown; n > 0 {
			names, more = names[:shown], " and "+render.Int(int64(n))+" more"
		}
		text += ", not known of " + strings.Join(names, " ") + more + " (client.tag.streamctl tells)"
	}
	return text
}

// InferredMark is what follows a number of learners: nothing where the leader
// told which they are.
func InferredMark(g *model.Group) string {
	if g.PlugIn != nil && g.PlugIn.Fresh {
		return ""
	}
	return "~"
}
