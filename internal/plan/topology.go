package plan

import (
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// topologyBuild makes the topology of a plan out of a group's: numbered tasks
// with their changelogs, and where these are not known, what is taken instead.
type topologyBuild struct {
	in      *Input
	g       *model.Group
	logs    map[model.TaskID]model.TaskLog
	largest map[model.TaskID]int64 // reported sum
	assumed map[int]bool           // by sub-topology: its changelogs are an assumption
	subs    []model.Subtopology
}

func (in *Input) topology(g *model.Group) error {
	b := &topologyBuild{in: in, g: g, subs: slices.Clone(g.Topology.Subtopologies), logs: map[model.TaskID]model.TaskLog{}, largest: map[model.TaskID]int64{}, assumed: map[int]bool{}}
	for _, l := range g.Facts.Logs {
		b.logs[l.Task] = l
	}
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			for _, r := range g.Instances[i].Members[j].Reported {
				b.largest[r.Task] = max(b.largest[r.Task], r.Sum)
			}
		}
	}
	if g.Kind == model.Classic {
		b.assumeChangelogs()
	}
	return b.number()
}

// assumeChangelogs gives changelogs that no evidence maps to a sub-topology of
// as many tasks: one without changelogs first, then the first.
func (b *topologyBuild) assumeChangelogs() {
	mapped := make(map[string]bool)
	for _, s := range b.subs {
		for _, c := range s.ChangelogTopics {
			mapped[c] = true
		}
	}
	for _, c := range b.g.Facts.Changelogs {
		if mapped[c.Topic] {
			continue
		}
		best := -1
		for i, s := range b.subs {
			if int(s.Partitions) != len(c.Ends) || !b.open(i) {
				continue
			}
			if best < 0 || len(s.ChangelogTopics) < len(b.subs[best].ChangelogTopics) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		s := &b.subs[best]
		s.ChangelogTopics = append(slices.Clone(s.ChangelogTopics), c.Topic)
		yes := true
		s.Stateful, b.assumed[best] = &yes, true
		b.in.note(NoteAssumed, "changelog %s is taken as one of sub-topology %s: nothing visible says whose it is (--topology FILE tells)", c.Topic, s.ID)
	}
	for i, s := range b.subs { // what is mapped is all there is
		if len(s.ChangelogTopics) > 0 && b.open(i) {
			b.assumed[i] = true
		}
	}
}

// open reports whether it is not settled which changelogs a sub-topology has.
func (b *topologyBuild) open(i int) bool {
	s := &b.subs[i]
	if s.Stateful == nil || b.assumed[i] {
		return true
	}
	if !*s.Stateful || s.Partitions == 0 {
		return false
	}
	return b.logs[model.TaskID{Topology: s.Topology, Subtopology: s.ID}].End == nil
}

// maxTasks is how many tasks a plan takes. The largest group of which anybody
// told has some ten thousand; a group that shows more shows a number that is
// none of Kafka's.
const maxTasks = 200_000

// number makes the topology. Where an end is not known the largest reported sum
// stands in for it.
func (b *topologyBuild) number() error {
	total := 0
	for _, s := range b.subs {
		if total += int(s.Partitions); total > maxTasks {
			return &RefusedError{Group: b.g.ID, Why: fmt.Sprintf("has a task %s, which makes more tasks than the %s that a plan takes", model.TaskID{Topology: s.Topology, Subtopology: s.ID, Partition: s.Partitions - 1}, model.Thousands(maxTasks)), Hint: "describe group shows who runs it; a partition number that no topic has is one that a member or the broker got wrong"}
		}
	}
	if total == 0 {
		return b.empty()
	}
	subs, logs := make([]assign.Subtopology, len(b.subs)), make([][]Log, len(b.subs))
	unknown, unsure := 0, 0
	for i, s := range b.subs {
		out := &subs[i]
		*out = assign.Subtopology{
			Topology: s.Topology, ID: s.ID, Partitions: int(s.Partitions), Stateful: s.Stateful != nil && *s.Stateful,
			Sources: slices.Concat(s.SourceTopics, s.RepartitionSourceTopics), Changelogs: s.ChangelogTopics,
		}
		if s.Stateful == nil {
			unsure++
		}
		if !out.Stateful {
			continue
		}
		out.EndOffsets, logs[i] = make([]int64, s.Partitions), make([]Log, s.Partitions)
		for p := range s.Partitions {
			id := model.TaskID{Topology: s.Topology, Subtopology: s.ID, Partition: p}
			l := b.log(i, id)
			if !l.Known {
				l.End = b.largest[id]
				unknown++
			}
			out.EndOffsets[p], logs[i][p] = l.End, l
		}
	}
	top, err := assign.NewTopology(subs)
	if err != nil {
		return fmt.Errorf("group %q: %w", b.g.ID, err)
	}
	b.in.Topology, b.in.Logs = top, make([]Log, top.Len())
	for i, s := range subs {
		k, _ := top.FindSubtopology(s.Topology, s.ID)
		first, end := top.Tasks(k)
		copy(b.in.Logs[first:end], logs[i])
	}
	b.say(unknown, unsure)
	for _, u := range b.g.Topology.Uncertain {
		if len(b.assumed) == 0 {
			b.in.note(NoteUnknown, "%s", u)
		}
	}
	return nil
}

// empty says why no task of the group can be seen.
func (b *topologyBuild) empty() error {
	hint := "a group without members keeps its tasks to itself; start it first"
	for _, i := range b.g.Instances {
		if len(i.Members) > 0 {
			hint = "its members have no tasks yet, nor is it known which there are: wait until it is Stable; describe group shows what it waits for"
		}
	}
	return &RefusedError{Group: b.g.ID, Why: "has no task that can be seen", Hint: hint}
}

func (b *topologyBuild) say(unknown, unsure int) {
	if unknown > 0 {
		b.in.note(NoteUnknown, "the ends of the changelogs of %s are not known: the largest offset sum that a member reported stands in for them", count(unknown, "task"))
	}
	if unsure > 0 {
		b.in.note(NoteUnknown, "of %s it cannot be told whether the tasks have state: taken as stateless", count(unsure, "sub-topology"))
	}
}

// log is the changelogs of a task together.
func (b *topologyBuild) log(sub int, id model.TaskID) Log {
	if !b.assumed[sub] {
		out := Log{}
		l := b.logs[id]
		if l.End != nil {
			out.End, out.Known = *l.End, true
		}
		if l.Bytes != nil {
			out.Bytes, out.BytesKnown = *l.Bytes, true
		}
		return out
	}
	out := Log{Known: true, BytesKnown: true}
	for _, name := range b.subs[sub].ChangelogTopics {
		k := slices.IndexFunc(b.g.Facts.Changelogs, func(c model.ChangelogTopic) bool { return c.Topic == name })
		if k < 0 || int(id.Partition) >= len(b.g.Facts.Changelogs[k].Ends) {
			return Log{}
		}
		c := &b.g.Facts.Changelogs[k]
		end, bytes := c.Ends[id.Partition], c.Bytes[id.Partition]
		out.Known = out.Known && end != nil
		out.BytesKnown = out.BytesKnown && bytes != nil
		if end != nil {
			out.End += *end
		}
		if bytes != nil {
			out.Bytes += *bytes
		}
	}
	if !out.Known {
		return Log{}
	}
	return out
}
