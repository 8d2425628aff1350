package report

import (
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// Mode is what `mode get` shows.
type Mode struct {
	Head
	Group        string         `json:"group"`
	GroupKind    string         `json:"group_kind"`
	State        string         `json:"state"`
	ProtocolType string         `json:"protocol_type"`
	Protocol     string         `json:"protocol"`
	Mode         *string        `json:"mode"`      // upgrading or incremental, as the group runs; null for kinds without one
	Record       *ModeRecord    `json:"record"`    // the mode that was last asked for; null: none ever was
	Switching    bool           `json:"switching"` // the group does not run in the mode that was asked for
	Instances    []ModeFollower `json:"instances"` // of worker groups, by name
	Read

	g *model.Group
}

// ModeFollower is what one instance says of the mode.
type ModeFollower struct {
	Instance      string  `json:"instance"`
	Name          string  `json:"name"`
	Mode          *string `json:"mode"`  // null: it has said nothing
	Epoch         *int64  `json:"epoch"` // of the record that it follows, 0: none
	ControlOffset *int64  `json:"control_offset"`
	ControlError  *string `json:"control_error"`
	Follows       *bool   `json:"follows"` // the record that was last written; null: it has said nothing
}

// NewMode makes the report of a group.
func NewMode(g *model.Group) *Mode {
	m := &Mode{
		Head: head("Mode"), Group: g.ID, GroupKind: string(g.Kind), State: g.State, ProtocolType: g.ProtocolType, Protocol: g.Protocol,
		Mode: optional(g.Mode), Instances: []ModeFollower{}, Read: readOf(g), g: g,
	}
	if g.Kind != model.Worker {
		return m
	}
	if g.Control != nil && g.Control.Mode != nil {
		r := g.Control.Mode
		m.Record = &ModeRecord{Mode: r.Mode, Epoch: r.Epoch, AllowedMs: r.AllowedMs, At: r.At, Who: optional(r.Who), Reason: optional(r.Why)}
		m.Switching = g.Mode != r.Mode
	}
	for i := range g.Instances {
		m.Instances = append(m.Instances, m.follower(&g.Instances[i]))
	}
	return m
}

func (m *Mode) follower(in *model.Instance) ModeFollower {
	f := ModeFollower{Instance: in.ID, Name: instanceName(in)}
	if m.g.Control == nil {
		return f
	}
	for _, s := range m.g.Control.Status {
		if s.Instance != in.ID {
			continue
		}
		epoch := s.Epoch
		f.Mode, f.Epoch, f.ControlOffset, f.ControlError = optional(s.Mode), &epoch, s.ControlOffset, optional(s.ControlError)
		follows := m.Record == nil || s.Epoch == m.Record.Epoch && s.Mode == m.Record.Mode
		f.Follows = &follows
	}
	return f
}

// Text writes the mode, the record, and who does not follow it.
func (m *Mode) Text(p *render.Page) {
	cluster := ""
	if m.ClusterID != nil {
		cluster = "cluster " + p.Name(*m.ClusterID)
	}
	p.Head(cluster, render.Span{Text: p.Name(m.Group)}, render.Span{Text: m.GroupKind}, render.Span{Text: render.Escape(m.State)})
	p.Blank()
	if m.Mode == nil {
		p.Facts(0, []render.Fact{{Label: "Mode", Text: m.instead(p)}})
		return
	}
	facts := []render.Fact{{Label: "Mode", Text: *m.Mode + " (protocol type " + render.Escape(m.ProtocolType) + ")"}}
	switch {
	case m.Record == nil:
		facts = append(facts, render.Fact{Label: "Asked for", Text: "none yet: each instance runs in the mode it is configured with"})
	default:
		facts = append(facts, render.Fact{Label: "Asked for", Text: m.asked()})
	}
	follow := 0
	var not []string
	for _, f := range m.Instances {
		var why []string
		switch {
		case f.Follows == nil:
			why = append(why, "has said nothing")
		case *f.Follows:
			follow++
		default:
			why = append(why, "epoch "+render.Int(*f.Epoch))
		}
		if f.ControlError != nil {
			why = append(why, render.Escape(*f.ControlError))
		}
		if len(why) > 0 {
			not = append(not, p.Name(f.Name)+" ("+strings.Join(why, ": ")+")")
		}
	}
	text := render.Int(int64(follow)) + " of " + render.Count(len(m.Instances), "instance") + " follow"
	if len(not) > 0 {
		text += "; not: " + strings.Join(not, ", ")
	}
	p.Facts(0, append(facts, render.Fact{Label: "Followed", Text: text}))
	if m.Switching {
		p.Blank()
		p.Styled(0, render.Warning, "a switch is on, or was not followed")
	}
}

func (m *Mode) asked() string {
	r := m.Record
	text := r.Mode + ", epoch " + render.Int(r.Epoch) + ", at " + r.At.UTC().Format(time.RFC3339)
	if r.Who != nil {
		text += " by " + render.Escape(*r.Who)
	}
	if r.Reason != nil {
		text += ", because " + render.Escape(*r.Reason)
	}
	return text
}

// instead says what a group without a mode has.
func (m *Mode) instead(p *render.Page) string {
	switch model.Kind(m.GroupKind) {
	case model.Classic:
		if m.g.PlugIn != nil {
			return "none: a classic Kafka Streams group; " + plugInText(p, m.g)
		}
		return "none: a classic Kafka Streams group, whose leader assigns; mode set " + render.ShellWord(m.Group) + " streams says what a move to a streams group takes"
	case model.Streams:
		return "none: a streams group (KIP-1071), in which the broker assigns"
	}
	return "none: a group of kind " + m.GroupKind
}
