package groupmeta

import (
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// What stands in the way of a partition's lag.
const (
	problemDeleted = "topic deleted"
	problemHidden  = "not visible"
	problemCommits = "commits not read"
)

// readOffsets makes a row for each input partition: those with a commit and
// those that some task reads. It gives each active task its lag.
func (b *groupBuilder) readOffsets() {
	if b.o.SkipOffsets {
		return
	}
	rows := make(map[model.TopicPartition]*model.PartitionOffset, len(b.in.Commits))
	row := func(tp model.TopicPartition) *model.PartitionOffset {
		r := rows[tp]
		if r == nil {
			r = &model.PartitionOffset{TopicPartition: tp}
			rows[tp] = r
		}
		return r
	}
	for _, c := range b.in.Commits {
		r := row(model.TopicPartition{Topic: c.Topic, Partition: c.Partition})
		if c.Offset >= 0 && c.ErrorCode == codeNone {
			offset := c.Offset
			r.Committed = &offset
		}
		r.Problem = commitProblem(c.ErrorCode)
	}
	for i := range b.members {
		m := &b.members[i]
		for j := range m.Tasks {
			t := &m.Tasks[j]
			if t.Role != model.Active || t.TargetOnly {
				continue
			}
			for _, p := range t.Partitions {
				row(p).Member = m.ID
			}
		}
	}
	for tp, member := range b.plainPartitions() {
		row(tp).Member = member
	}
	b.g.Offsets = make([]model.PartitionOffset, 0, len(rows))
	for _, r := range rows {
		b.fillOffset(r)
		b.g.Offsets = append(b.g.Offsets, *r)
	}
	slices.SortFunc(b.g.Offsets, func(x, y model.PartitionOffset) int { return x.Compare(y.TopicPartition) })
	b.offsets = make(map[model.TopicPartition]int, len(b.g.Offsets))
	for i := range b.g.Offsets {
		b.offsets[b.g.Offsets[i].TopicPartition] = i
	}
	b.taskLags()
}

func commitProblem(code int16) string {
	switch code {
	case codeNone:
		return ""
	case codeTopicRefused:
		return problemHidden
	case codeUnknownTopic:
		return problemDeleted
	}
	return codeName(code)
}

// fillOffset adds the log's ends and the lag. The lag stays unknown where the
// commits were not read, or refused for this topic: nothing committed is
// something else than a commit that nobody could see.
func (b *groupBuilder) fillOffset(r *model.PartitionOffset) {
	if l := b.x.logs[r.TopicPartition]; l != nil {
		r.LogStart, r.LogEnd = l.Start, l.End
		if l.ErrorCode != codeNone && r.Problem == "" {
			r.Problem = commitProblem(l.ErrorCode)
		}
	}
	switch b.x.topicState(r.Topic) {
	case topicMissing:
		r.Problem, r.LogStart, r.LogEnd = problemDeleted, nil, nil
	case topicHidden:
		r.Problem = problemHidden
	}
	if r.Problem == "" && !b.in.CommitsRead {
		r.Problem = problemCommits
	}
	if r.Problem != "" && r.Committed == nil {
		return
	}
	r.Lag, r.BeyondEnd = model.PartitionLag(r.Committed, r.LogStart, r.LogEnd)
	r.FromStart = r.Committed == nil && r.Lag != nil
}

// taskLags sums up the lag of each active task's partitions.
func (b *groupBuilder) taskLags() {
	for i := range b.members {
		for j := range b.members[i].Tasks {
			t := &b.members[i].Tasks[j]
			if t.Role == model.Active && !t.TargetOnly && len(t.Partitions) > 0 {
				t.Lag = b.lagOf(t.Partitions)
			}
		}
	}
}

// lagOf is the lag of some partitions together. Each number is nil when it is
// not known for one of them; nothing committed counts from the log start.
func (b *groupBuilder) lagOf(partitions []model.TopicPartition) *model.Lag {
	out := &model.Lag{}
	var records, committed, end int64
	lagKnown, committedKnown, endKnown := true, true, true
	for _, p := range partitions {
		i, ok := b.offsets[p]
		if !ok {
			return nil
		}
		r := &b.g.Offsets[i]
		lagKnown = addKnown(&records, r.Lag) && lagKnown
		committedKnown = addKnown(&committed, r.Committed) && committedKnown
		endKnown = addKnown(&end, r.LogEnd) && endKnown
		out.BeyondEnd = addSaturated(out.BeyondEnd, r.BeyondEnd)
	}
	if lagKnown {
		out.Records = &records
	}
	if committedKnown {
		out.Committed = &committed
	}
	if endKnown {
		out.End = &end
	}
	return out
}

// addKnown adds n to a sum and reports whether it was known.
func addKnown(sum *int64, n *int64) bool {
	if n == nil {
		return false
	}
	*sum = addSaturated(*sum, *n)
	return true
}

// addSaturated adds numbers that a broker sent, without overflow.
func addSaturated(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return 1<<63 - 1
	case a < 0 && b < 0 && s >= 0:
		return -1 << 63
	}
	return s
}
