package groupmeta

import "encoding/json"

// MarshalJSON writes the document of docs/protocol/metadata.md, "As JSON":
// all fields are there, lists are never null.
func (m StreamMetadata) MarshalJSON() ([]byte, error) {
	type plain StreamMetadata
	m.Marks, m.Topology, m.Tasks = orEmpty(m.Marks), orEmpty(m.Topology), orEmpty(m.Tasks)
	return json.Marshal(struct {
		Version int `json:"version"`
		plain
	}{StreamMajor, plain(m)})
}

// MarshalJSON writes all fields; lists are never null.
func (s StreamSubtopology) MarshalJSON() ([]byte, error) {
	type plain StreamSubtopology
	s.SourceTopics, s.ChangelogTopics = orEmpty(s.SourceTopics), orEmpty(s.ChangelogTopics)
	s.RepartitionSourceTopics, s.RepartitionSinkTopics = orEmpty(s.RepartitionSourceTopics), orEmpty(s.RepartitionSinkTopics)
	return json.Marshal(plain(s))
}

// MarshalJSON writes the document of docs/protocol/assignment.md, "As JSON":
// all fields are there, lists are never null.
func (a StreamAssignment) MarshalJSON() ([]byte, error) {
	type plain StreamAssignment
	a.Tasks = orEmpty(a.Tasks)
	return json.Marshal(struct {
		Version int `json:"version"`
		plain
	}{StreamMajor, plain(a)})
}

// MarshalJSON writes the reason, null for none.
func (r LearnerReason) MarshalJSON() ([]byte, error) {
	if r == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(r))
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
