package scenario

import (
	"fmt"

	"github.com/streamctl/streamctl/internal/assign"
)

// streamsLine is the rest of a line about a KIP-1071 group.
type streamsLine struct {
	Subtopologies []streamsSubtopology `json:"subtopologies"`
	Members       []streamsMember      `json:"members"`
}

type streamsSubtopology struct {
	ID         *string `json:"id"`
	Partitions *int64  `json:"partitions"`
	Stateful   *bool   `json:"stateful"`
}

type streamsMember struct {
	ID          string           `json:"id"`
	ProcessID   string           `json:"process_id"`
	Active      []string         `json:"active"`
	Standby     []string         `json:"standby"`
	Warmup      []string         `json:"warmup"`
	TaskOffsets map[string]int64 `json:"task_offsets"`
}

// parseStreams reads a KIP-1071 group with its members in the order of a
// describe response.
func parseStreams(c *checker, settings assign.Settings, data []byte) (*assign.Group, *Error) {
	var in streamsLine
	if err := decode(data, &in); err != nil {
		return nil, err
	}
	subs := make([]assign.Subtopology, len(in.Subtopologies))
	for i, s := range in.Subtopologies {
		at := fmt.Sprintf("subtopologies[%d]", i)
		c.must(at+".id", s.ID != nil && *s.ID != "")
		c.must(at+".stateful", s.Stateful != nil)
		if c.err != nil {
			return nil, c.err
		}
		subs[i] = assign.Subtopology{ID: *s.ID, Partitions: c.partitions(at+".partitions", s.Partitions), Stateful: *s.Stateful}
	}
	g := &assign.Group{Settings: settings, Topology: c.topology(in.Subtopologies != nil, subs)}
	if len(in.Members) == 0 {
		c.fail("members", "there is no instance")
	}
	processes, members := map[string]int{}, map[string]bool{}
	for i := range in.Members {
		m := &in.Members[i]
		at := fmt.Sprintf("members[%d]", i)
		c.must(at+".id", m.ID != "")
		c.must(at+".process_id", m.ProcessID != "")
		if members[m.ID] {
			c.fail(at+".id", "member %q is there twice", m.ID)
		}
		members[m.ID] = true
		p, known := processes[m.ProcessID]
		if !known {
			p = len(g.Processes)
			processes[m.ProcessID] = p
			g.Processes = append(g.Processes, assign.Process{ID: m.ProcessID})
		}
		g.Members = append(g.Members, assign.Member{
			ID: m.ID, Process: p,
			Active:  c.tasks(at+".active", m.Active, g.Topology, true),
			Standby: c.tasks(at+".standby", m.Standby, g.Topology, true),
			Warmup:  c.tasks(at+".warmup", m.Warmup, g.Topology, true),
			Offsets: c.offsets(at+".task_offsets", m.TaskOffsets, g.Topology, false),
		})
		if c.err != nil {
			return nil, c.err
		}
	}
	return g, nil
}
