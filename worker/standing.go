package worker

import (
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// standing is what a worker says in a group that it is about to leave for a mode
// switch: the claims of its last assignment, none of them revoked and no learner
// ready, since it may still be stopping what it has. So nobody else is given any
// of it.
func (s *state) standing(n int, partitions map[string]int32, lag lagOf) *groupmeta.StreamMetadata {
	m := s.members[n]
	md := s.bare(n, partitions)
	md.StreamRound = groupmeta.StreamRound{Generation: m.generation, GenerationEpoch: m.epoch, LastInstances: m.last, Request: m.request}
	for _, id := range m.ids() {
		c := claim{role: m.tasks[id].role, open: m.tasks[id].role == model.Active}
		t := groupmeta.StreamTask{ID: id, Role: c.role, Tags: c.tags(s.stateful(id), false)}
		if records, known := lag(id); known && s.stateful(id) {
			t.Lag = groupmeta.SomeInt(max(0, records))
		}
		md.Tasks = append(md.Tasks, t)
	}
	return md
}
