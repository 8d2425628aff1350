package seat

// Gathered counts the commits that wait for one under way.
func (s *Seat) Gathered() (n int) {
	s.commits.mu.Lock()
	defer s.commits.mu.Unlock()
	for _, b := range s.commits.next {
		n += b.waiting
	}
	return n
}

// KnownIDs counts the topics whose ids are known.
func (s *Seat) KnownIDs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids)
}

// TopicIDAge is topicIDAge.
const TopicIDAge = topicIDAge
