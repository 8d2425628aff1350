package groupmeta

import (
	"maps"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

const (
	// lastShownMs is the last millisecond of the year 9999, after which a time
	// has no RFC 3339 form. What is planned later counts as not planned.
	lastShownMs = 253402300799999
	// probingInterval is the default of probing.rebalance.interval.ms, from which
	// the time of the last round is estimated.
	probingInterval = 10 * time.Minute
	// overdueAfter is how long a planned rebalance may be late by the leader's
	// clock before that is a finding.
	overdueAfter = time.Minute
)

// nextRebalance finds the earliest planned rebalance and, from it, about when
// the last round was. While a rebalance runs, what was planned before it is
// void.
func (b *groupBuilder) nextRebalance() {
	if b.g.AssignmentBasis != model.AssignmentCurrent {
		return
	}
	by := -1
	for i := range b.members {
		next := b.members[i].next
		if next == nil || *next > lastShownMs {
			continue
		}
		if by < 0 || sooner(*next, *b.members[by].next) || *next == *b.members[by].next && b.members[i].ID < b.members[by].ID {
			by = i
		}
	}
	if by < 0 {
		return
	}
	raw := *b.members[by].next
	n := &model.NextRebalance{RawMs: raw, ByMember: b.members[by].ID}
	b.g.NextRebalance = n
	switch {
	case raw == 0:
		return
	case b.g.TakenAt != nil:
		n.InMs = addSaturated(raw, -b.g.TakenAt.UnixMilli())
	}
	if raw < 0 { // an overflow somewhere: as good as overdue
		n.InMs = min(n.InMs, -1)
		return
	}
	at := time.UnixMilli(raw).UTC()
	n.At = &at
	if asOf := at.Add(-probingInterval); b.g.Positions.Basis == model.PositionsLastRound && (b.g.TakenAt == nil || !asOf.After(*b.g.TakenAt)) {
		b.g.Positions.AsOf, b.g.Positions.Estimated = &asOf, true
	}
}

// sooner orders planned times: at once first, then overdue ones and others.
func sooner(a, b int64) bool {
	if (a == 0) != (b == 0) {
		return a == 0
	}
	return a < b
}

// summarizeMetadata counts formats and marks the members that got nothing
// because formats differ (KIP-268, field case 34).
func (b *groupBuilder) summarizeMetadata() {
	s := model.MetadataSummary{Used: make(map[int32]int), Supported: make(map[int32]int)}
	newest := int32(0)
	for i := range b.members {
		m := &b.members[i]
		used := m.Metadata.UsedVersion
		if used == 0 {
			continue
		}
		s.Used[used]++
		s.Supported[m.Metadata.SupportedVersion]++
		newest = max(newest, m.Metadata.SupportedVersion)
		if s.GroupVersion == 0 || used < s.GroupVersion {
			s.GroupVersion = used
		}
	}
	s.Mixed = len(s.Used) > 1 || len(s.Supported) > 1 && newest > s.GroupVersion
	b.g.Metadata = s
	if !s.Mixed {
		return
	}
	for i := range b.members {
		m := &b.members[i]
		empty := len(m.Tasks) == 0 && m.Assignment.ErrorCode == 0 && m.Assignment.Status != model.MetadataMalformed && m.Assignment.Status != model.MetadataNewer
		m.VersionProbing = empty && b.g.AssignmentBasis == model.AssignmentCurrent
	}
}

// markLeftovers marks members that may be what is left of a thread that was
// replaced, or of a process that was restarted, until their session ends
// (field case 7). None of it can be known, so it is only possible.
func (b *groupBuilder) markLeftovers() {
	threads := make(map[string]map[int][]int) // instance, thread number: members
	for i := range b.members {
		m := &b.members[i]
		if m.Thread == 0 {
			continue
		}
		if threads[m.instance] == nil {
			threads[m.instance] = make(map[int][]int)
		}
		threads[m.instance][m.Thread] = append(threads[m.instance][m.Thread], i)
	}
	usual := usualThreads(threads)
	for _, byNumber := range threads {
		b.markRestarted(byNumber)
		b.markReplaced(byNumber, usual)
	}
}

// markRestarted marks the older of two members with the same thread number in
// one process.
func (b *groupBuilder) markRestarted(byNumber map[int][]int) {
	for _, same := range byNumber {
		if len(same) < 2 {
			continue
		}
		for _, i := range same {
			m := &b.members[i]
			m.Leftover = m.process && len(m.Tasks) > 0 && b.anyIdle(same)
		}
	}
}

func (b *groupBuilder) anyIdle(members []int) bool {
	for _, i := range members {
		if len(b.members[i].Tasks) == 0 {
			return true
		}
	}
	return false
}

// markReplaced marks what may be left of a thread that was replaced: the new
// one took the next number, so the process has one member too many. While the
// group rebalances, that is a process whose last thread is new and all others
// are not. In a settled group it is a thread that got nothing although a later
// one of its process did, where the process has more than the others have, or
// there are no others and there is enough for all.
func (b *groupBuilder) markReplaced(byNumber map[int][]int, usual int) {
	numbers := slices.Sorted(maps.Keys(byNumber))
	highest := numbers[len(numbers)-1]
	tasks := 0
	newcomers := 0
	for _, members := range byNumber {
		for _, i := range members {
			tasks += len(b.members[i].Tasks)
			if b.members[i].newcomer {
				newcomers++
			}
		}
	}
	lowest := &b.members[byNumber[numbers[0]][0]]
	tooMany := len(numbers) > usual && len(numbers) > 1
	switch b.g.AssignmentBasis {
	case model.AssignmentPrevious:
		if tooMany && newcomers == 1 && b.members[byNumber[highest][0]].newcomer {
			lowest.Leftover = true
		}
	case model.AssignmentNone:
		if usual > 0 && len(numbers) == usual+1 && b.g.State == model.StatePreparingRebalance {
			lowest.Leftover = true
		}
	case model.AssignmentCurrent:
		if !tooMany || usual == 0 && tasks < len(numbers) {
			return
		}
		for _, n := range numbers[:len(numbers)-1] {
			for _, i := range byNumber[n] {
				m := &b.members[i]
				m.Leftover = m.Leftover || len(m.Tasks) == 0 && !m.VersionProbing && m.Assignment.Status == model.MetadataOK && m.Assignment.ErrorCode == 0 && tasks > 0
			}
		}
	}
}

// usualThreads is the number of threads that most processes have, where at
// least two agree or there are two processes; 0 when nothing can be said.
func usualThreads(threads map[string]map[int][]int) int {
	if len(threads) < 2 {
		return 0
	}
	counts := make(map[int]int)
	for _, byNumber := range threads {
		counts[len(byNumber)]++
	}
	usual, most := 0, 0
	for n, c := range counts {
		if c > most || c == most && n < usual {
			usual, most = n, c
		}
	}
	return usual
}
