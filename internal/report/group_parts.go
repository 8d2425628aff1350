package report

import (
	"math"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Coordinator is the broker that answers for a group.
type Coordinator struct {
	ID   int32  `json:"id"`
	Host string `json:"host"`
	Port int32  `json:"port"`
}

// Verdict is the answer that a describe opens with. OK is false when a finding
// is warn or bad.
type Verdict struct {
	OK       bool      `json:"ok"`
	Findings []Finding `json:"findings"` // worst first
}

// Finding is one thing that stands out.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Object   string `json:"object"`
	Text     string `json:"text"`
}

// Positions says how old the restore positions are.
type Positions struct {
	Basis     string     `json:"basis"`
	AsOf      *time.Time `json:"as_of"`
	Estimated bool       `json:"estimated"`
}

// Totals are sums over a group; null is unknown, also in part.
type Totals struct {
	Tasks            *int   `json:"tasks"`
	Active           *int   `json:"active"`
	Standby          *int   `json:"standby"`
	Learner          *int   `json:"learner"`
	Moving           *int   `json:"moving"`
	Unassigned       *int   `json:"unassigned"`
	Lag              *int64 `json:"lag"`
	RemainingRecords *int64 `json:"remaining_records"`
	RemainingBytes   *int64 `json:"remaining_bytes"`
}

// Timing is what is known of timeouts and standbys. Source tells where the
// standbys come from, or the timeouts when the standbys are not known.
type Timing struct {
	SessionMs   *int64  `json:"session_ms"`
	HeartbeatMs *int64  `json:"heartbeat_ms"`
	Standbys    *int    `json:"standbys"`
	Source      *string `json:"source"`
}

// NextRebalance is the earliest planned rebalance; at once: At is null, InMs
// and RawMs are 0.
type NextRebalance struct {
	At       *time.Time `json:"at"`
	InMs     int64      `json:"in_ms"`
	RawMs    int64      `json:"raw_ms"` // the number on the wire
	ByMember *string    `json:"by_member"`
}

// Topology is what is known of the sub-topologies.
type Topology struct {
	Source        *string       `json:"source"`
	Subtopologies []Subtopology `json:"subtopologies"`
}

// Subtopology is one connected part of a topology.
type Subtopology struct {
	ID                      string   `json:"id"`
	SourceTopics            []string `json:"source_topics"`
	RepartitionSinkTopics   []string `json:"repartition_sink_topics"`
	RepartitionSourceTopics []string `json:"repartition_source_topics"`
	ChangelogTopics         []string `json:"changelog_topics"`
	Stores                  []string `json:"stores"` // names; empty where nobody told
	Partitions              *int32   `json:"partitions"`
	Stateful                *bool    `json:"stateful"`
	Inferred                bool     `json:"inferred"`
}

// Balance compares instances with what they should run.
type Balance struct {
	Factor          float64 `json:"factor"`
	Balanced        bool    `json:"balanced"`
	MaxOverExpected float64 `json:"max_over_expected"`
}

// Offset is the commit and the log of one input partition.
type Offset struct {
	Topic     string  `json:"topic"`
	Partition int32   `json:"partition"`
	Committed *int64  `json:"committed"`
	LogStart  *int64  `json:"log_start"`
	LogEnd    *int64  `json:"log_end"`
	Lag       *int64  `json:"lag"`
	BeyondEnd int64   `json:"beyond_end"`
	Member    *string `json:"member"`
}

func newCoordinator(b *model.Broker) *Coordinator {
	if b == nil {
		return nil
	}
	return &Coordinator{ID: b.ID, Host: b.Host, Port: b.Port}
}

func newVerdict(g *model.Group) Verdict {
	v := Verdict{OK: g.OK(), Findings: make([]Finding, len(g.Findings))}
	for i, f := range g.Findings {
		v.Findings[i] = Finding{Code: f.Code, Severity: string(f.Severity), Object: f.Object, Text: f.Text}
	}
	return v
}

func newPositions(p model.Positions) Positions {
	if p.Basis == "" {
		p.Basis = model.PositionsNone
	}
	return Positions{Basis: p.Basis, AsOf: p.AsOf, Estimated: p.Estimated}
}

func newTotals(g *model.Group) Totals {
	t := g.Totals // a copy: the document points into it
	out := Totals{Tasks: knownTasks(g), Lag: t.Lag, RemainingRecords: t.RemainingRecords, RemainingBytes: t.RemainingBytes}
	if rolesKnown(g) {
		out.Active, out.Standby, out.Learner, out.Moving, out.Unassigned = &t.Active, &t.Standby, &t.Learner, &t.Moving, &t.Unassigned
	}
	if t.LagPartial {
		out.Lag = nil // a sum with parts missing would read as less lag
	}
	return out
}

// rolesKnown reports whether it is known who runs what: not while no assignment
// is given (field case 38), and never of a group that runs no tasks.
func rolesKnown(g *model.Group) bool {
	return g.Kind.IsStream() && !g.Unread && (g.AssignmentBasis != model.AssignmentNone || memberCount(g) == 0)
}

func newTiming(t *model.Timing) Timing {
	out := Timing{SessionMs: t.SessionMs, HeartbeatMs: t.HeartbeatMs, Standbys: t.Standbys, Source: optional(t.Source)}
	if t.Standbys != nil && t.StandbysSource != "" {
		out.Source = optional(t.StandbysSource)
	}
	return out
}

func newNextRebalance(n *model.NextRebalance) *NextRebalance {
	if n == nil || n.RawMs == math.MaxInt64 {
		return nil
	}
	return &NextRebalance{At: n.At, InMs: n.InMs, RawMs: n.RawMs, ByMember: optional(n.ByMember)}
}

func newTopology(t *model.Topology) Topology {
	out := Topology{Source: optional(t.Source), Subtopologies: make([]Subtopology, len(t.Subtopologies))}
	for i := range t.Subtopologies {
		s := &t.Subtopologies[i]
		out.Subtopologies[i] = Subtopology{
			ID: subtopologyID(s), SourceTopics: s.SourceTopics, RepartitionSinkTopics: s.RepartitionSinkTopics,
			RepartitionSourceTopics: s.RepartitionSourceTopics, ChangelogTopics: s.ChangelogTopics,
			Partitions: optionalInt(s.Partitions), Stateful: s.Stateful, Inferred: s.Inferred,
			Stores: append([]string{}, s.Stores...),
		}
	}
	return out
}

// subtopologyID is the part of a task id before the partition.
func subtopologyID(s *model.Subtopology) string {
	if s.Topology != "" {
		return s.Topology + "__" + s.ID
	}
	return s.ID
}

func newBalance(b *model.Balance) *Balance {
	if b == nil {
		return nil
	}
	return &Balance{Factor: b.Factor, Balanced: b.Balanced, MaxOverExpected: b.MaxOverExpected}
}

func newOffsets(in []model.PartitionOffset) []Offset {
	out := make([]Offset, len(in))
	for i := range in {
		o := &in[i]
		out[i] = Offset{
			Topic: o.Topic, Partition: o.Partition, Committed: o.Committed, LogStart: o.LogStart, LogEnd: o.LogEnd,
			Lag: o.Lag, BeyondEnd: o.BeyondEnd, Member: optional(o.Member),
		}
	}
	return out
}
