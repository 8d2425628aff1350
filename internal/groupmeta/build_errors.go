package groupmeta

import (
	"cmp"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// errorsAbout gives the snapshot's errors that concern a group: its own and
// those of no particular group. Errors about topics are sorted out once the
// group's topics are known.
func (x *snapshotIndex) errorsAbout(group string) []model.ReadError {
	var out []model.ReadError
	for _, e := range x.s.Errors {
		if of, ok := strings.CutPrefix(e.Object, "group "); ok && strings.Trim(of, `"`) != group {
			continue
		}
		out = append(out, model.ReadError{Object: e.Object, Code: e.Code, Text: e.Text, Hint: e.Hint})
	}
	return out
}

// answerErrors reports the error that the answer about the group carries,
// unless the snapshot says it already.
func (b *groupBuilder) answerErrors() {
	add := func(code int16, message *string, hint string) {
		name := codeName(code)
		object := "group " + b.in.ID
		if slices.ContainsFunc(b.errors, func(e model.ReadError) bool { return e.Code == name && strings.HasPrefix(e.Object, "group ") }) {
			return
		}
		e := model.ReadError{Object: object, Code: name, Text: name, Hint: hint}
		if message != nil && *message != "" {
			e.Text = *message
		}
		b.errors = append(b.errors, e)
	}
	in := b.in
	switch {
	case b.g.Kind == model.Streams:
		if s := in.Streams; s != nil && s.ErrorCode != codeNone {
			hint := ""
			if s.ErrorCode == codeTopicRefused {
				hint = `needs DESCRIBE on all topics of the group: its sources and the prefix "` + in.ID + `-"`
			}
			add(s.ErrorCode, s.ErrorMessage, hint)
		}
	case b.g.Kind == model.Consumer && in.Consumer != nil:
		if in.Consumer.ErrorCode != codeNone && (in.Classic == nil || in.Classic.ErrorCode != codeNone) {
			add(in.Consumer.ErrorCode, in.Consumer.ErrorMessage, "")
		}
	case in.Classic != nil && in.Classic.ErrorCode != codeNone && in.Classic.ErrorCode != codeGroupNotFound:
		hint := ""
		if in.Classic.ErrorCode == codeGroupRefused {
			hint = `needs DESCRIBE on group "` + in.ID + `"`
		}
		add(in.Classic.ErrorCode, in.Classic.ErrorMessage, hint)
	}
}

// finishErrors drops what does not concern the group's topics and sorts.
func (b *groupBuilder) finishErrors() {
	topics := b.topicsOfGroup()
	own := control.TopicName(b.in.ID)
	about := func(object string) (string, bool) {
		topic, ok := strings.CutPrefix(object, "topic ")
		return strings.Trim(topic, `"`), ok
	}
	var out []model.ReadError
	for _, e := range b.errors {
		if topic, ok := about(e.Object); ok {
			switch {
			case topic == own, topics[topic]:
			case control.IsTopicName(topic), !strings.HasPrefix(topic, b.in.ID+"-"):
				continue
			}
			if b.o.IgnoreMissing && e.Code == codeName(codeUnknownTopic) {
				continue
			}
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, c model.ReadError) int {
		return cmp.Or(strings.Compare(a.Object, c.Object), strings.Compare(a.Code, c.Code), strings.Compare(a.Text, c.Text))
	})
	b.g.Errors = slices.Compact(out)
}

// addTopicError reports a topic, once for each code.
func (b *groupBuilder) addTopicError(topic string, code int16, text string) {
	object, name := "topic "+topic, codeName(code)
	for _, e := range b.errors {
		if e.Code == name && (e.Object == object || e.Object == `topic "`+topic+`"`) {
			return
		}
	}
	b.errors = append(b.errors, model.ReadError{Object: object, Code: name, Text: text})
}

// topicsOfGroup are the topics that the group reads, writes or has committed.
func (b *groupBuilder) topicsOfGroup() map[string]bool {
	out := make(map[string]bool)
	for _, s := range b.g.Topology.Subtopologies {
		for _, list := range [][]string{s.SourceTopics, s.RepartitionSinkTopics, s.RepartitionSourceTopics, s.ChangelogTopics} {
			for _, t := range list {
				out[t] = true
			}
		}
	}
	for _, p := range b.g.Offsets {
		out[p.Topic] = true
	}
	return out
}
