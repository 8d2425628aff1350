package groupmeta

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// balanceFindings report instances outside their bounds and threads without
// work. They judge a settled assignment of the present round only.
func (b *groupBuilder) balanceFindings() {
	g := b.g
	b.markFindings()
	b.silentFindings()
	b.oldestPositions()
	b.plugInFindings()
	if b.unknown || g.AssignmentBasis != model.AssignmentCurrent || g.Balance == nil || len(g.Moving) > 0 || g.Totals.Active == 0 {
		return
	}
	for i := range g.Instances {
		in := &g.Instances[i]
		if in.Expected == 0 || in.Balanced {
			continue
		}
		if in.TargetActive != nil && (model.Range{Low: in.Low, High: in.High}).Has(*in.TargetActive) {
			continue // on its way: converging says so
		}
		b.find(model.FindingUnbalanced, "instance "+in.Name, "%s runs %d of %s, expected %s (r %s allows %d to %d)",
			in.Name, in.Active, model.Count(g.Totals.Tasks, "task"), shortFloat(in.Expected), shortFloat(g.Balance.Factor), in.Low, in.High)
	}
	b.idleThreads()
}

// shortSpan writes a time in whole seconds: "60s", "3m", "1h2m10s".
func shortSpan(d time.Duration) string {
	if d = d.Round(time.Second); d < 2*time.Minute {
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	if d%time.Minute == 0 {
		return strings.TrimSuffix(d.String(), "0s")
	}
	return d.String()
}

// shortFloat writes a number with at most two decimals.
func shortFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// idleThreads reports members that have nothing to do, in a group that has
// settled.
func (b *groupBuilder) idleThreads() {
	g := b.g
	if g.State != model.StateStable {
		return
	}
	var idle []string
	threads := 0
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			m := &g.Instances[i].Members[j]
			threads++
			if len(m.Tasks) == 0 && m.Assignment.Status == model.MetadataOK && !m.VersionProbing && !m.Leftover && m.Assignment.ErrorCode == 0 && g.Instances[i].Leaving == nil {
				idle = append(idle, m.Name)
			}
		}
	}
	if len(idle) == 0 {
		return
	}
	b.find(model.FindingIdleThreads, b.group(), "%s nothing to do (%s, %s): %s", subject(len(idle), "thread", "has", "have"), model.Count(threads, "thread"), model.Count(g.Totals.Tasks, "task"), someNames(idle, len(idle)))
}

// roundFindings are about planned rebalances and metadata versions.
func (b *groupBuilder) roundFindings() {
	g := b.g
	if n := g.NextRebalance; n != nil && (n.InMs < -overdueAfter.Milliseconds() || n.RawMs < 0) {
		by := n.ByMember
		for i := range b.members {
			if b.members[i].ID == n.ByMember {
				by = b.members[i].Name
			}
		}
		if n.At == nil {
			b.find(model.FindingOverdue, b.group(), "the rebalance planned by %s has a time before 1970: %d", by, n.RawMs)
		} else {
			late := shortSpan(time.Duration(-n.InMs) * time.Millisecond)
			b.find(model.FindingOverdue, b.group(), "the rebalance planned by %s for %s UTC by the leader's clock is %s overdue", by, n.At.Format(time.TimeOnly), late)
		}
	}
	if !g.Metadata.Mixed {
		return
	}
	b.find(model.FindingMixedVersions, b.group(), "%s", mixedText(g.Metadata))
	var probing []string
	for i := range b.members {
		if b.members[i].VersionProbing {
			probing = append(probing, b.members[i].Name)
		}
	}
	if len(probing) > 0 {
		b.find(model.FindingVersionProbing, b.group(), "%s got nothing while versions differ (version probing): %s", model.Count(len(probing), "member"), someNames(probing, len(probing)))
	}
}

// mixedText says which formats a group's members use and support.
func mixedText(s model.MetadataSummary) string {
	supported := countVersions(s.Supported, "support", "supports", "up to ")
	if len(s.Used) > 1 {
		return fmt.Sprintf("metadata of several versions: %s; %s", countVersions(s.Used, "use", "uses", "v"), supported)
	}
	return fmt.Sprintf("metadata v%d (%s)", s.GroupVersion, supported)
}

// countVersions writes "3 members support up to 10, 2 up to 11".
func countVersions(counts map[int32]int, many, one, before string) string {
	versions := slices.Sorted(maps.Keys(counts))
	parts := make([]string, len(versions))
	for i, v := range versions {
		who := strconv.Itoa(counts[v])
		if i == 0 {
			verb := many
			if counts[v] == 1 {
				verb = one
			}
			who = model.Count(counts[v], "member") + " " + verb
		}
		parts[i] = fmt.Sprintf("%s %s%d", who, before, v)
	}
	return strings.Join(parts, ", ")
}
