package report

import "github.com/streamctl/streamctl/internal/model"

// Instance is one process of a group with its members.
type Instance struct {
	InstanceFields
	Members []Member `json:"members"`
}

// InstanceFields is an instance without its members.
type InstanceFields struct {
	ID             string            `json:"id"`
	Host           string            `json:"host"`
	Endpoint       *string           `json:"endpoint"`
	Rack           *string           `json:"rack"`
	ClientTags     map[string]string `json:"client_tags"`
	Workers        int               `json:"workers"`         // threads
	ExpectedActive *float64          `json:"expected_active"` // null, as the others, while no assignment is given; it and balanced also where the group's balance is
	Active         *int              `json:"active"`
	TargetActive   *int              `json:"target_active"`
	Standby        *int              `json:"standby"`
	Learner        *int              `json:"learner"`
	Balanced       *bool             `json:"balanced"`
	Leaving        *Mark             `json:"leaving"`
	Lag            *int64            `json:"lag"`
}

func newInstance(g *model.Group, in *model.Instance) Instance {
	out := Instance{InstanceFields: newInstanceFields(g, in), Members: make([]Member, len(in.Members))}
	for i := range in.Members {
		out.Members[i] = newMember(&in.Members[i])
	}
	return out
}

func newInstanceFields(g *model.Group, in *model.Instance) InstanceFields {
	out := InstanceFields{
		ID: in.ID, Host: in.Host, Endpoint: optional(in.Endpoint), Rack: optional(in.Rack),
		ClientTags: in.Tags, Workers: len(in.Members), TargetActive: in.TargetActive, Leaving: newMark(in.Leaving), Lag: in.Lag,
	}
	if rolesKnown(g) {
		n := *in // a copy: the document points into it
		out.ExpectedActive, out.Active, out.Standby, out.Learner, out.Balanced = &n.Expected, &n.Active, &n.Standby, &n.Learner, &n.Balanced
	}
	if g.Balance == nil && in.Expected == 0 {
		out.ExpectedActive, out.Balanced = nil, nil
	}
	return out
}
