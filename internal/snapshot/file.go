package snapshot

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// New returns an empty snapshot with kind and schema version set.
func New() *Snapshot { return &Snapshot{Kind: Kind, SchemaVersion: SchemaVersion} }

// Group returns the answers about one group, or nil.
func (s *Snapshot) Group(id string) *Group {
	for i := range s.Groups {
		if s.Groups[i].ID == id {
			return &s.Groups[i]
		}
	}
	return nil
}

// Normalize sorts every list whose order means nothing, so that the same
// answers in any order make the same snapshot, and makes absent lists empty
// where output.md promises a list. The members of a streams group keep their
// order.
func (s *Snapshot) Normalize() {
	slices.SortFunc(s.Brokers, func(a, b Broker) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.APIVersions, func(a, b APIVersions) int { return cmp.Compare(a.Broker, b.Broker) })
	for i := range s.APIVersions {
		slices.SortFunc(s.APIVersions[i].Keys, func(a, b APIRange) int { return cmp.Compare(a.Key, b.Key) })
		slices.SortFunc(s.APIVersions[i].Features, func(a, b APIFeature) int { return strings.Compare(a.Name, b.Name) })
	}
	slices.SortFunc(s.Groups, func(a, b Group) int { return strings.Compare(a.ID, b.ID) })
	for i := range s.Groups {
		s.Groups[i].normalize()
	}
	slices.SortFunc(s.Topics, func(a, b Topic) int { return strings.Compare(a.Name, b.Name) })
	for i := range s.Topics {
		slices.SortFunc(s.Topics[i].Partitions, func(a, b TopicPartition) int { return cmp.Compare(a.Partition, b.Partition) })
	}
	slices.SortFunc(s.Logs, func(a, b Log) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	slices.SortFunc(s.LogSizes, func(a, b LogSize) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Broker, b.Broker))
	})
	slices.SortFunc(s.Missing, func(a, b MissingTopic) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Errors, func(a, b Error) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Code, b.Code), strings.Compare(a.Text, b.Text))
	})
}

func (g *Group) normalize() {
	if c := g.Classic; c != nil {
		slices.SortFunc(c.Members, func(a, b ClassicMember) int { return strings.Compare(a.ID, b.ID) })
	}
	if c := g.Consumer; c != nil {
		slices.SortFunc(c.Members, func(a, b ConsumerMember) int { return strings.Compare(a.ID, b.ID) })
	}
	slices.SortFunc(g.Commits, func(a, b Commit) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	slices.SortFunc(g.Configs, func(a, b Config) int { return strings.Compare(a.Key, b.Key) })
}

// Write writes the file form, indented, ending with a line break.
func (s *Snapshot) Write(w io.Writer) error {
	s.Normalize()
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(s)
}
