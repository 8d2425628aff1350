package control

import "slices"

// PlugInRound gives the newest round that a leader with our assignor told of,
// and that leader's instance; nil where none did. Members of a Kafka Streams app
// say nothing of themselves: what is known of them is in here
// (docs/protocol/plug-in.md, Status).
func (s *State) PlugInRound() (leader string, status *Status) {
	for id, st := range s.Status {
		if st.Source == SourcePlugIn && st.Round != nil && (status == nil || st.Offset > status.Offset) {
			leader, status = id, &st
		}
	}
	return leader, status
}

// Of gives what a round tells of an instance; nil where it was not in it.
func (r *Round) Of(instance string) *RoundInstance {
	i, found := slices.BinarySearchFunc(r.Instances, instance, func(in RoundInstance, id string) int { return byInstance(in, RoundInstance{ID: id}) })
	if !found {
		return nil
	}
	return &r.Instances[i]
}

// Honoured reports whether an instance honours a mark: it says so itself, or the
// newest round of a leader with our assignor does.
func (s *State) Honoured(instance, mark string) bool {
	if mark == "" {
		return false
	}
	if st, ok := s.Status[instance]; ok && st.Honours(mark) {
		return true
	}
	_, st := s.PlugInRound()
	if st == nil {
		return false
	}
	in := st.Round.Of(instance)
	return in != nil && slices.Contains(in.Marks, mark)
}
