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
	Mode    *ModeChange    `json:"mode"`
	Leaving *Leaving       `json:"leaving"`
	Replace *Replacement   `json:"replace"`

	Standbys *StandbysChange `json:"standbys"`

	text []ChangeLine
}

// ChangeLine is a sentence about a change, for people.
type ChangeLine struct {
	Text  string // safe text
	Style render.Style
	Label string // safe text before it, in a column with those of the lines beside it; "" for none
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
	Mode    *ModeChange
	Leaving *Leaving
	Replace *Replacement

	Standbys *StandbysChange

	Text []ChangeLine // for people; the answer first
}

// NewGroupChange makes the report of a change.
func NewGroupChange(r ChangeResult) *GroupChange {
	c := &GroupChange{
		Head: head("Change"), Change: r.Change, Targets: []string{}, DryRun: r.DryRun, Done: r.Done,
		Who: optional(r.Who), Reason: optional(r.Reason), Plan: r.Plan, Wait: r.Wait,
		Rounds: r.Rounds, Removed: r.Removed, Mode: r.Mode, Leaving: r.Leaving, Replace: r.Replace, Standbys: r.Standbys, Read: Read{Errors: []Error{}}, text: r.Text,
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
	for i := 0; i < len(c.text); i++ {
		if c.text[i].Label == "" {
			p.Styled(2, c.text[i].Style, c.text[i].Text)
			continue
		}
		var facts []render.Fact
		for ; i < len(c.text) && c.text[i].Label != ""; i++ {
			facts = append(facts, render.Fact{Label: c.text[i].Label, Text: c.text[i].Text, Style: c.text[i].Style})
		}
		p.Facts(2, facts)
		i--
	}
}
