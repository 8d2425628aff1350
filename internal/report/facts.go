package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// facts are the lines between the verdict and the tables.
func (s *screen) facts() []render.Fact {
	var out []render.Fact
	add := func(label, text string) {
		if text != "" {
			out = append(out, render.Fact{Label: label, Text: text})
		}
	}
	if !s.g.Kind.IsStream() {
		add("Members", render.Int(int64(memberCount(s.g))))
		return out
	}
	if s.p.Wide() {
		add("Coordinator", s.coordinator())
	}
	add("Next rebalance", s.nextRebalance())
	add("Predicted", s.predicted(s.prediction))
	add("Epochs", s.epochs())
	add("Timing", s.timing())
	add("Positions", s.positions())
	add("Plug-in", plugInText(s.p, s.g))
	add("Task offsets", s.taskOffsets())
	add("Topology", s.topology())
	if n := memberCount(s.g); n > 0 {
		add("Members", s.memberLine(n))
		add("Static", s.static(n))
		add("Metadata", s.metadata())
		add("Standbys", s.standbys())
	}
	if s.p.Wide() && s.g.Balance != nil {
		add("Balance", "r "+render.Ratio(s.g.Balance.Factor)+", at most "+twoDigits(s.g.Balance.MaxOverExpected)+" of expected")
	}
	return out
}

func (s *screen) coordinator() string {
	c := s.g.Coordinator
	if c == nil {
		return ""
	}
	return fmt.Sprintf("broker %d, %s:%d", c.ID, render.Escape(c.Host), c.Port)
}

// nextRebalance answers field case 4: when, and who will ask for it.
func (s *screen) nextRebalance() string {
	n := s.g.NextRebalance
	if n == nil || n.RawMs == math.MaxInt64 {
		if s.g.Kind == model.Classic && s.g.AssignmentBasis == model.AssignmentCurrent && s.g.Totals.Active > 0 {
			return "none planned"
		}
		return ""
	}
	by := ""
	if n.ByMember != "" {
		by = ", by " + s.p.Name(s.memberName(n.ByMember))
	}
	switch {
	case n.At == nil || n.RawMs == 0:
		return "at once" + by
	case n.InMs < 0:
		return "overdue by " + render.Millis(-n.InMs) + ", was due at " + render.Clock(*n.At, s.g.TakenAt) + " by the leader's clock" + by
	}
	return "in " + render.Millis(n.InMs) + ", at " + render.Clock(*n.At, s.g.TakenAt) + " by the leader's clock" + by
}

func (s *screen) epochs() string {
	if s.g.Epoch == nil {
		return ""
	}
	text := "group " + strconv.Itoa(int(*s.g.Epoch))
	if s.g.AssignmentEpoch != nil {
		text += ", assignment " + strconv.Itoa(int(*s.g.AssignmentEpoch))
	}
	at := map[int32][]string{}
	for i := range s.g.Instances {
		for j := range s.g.Instances[i].Members {
			m := &s.g.Instances[i].Members[j]
			if m.Epoch != nil && *m.Epoch != *s.g.Epoch {
				at[*m.Epoch] = append(at[*m.Epoch], shortName(m))
			}
		}
	}
	for _, e := range slices.Sorted(maps.Keys(at)) {
		verb := " are at "
		if len(at[e]) == 1 {
			verb = " is at "
		}
		text += "; " + s.joinAnd(at[e], 4) + verb + strconv.Itoa(int(e))
	}
	return text
}

// joinAnd writes "a", "a and b" or "a, b and c", at most limit names.
func (s *screen) joinAnd(list []string, limit int) string {
	if len(list) > limit {
		return s.names(list, limit)
	}
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = s.p.Name(n)
	}
	if len(out) == 1 {
		return out[0]
	}
	return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

func (s *screen) timing() string {
	t := s.g.Timing
	var parts []string
	if t.HeartbeatMs != nil {
		parts = append(parts, "heartbeat "+render.Millis(*t.HeartbeatMs))
	}
	if t.SessionMs != nil {
		parts = append(parts, "session "+render.Millis(*t.SessionMs))
	}
	if len(parts) == 0 {
		return ""
	}
	if t.Standbys != nil && s.g.Kind == model.Streams {
		parts = append(parts, "standbys "+strconv.Itoa(*t.Standbys))
	}
	text := strings.Join(parts, ", ")
	switch t.Source {
	case model.SourceBrokerDefault:
		text += " (defaults of the broker)"
	case "":
	default:
		text += " (" + render.Escape(t.Source) + ")"
	}
	return text
}

