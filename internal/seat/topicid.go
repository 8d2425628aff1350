package seat

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicIDAge is how old the client's cached metadata may be that an id is taken
// from.
const topicIDAge = time.Second

// topicIDs gives the ids of topics. Those of the sources are known since the
// first round, so that a commit by which a task stops waits for nothing else.
func (s *Seat) topicIDs(ctx context.Context, topics []string) (map[string][16]byte, error) {
	ids, meta := make(map[string][16]byte, len(topics)), kmsg.NewPtrMetadataRequest()
	s.mu.Lock()
	for _, name := range topics {
		if id, ok := s.ids[name]; ok {
			ids[name] = id
			continue
		}
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(name)
		meta.Topics = append(meta.Topics, rt)
	}
	s.mu.Unlock()
	if len(meta.Topics) == 0 {
		return ids, nil
	}
	resp, err := s.client.RequestCachedMetadata(ctx, meta, topicIDAge)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range resp.Topics {
		if t.Topic != nil && t.ErrorCode == 0 {
			ids[*t.Topic], s.ids[*t.Topic] = t.TopicID, t.TopicID
		}
	}
	return ids, nil
}

// learnIDs finds the ids of the sources that are not known, in the background.
func (s *Seat) learnIDs() {
	unknown := slices.DeleteFunc(slices.Clone(s.o.Sources), s.knownID)
	if len(unknown) == 0 {
		return
	}
	s.background(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.o.SessionTimeout)
		defer cancel()
		_, _ = s.topicIDs(ctx, unknown) // or when it commits first
	})
}

// knownID reports whether the id of a topic is known: by an earlier look, or by
// Options.TopicID.
func (s *Seat) knownID(topic string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.ids[topic]; ok {
		return true
	}
	if s.o.TopicID == nil || s.wrong[topic] {
		return false
	}
	id, known := s.o.TopicID(topic)
	if known {
		s.ids[topic] = id
	}
	return known
}

// forgetID has an id asked for again.
func (s *Seat) forgetID(topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ids, topic)
	s.wrong[topic] = true
}
