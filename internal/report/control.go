package report

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Mark is a leaving mark of the control topic.
type Mark struct {
	Instance    string     `json:"instance"`
	ID          string     `json:"id"`
	Name        *string    `json:"name"` // what the tool called the instance
	Who         *string    `json:"who"`
	Reason      *string    `json:"reason"`
	At          *time.Time `json:"at"`         // by the clock of who set it
	TimeoutMs   *int64     `json:"timeout_ms"` // null: the instance's own setting holds
	Deadline    *time.Time `json:"deadline"`   // by the clock of who set it
	Stale       bool       `json:"stale"`
	Honoured    bool       `json:"honoured"`
	Expired     bool       `json:"expired"`
	RemainingMs *int64     `json:"remaining_ms"` // by the instance's own word
}

func newMark(m *model.Mark) *Mark {
	if m == nil {
		return nil
	}
	return &Mark{
		Instance: m.Instance, ID: m.ID, Name: optional(m.Name), Who: optional(m.Who), Reason: optional(m.Why), At: m.At, TimeoutMs: m.TimeoutMs, Deadline: m.Deadline,
		Stale: m.Stale, Honoured: m.Honoured, Expired: m.Expired, RemainingMs: m.RemainingMs,
	}
}

// Control is what the control topic of a group says besides marks.
type Control struct {
	Topic  string           `json:"topic"`
	End    int64            `json:"end"`
	Mode   *ModeRecord      `json:"mode"`
	Status []InstanceStatus `json:"status"` // by instance

	Standbys *RaisedStandbys `json:"standbys"` // null: not raised for a drain
}

// RaisedStandbys is num.standby.replicas of a streams group, raised for a drain.
type RaisedStandbys struct {
	Before    *string   `json:"before"`
	BeforeOwn bool      `json:"before_own"` // the group's own setting, not the brokers' default
	Set       string    `json:"set"`
	Instances []string  `json:"instances"` // it was raised for, sorted
	Gone      bool      `json:"gone"`      // none of them is in the group
	At        time.Time `json:"at"`
	Who       *string   `json:"who"`
	Reason    *string   `json:"reason"`
}

// ModeRecord is the rebalancing mode that was last written.
type ModeRecord struct {
	Mode      string    `json:"mode"`
	Epoch     int64     `json:"epoch"`
	AllowedMs int64     `json:"allowed_ms"`
	At        time.Time `json:"at"`
	Who       *string   `json:"who"`
	Reason    *string   `json:"reason"`
}

// InstanceStatus is what an instance wrote about itself last.
type InstanceStatus struct {
	Instance      string    `json:"instance"`
	Gone          bool      `json:"gone"`
	Source        string    `json:"source"`
	Software      *string   `json:"software"`
	Version       *string   `json:"version"`
	At            time.Time `json:"at"`
	Generation    *int32    `json:"generation"`
	Mode          *string   `json:"mode"`
	Epoch         int64     `json:"epoch"`
	ControlOffset *int64    `json:"control_offset"`
	ControlError  *string   `json:"control_error"`
	Marks         []string  `json:"marks"`
	Leads         bool      `json:"leads"`
	ClientID      *string   `json:"client_id"` // that its client ids begin with
	Host          *string   `json:"host"`
	Left          *string   `json:"left"` // how it went, by its last word: drained, expired or stopped
}

func newControl(c *model.Control) *Control {
	if c == nil {
		return nil
	}
	out := &Control{Topic: c.Topic, End: c.End, Status: make([]InstanceStatus, len(c.Status))}
	if m := c.Mode; m != nil {
		out.Mode = &ModeRecord{Mode: m.Mode, Epoch: m.Epoch, AllowedMs: m.AllowedMs, At: m.At, Who: optional(m.Who), Reason: optional(m.Why)}
	}
	if s := c.Standbys; s != nil {
		out.Standbys = &RaisedStandbys{
			Before: optional(s.Before), BeforeOwn: s.BeforeOwn, Set: s.Set, Instances: s.Instances, Gone: s.Gone, At: s.At, Who: optional(s.Who), Reason: optional(s.Why),
		}
	}
	for i := range c.Status {
		s := &c.Status[i]
		out.Status[i] = InstanceStatus{
			Instance: s.Instance, Gone: s.Gone, Source: s.Source, Software: optional(s.Software), Version: optional(s.Version), At: s.At,
			Generation: s.Generation, Mode: optional(s.Mode), Epoch: s.Epoch, ControlOffset: s.ControlOffset, ControlError: optional(s.ControlError),
			Marks: append([]string{}, s.Marks...), Leads: s.Leads, ClientID: optional(s.ClientID), Host: optional(s.Host), Left: optional(s.Left),
		}
	}
	return out
}
