package groupmeta

import (
	"encoding/json"
	"fmt"

	"github.com/streamctl/streamctl/internal/model"
)

// StreamTags is a set of the draft's task tags (stream-protocol.md, Task tags),
// one bit each. The bits are those of the flags byte on the wire.
type StreamTags uint8

// The tags, in the order of the draft's table.
const (
	TagStateful StreamTags = 1 << iota
	TagLearner
	TagBeingLearned
	TagReady
	TagLeaving

	allStreamTags = TagStateful | TagLearner | TagBeingLearned | TagReady | TagLeaving
)

// word gives the draft's name of one tag.
func (t StreamTags) word() model.Tag {
	switch t {
	case TagStateful:
		return model.IsStateful
	case TagLearner:
		return model.IsLearner
	case TagBeingLearned:
		return model.BeingLearned
	case TagReady:
		return model.IsReady
	case TagLeaving:
		return model.IsLeaving
	}
	return ""
}

// Has reports whether all tags of u are in t.
func (t StreamTags) Has(u StreamTags) bool { return t&u == u }

// List gives the tags in the order of the draft's table; never nil.
func (t StreamTags) List() []model.Tag {
	out := []model.Tag{}
	for b := TagStateful; b <= TagLeaving; b <<= 1 {
		if t.Has(b) {
			out = append(out, b.word())
		}
	}
	return out
}

// StreamTagsOf is the set of the given tags; an unknown one is an error.
func StreamTagsOf(tags ...model.Tag) (StreamTags, error) {
	var t StreamTags
next:
	for _, tag := range tags {
		for b := TagStateful; b <= TagLeaving; b <<= 1 {
			if b.word() == tag {
				t |= b
				continue next
			}
		}
		return 0, fmt.Errorf("unknown tag %q", tag)
	}
	return t, nil
}

// MarshalJSON writes the list of tags.
func (t StreamTags) MarshalJSON() ([]byte, error) { return json.Marshal(t.List()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (t *StreamTags) UnmarshalJSON(b []byte) error {
	var list []model.Tag
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	u, err := StreamTagsOf(list...)
	if err != nil {
		return err
	}
	*t = u
	return nil
}

// tagProblem says what is wrong with the tags of a task in that role, "" for a
// sound set: each tag stands on the role that the draft's table names and with
// the tag that it needs, and a task has the role learner exactly when it is
// tagged isLearner.
func tagProblem(role model.Role, tags StreamTags) string {
	onActive, onCopy := TagBeingLearned|TagLeaving, TagLearner|TagReady
	switch {
	case tags&^allStreamTags != 0:
		return "unknown tag"
	case role == model.Active && tags&onCopy != 0:
		return string((tags & onCopy & -(tags & onCopy)).word()) + " on an active task"
	case role != model.Active && tags&onActive != 0:
		return string((tags & onActive & -(tags & onActive)).word()) + " on a " + string(role) + " task"
	case tags.Has(TagReady) && !tags.Has(TagLearner):
		return "isReady without isLearner"
	case tags&^TagStateful != 0 && !tags.Has(TagStateful):
		low := tags & -tags
		return string(low.word()) + " without isStateful"
	case role == model.Learner != tags.Has(TagLearner):
		return "role " + string(role) + " does not go with the tags"
	case role != model.Active && role != model.Standby && role != model.Learner:
		return "unknown role"
	}
	return ""
}
