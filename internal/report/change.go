package report

import (
	"slices"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// GroupChange is what a changing command reports, also in a dry run. The fields
// below Wait belong to single commands and are null for the others.
type GroupChange struct {
	Head
	Change  string   `json:"change"`
	Group   string   `json:"group"`
	Targets []string `json:"targets"` // ids of what is changed; sorted
	DryRun  bool     `json:"dry_run"`
	Done    bool     `json:"done"`
	Who     *string  `json:"who"` // user@host
	Reason  *string  `json:"reason"`
	Plan    *Plan    `json:"plan"` // what the change leads to, where that was predicted
	Wait    *Wait    `json:"wait"` // how the waiting for it ended
	Read

	Rounds  *Rounds        `json:"rebalance"`
	Removed *RemovedReport `json:"remove_member"`

	text []ChangeLine
}

// ChangeLine is a sentence about a change, for people.
type ChangeLine struct {
	Text  string // safe text
	Style render.Style
}

// ChangeResult is what came of a change.
type ChangeResult struct {
	Change  string       // the command, for example "mode set"
	Group   *model.Group // as it was when the change was decided
	Targets []string     // ids, in any order
	DryRun  bool
	Done    bool
	Who     string
	Reason  string // "" is null
	Plan    *Plan
	Wait    *Wait

	Rounds  *Rounds
	Removed *RemovedReport

	Text []ChangeLine // for people; the answer first
}

// NewGroupChange makes the report of a change.
func NewGroupChange(r ChangeResult) *GroupChange {
	c := &GroupChange{
		Head: head("Change"), Change: r.Change, Targets: []string{}, DryRun: r.DryRun, Done: r.Done,
		Who: optional(r.Who), Reason: optional(r.Reason), Plan: r.Plan, Wait: r.Wait,
		Rounds: r.Rounds, Removed: r.Removed, Read: Read{Errors: []Error{}}, text: r.Text,
	}
	if r.Targets != nil {
		c.Targets = slices.Sorted(slices.Values(r.Targets))
	}
	if r.Group != nil {
		c.Group, c.Read = r.Group.ID, readOf(r.Group)
	}
	return c
}

// Text writes the sentences.
func (c *GroupChange) Text(p *render.Page) {
	for _, l := range c.text {
		p.Styled(2, l.Style, l.Text)
	}
}
