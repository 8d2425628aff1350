package groupmeta

import (
	"fmt"
	"maps"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// offsetFindings are about input topics and commits.
func (b *groupBuilder) offsetFindings() {
	b.topicFindings()
	var beyond []string
	for i := range b.g.Offsets {
		if r := &b.g.Offsets[i]; r.BeyondEnd > 0 {
			beyond = append(beyond, fmt.Sprintf("%s by %s", r.TopicPartition, model.Thousands(r.BeyondEnd)))
		}
	}
	if len(beyond) > 0 {
		b.find(model.FindingBeyondEnd, b.group(), "%s committed beyond the end: %s", subject(len(beyond), "partition", "is", "are"), someNames(beyond, len(beyond)))
	}
}

// topicFindings report topics that the group reads, keeps state in or has
// committed, and that are gone or hidden.
func (b *groupBuilder) topicFindings() {
	if b.o.SkipOffsets {
		return
	}
	changelogs := make(map[string]bool)
	for _, s := range b.g.Topology.Subtopologies {
		for _, c := range s.ChangelogTopics {
			changelogs[c] = true
		}
	}
	problems := make(map[string]string)
	for i := range b.g.Offsets {
		if r := &b.g.Offsets[i]; r.Problem == problemDeleted || r.Problem == problemHidden {
			problems[r.Topic] = r.Problem
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(b.topicsOfGroup())) {
		what := "topic "
		if changelogs[topic] {
			what = "changelog "
		}
		object := "topic " + topic
		state := b.x.topicState(topic)
		switch {
		case state == topicMissing || problems[topic] == problemDeleted:
			if b.o.IgnoreMissing {
				continue
			}
			gone := "is missing"
			if b.hasCommit(topic) {
				gone = "is deleted"
			}
			b.addTopicError(topic, codeUnknownTopic, "topic "+topic+" "+gone)
			if b.g.State != model.StateNotReady {
				b.find(model.FindingTopicMissing, object, "%s%s %s", what, topic, gone)
			}
		case state == topicHidden || problems[topic] == problemHidden:
			b.addTopicError(topic, codeTopicRefused, "missing or not visible: needs DESCRIBE on topic \""+topic+"\"")
			if b.g.State != model.StateNotReady {
				b.find(model.FindingNotVisible, object, "%s%s is missing or not visible", what, topic)
			}
		}
	}
}

// hasCommit reports whether the group has read the topic before, so that it was
// there once.
func (b *groupBuilder) hasCommit(topic string) bool {
	return slices.ContainsFunc(b.in.Commits, func(c snapshot.Commit) bool { return c.Topic == topic && c.Offset >= 0 })
}

// sampleFindings compare with an earlier look: partitions that have input and
// no new commit (field case 31).
func (b *groupBuilder) sampleFindings() {
	if b.o.Earlier == nil || b.o.SkipOffsets || !b.g.Kind.IsStream() {
		return
	}
	before := b.o.Earlier.Group(b.in.ID)
	if before == nil || !before.CommitsRead || !b.in.CommitsRead {
		return
	}
	s := sampledCommits{before: make(map[model.TopicPartition]snapshot.Commit, len(before.Commits)), owners: make(map[string]*sampledOwner)}
	for _, c := range before.Commits {
		s.before[model.TopicPartition{Topic: c.Topic, Partition: c.Partition}] = c
	}
	for i := range b.g.Offsets {
		s.look(&b.g.Offsets[i], b.instanceName(b.instanceOf[b.g.Offsets[i].Member]))
	}
	span := "since the earlier look"
	if b.g.TakenAt != nil && b.o.Earlier.TakenAt != nil {
		span = "in " + shortSpan(b.g.TakenAt.Sub(*b.o.Earlier.TakenAt))
	}
	if s.stalled > 0 && s.moved == 0 {
		b.find(model.FindingSilent, b.group(), "no offset moved %s, %s input waiting", span, subject(s.stalled, "partition", "has", "have"))
		return
	}
	var rest []model.TopicPartition
	for _, name := range slices.Sorted(maps.Keys(s.owners)) {
		o := s.owners[name]
		if name != "" && o.moved == 0 && len(o.stalled) > 0 {
			b.find(model.FindingSilent, "instance "+name, "no offset of %s moved %s: %s", name, span, some(o.stalled))
			continue
		}
		rest = append(rest, o.stalled...)
	}
	if len(rest) > 0 {
		slices.SortFunc(rest, model.TopicPartition.Compare)
		b.find(model.FindingNoCommit, b.group(), "%s input but no commit %s: %s", subject(len(rest), "partition", "has", "have"), span, some(rest))
	}
}

// sampledCommits is what moved between two looks.
type sampledCommits struct {
	before         map[model.TopicPartition]snapshot.Commit
	owners         map[string]*sampledOwner // by instance name; "" for nobody
	moved, stalled int
}

type sampledOwner struct {
	moved   int
	stalled []model.TopicPartition
}

func (s *sampledCommits) look(r *model.PartitionOffset, owner string) {
	o := s.owners[owner]
	if o == nil {
		o = &sampledOwner{}
		s.owners[owner] = o
	}
	earlier, ok := s.before[r.TopicPartition]
	had := ok && earlier.Offset >= 0
	switch {
	case had != (r.Committed != nil) || had && earlier.Offset != *r.Committed:
		s.moved++
		o.moved++
	case r.Lag != nil && *r.Lag > 0:
		s.stalled++
		o.stalled = append(o.stalled, r.TopicPartition)
	}
}
