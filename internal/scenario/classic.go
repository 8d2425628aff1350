package scenario

import (
	"fmt"
	"math"
	"strconv"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/javaorder"
)

// classicLine is the rest of a line about a classic group.
type classicLine struct {
	Subtopologies []classicSubtopology  `json:"subtopologies"`
	TopicRacks    map[string][][]string `json:"topic_racks"`
	Processes     []classicProcess      `json:"processes"`
	Leader        *string               `json:"leader"`
}

type classicSubtopology struct {
	ID         *int64    `json:"id"`
	Partitions *int64    `json:"partitions"`
	Stateful   *bool     `json:"stateful"`
	Sources    *[]string `json:"source_topics"`
	Changelogs *[]string `json:"changelog_topics"`
	EndOffsets []int64   `json:"end_offsets"`
}

type classicProcess struct {
	ID        string            `json:"id"`
	Rack      *string           `json:"rack"`
	Tags      map[string]string `json:"tags"`
	Consumers []classicConsumer `json:"consumers"`
}

type classicConsumer struct {
	ID         string           `json:"id"`
	Rack       *string          `json:"rack"`
	Owned      []string         `json:"owned"`
	OffsetSums map[string]int64 `json:"offset_sums"`
}

// parseClassic reads a group of Kafka Streams clients with the classic
// protocol.
func parseClassic(c *checker, settings assign.Settings, data []byte) (*assign.Group, *Error) {
	var in classicLine
	if err := decode(data, &in); err != nil {
		return nil, err
	}
	g := &assign.Group{Settings: settings, TopicRacks: in.TopicRacks}
	subs := make([]assign.Subtopology, len(in.Subtopologies))
	for i := range subs {
		subs[i] = c.classicSubtopology(fmt.Sprintf("subtopologies[%d]", i), &in.Subtopologies[i])
	}
	g.Topology = c.topology(in.Subtopologies != nil, subs)
	if len(in.Processes) == 0 {
		c.fail("processes", "there is no instance")
	}
	seen := map[javaorder.UUID]int{}
	members := map[string]bool{}
	for i := range in.Processes {
		p := &in.Processes[i]
		at := fmt.Sprintf("processes[%d]", i)
		id, err := javaorder.ParseUUID(p.ID)
		if err != nil {
			c.fail(at+".id", "%s", err)
		} else if _, twice := seen[id]; twice {
			c.fail(at+".id", "process %q is there twice", p.ID)
		}
		seen[id] = i
		if len(p.Consumers) == 0 {
			c.fail(at+".consumers", "process %q has no consumer", p.ID)
		}
		g.Processes = append(g.Processes, assign.Process{ID: id.String(), Tags: p.Tags})
		for k := range p.Consumers {
			m := c.consumer(fmt.Sprintf("%s.consumers[%d]", at, k), &p.Consumers[k], p.Rack, g.Topology, members)
			m.Process = i
			g.Members = append(g.Members, m)
		}
		if c.err != nil {
			return nil, c.err
		}
	}
	if in.Leader != nil {
		id, err := javaorder.ParseUUID(*in.Leader)
		leader, known := seen[id]
		if err != nil || !known {
			c.fail("leader", "process %q is not in the scenario", *in.Leader)
		}
		g.Leader = leader
	}
	return g, nil
}

func (c *checker) classicSubtopology(at string, in *classicSubtopology) assign.Subtopology {
	c.must(at+".id", in.ID != nil)
	c.must(at+".stateful", in.Stateful != nil)
	id := strconv.FormatInt(c.number(at+".id", in.ID, 0, math.MaxInt32), 10)
	s := assign.Subtopology{
		ID: id, Partitions: c.partitions(at+".partitions", in.Partitions), Stateful: in.Stateful != nil && *in.Stateful,
		Sources: []string{"in-" + id}, EndOffsets: in.EndOffsets,
	}
	if in.Sources != nil {
		s.Sources = *in.Sources
		if len(s.Sources) == 0 {
			c.fail(at+".source_topics", "every subtopology has one")
		}
	}
	if s.Stateful {
		s.Changelogs = []string{"log-" + id}
		if in.Changelogs != nil {
			s.Changelogs = *in.Changelogs
		}
	}
	c.ends(at+".end_offsets", in.EndOffsets, s.Partitions)
	return s
}

// ends checks the ends of the changelogs of a subtopology's tasks.
func (c *checker) ends(field string, list []int64, tasks int) []int64 {
	if len(list) > tasks {
		c.fail(field, "%d offsets of %d tasks", len(list), tasks)
	}
	for p := range list {
		c.number(fmt.Sprintf("%s[%d]", field, p), &list[p], 0, math.MaxInt64)
	}
	return list
}

func (c *checker) consumer(at string, in *classicConsumer, rack *string, t *assign.Topology, seen map[string]bool) assign.Member {
	c.must(at+".id", in.ID != "")
	if seen[in.ID] {
		c.fail(at+".id", "consumer %q is there twice", in.ID)
	}
	seen[in.ID] = true
	m := assign.Member{
		ID:      in.ID,
		Owned:   c.tasks(at+".owned", in.Owned, t, false),
		Offsets: c.offsets(at+".offset_sums", in.OffsetSums, t, true),
	}
	if in.Rack != nil {
		rack = in.Rack
	}
	if rack != nil {
		m.Rack = *rack
	}
	return m
}