func (s *screen) positions() string {
	p := s.g.Positions
	if memberCount(s.g) == 0 {
		return ""
	}
	age := ""
	if p.AsOf != nil && s.g.TakenAt != nil {
		d := s.g.TakenAt.Sub(*p.AsOf).Round(time.Second)
		age = render.Duration(d) + " ago"
		if d < time.Second {
			age = "less than 1s ago"
		} else if p.Estimated {
			age = "~" + age
		}
	}
	switch p.Basis {
	case model.PositionsLastRound:
		if age == "" {
			age = "when is not known"
		}
		if s.g.Kind == model.Worker {
			return "from the workers' last join, " + age
		}
		text := "from the last round, " + age + "; a classic group reports none between rounds"
		if s.o.has("rebalance") {
			text += " (rebalance asks for one)"
		}
		return text
	case model.PositionsHeartbeat:
		return strings.TrimSuffix("task offsets, sent with the members' heartbeats, "+age, ", ")
	case model.PositionsStatus:
		if s.g.Kind == model.Classic {
			text := strings.TrimSuffix("told by the leader of the last round, "+age, ", ")
			if s.o.has("rebalance") {
				text += " (rebalance asks for one)"
			}
			return text
		}
		return strings.TrimSuffix("status records of the workers, "+age, ", ") + s.oldestPositions()
	}
	if s.g.Kind == model.Streams && s.g.Facts.KafkaVersion != "4.4" {
		return "not reported (4.3 and older brokers; 4.4 reports them)"
	}
	return "not reported"
}

// oldestPositions is the age of the status that is older than the others.
func (s *screen) oldestPositions() string {
	p := s.g.Positions
	if p.Oldest == nil || s.g.TakenAt == nil {
		return ""
	}
	return "; " + s.p.Name(p.OldestName) + "'s " + render.Duration(s.g.TakenAt.Sub(*p.Oldest).Round(time.Second))
}

// taskOffsets names the members that send none while others do (field case 13).
func (s *screen) taskOffsets() string {
	var no []string
	yes := 0
	for i := range s.g.Instances {
		for j := range s.g.Instances[i].Members {
			switch m := &s.g.Instances[i].Members[j]; {
			case m.ReportsOffsets == nil:
			case *m.ReportsOffsets:
				yes++
			default:
				no = append(no, shortName(m))
			}
		}
	}
	if len(no) == 0 {
		return ""
	}
	return fmt.Sprintf("no from %s (%d of %d members; clients before 4.4 send none)", s.names(no, 6), len(no), yes+len(no))
}

func (s *screen) topology() string {
	t := &s.g.Topology
	if len(t.Subtopologies) == 0 {
		return ""
	}
	if s.g.Kind != model.Streams && !s.p.Wide() && len(t.Uncertain) == 0 {
		return ""
	}
	all, some := statefulWords(t.Subtopologies)
	text := strconv.Itoa(len(t.Subtopologies)) + plural(len(t.Subtopologies), " sub-topology", " sub-topologies") + some
	if s.g.Totals.Tasks > 0 {
		text += ", " + render.Count(s.g.Totals.Tasks, "task")
	}
	text += all
	if t.Epoch != nil {
		text += ", epoch " + strconv.Itoa(int(*t.Epoch))
	}
	if s.p.Wide() && t.Source != "" {
		text += ", from: " + render.Escape(t.Source)
	}
	for i, u := range t.Uncertain {
		if i == 1 && !s.p.Wide() {
			return text + "; " + render.Int(int64(len(t.Uncertain)-1)) + " more uncertain (-o wide)"
		}
		text += "; uncertain: " + render.Escape(u)
	}
	return text
}

// statefulWords says which tasks have state: of all of them, or in brackets of
// which sub-topologies.
func statefulWords(subs []model.Subtopology) (all, some string) {
	yes, no, unknown := 0, 0, 0
	for i := range subs {
		switch st := subs[i].Stateful; {
		case st == nil:
			unknown++
		case *st:
			yes++
		default:
			no++
		}
	}
	switch {
	case unknown == len(subs):
		return "", ""
	case yes == len(subs):
		return ", all stateful", ""
	case no == len(subs):
		return ", none stateful", ""
	}
	some = fmt.Sprintf(" (%d stateful", yes)
	if unknown > 0 {
		some += fmt.Sprintf(", %d not known", unknown)
	}
	return "", some + ")"
}
