package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// PlanCheck is what `plan --check FILE` shows: what is different from a saved
// plan when the same is asked now.
type PlanCheck struct {
	Head
	Group       string     `json:"group"`
	Same        bool       `json:"same"`
	Differences []string   `json:"differences"` // one line each: members, instances, settings, then what the plan decides
	SavedAt     *time.Time `json:"saved_at"`    // when the group of the saved plan was read
	Read
}

// ReadPlan reads the document of a saved plan.
func ReadPlan(b []byte) (*Plan, error) {
	var opening Head
	if err := json.Unmarshal(b, &opening); err != nil {
		return nil, fmt.Errorf("no document in JSON: %w", err)
	}
	if opening.Kind != plan.Kind {
		return nil, fmt.Errorf("a %q is no %q", opening.Kind, plan.Kind)
	}
	if opening.SchemaVersion > SchemaVersion {
		return nil, fmt.Errorf("schema version %d is not understood: it is newer than this build knows (%d)", opening.SchemaVersion, SchemaVersion)
	}
	var p Plan
	var members struct {
		Members []string
		Request *plan.Request
	}
	if err := json.Unmarshal(b, &p.Plan); err != nil {
		return nil, fmt.Errorf("no plan: %w", err)
	}
	if err := json.Unmarshal(b, &members); err != nil {
		return nil, fmt.Errorf("no plan: %w", err)
	}
	if members.Request == nil {
		return nil, errors.New("no plan: what was asked for (request) is missing")
	}
	p.Members = members.Members
	return &p, nil
}

// NewPlanCheck compares a saved plan with the plan that was made now. Records
// and bytes to restore are not compared: they grow all the while.
func NewPlanCheck(saved, now *Plan) *PlanCheck {
	c := &PlanCheck{
		Head: head("PlanCheck"), Group: now.Group, Differences: []string{}, SavedAt: saved.TakenAt,
		Read: Read{TakenAt: now.TakenAt, ClusterID: now.ClusterID, Errors: now.Errors},
	}
	c.members(saved.Members, now.Members)
	c.Differences = append(c.Differences, plan.Compare(&saved.Plan, &now.Plan)...)
	c.Same = len(c.Differences) == 0
	return c
}

// members names those that came and went.
func (c *PlanCheck) members(saved, now []string) {
	if saved == nil {
		return // a document without them
	}
	say := func(list, other []string, what string) {
		there := make(map[string]bool, len(other))
		for _, m := range other {
			there[m] = true
		}
		for _, m := range list {
			if !there[m] {
				c.Differences = append(c.Differences, "member "+m+" "+what)
			}
		}
	}
	say(now, saved, "joined")
	say(saved, now, "left")
}

// Text says whether the saved plan still holds, then a line a difference.
func (c *PlanCheck) Text(p *render.Page) {
	what := "the plan of " + p.Name(c.Group) + c.age()
	if c.Same {
		p.Styled(2, render.Good, "same: "+what+" still holds")
		return
	}
	p.Styled(2, render.Warning, "differs: "+what+" no longer holds, "+render.Count(len(c.Differences), "difference"))
	facts := make([]render.Fact, len(c.Differences))
	for i, d := range c.Differences {
		facts[i] = render.Fact{Label: " ", Text: render.Escape(d)}
	}
	p.Facts(0, facts)
}

func (c *PlanCheck) age() string {
	if c.SavedAt == nil || c.TakenAt == nil || !c.TakenAt.After(*c.SavedAt) {
		return ""
	}
	return ", made " + render.Duration(c.TakenAt.Sub(*c.SavedAt)) + " ago,"
}
