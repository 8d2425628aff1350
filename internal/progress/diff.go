package progress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// Change is one thing that differs between two looks. Before is "" for what
// appeared, After for what is gone.
type Change struct {
	Object string // "group shop", "instance pod-b", "member …", "task 0_1", "topic orders"
	What   string // "state", "joined", "left", "active", "standby", "learner", "partitions", …
	Before string
	After  string
}

// Diff lists what changed from one look at a group to another, by kind of
// object (group, instances, members, tasks, topics, offsets, findings), then
// object. Positions and lags are not compared: they always move.
func Diff(before, after *model.Group) []Change {
	var out []Change
	add := func(object, what, b, a string) {
		if b != a {
			out = append(out, Change{Object: object, What: what, Before: b, After: a})
		}
	}
	group := "group " + after.ID
	add("group "+before.ID, "name", before.ID, after.ID)
	add(group, "kind", string(before.Kind), string(after.Kind))
	add(group, "state", before.State, after.State)
	add(group, "protocol", before.Protocol, after.Protocol)
	add(group, "mode", before.Mode, after.Mode)
	add(group, "assignor", before.Assignor, after.Assignor)
	add(group, "epoch", epochOrNothing(before.Epoch), epochOrNothing(after.Epoch))
	add(group, "assignment epoch", epochOrNothing(before.AssignmentEpoch), epochOrNothing(after.AssignmentEpoch))
	add(group, "coordinator", coordinator(before), coordinator(after))

	compare(names(before.Instances), names(after.Instances), func(id, b, a string) {
		if b == "" || a == "" {
			add("instance "+cmp.Or(a, b), presence(b), b, a)
		}
	})
	diffMembers(before, after, add)
	diffTasks(before, after, add)
	compare(partitionsByTopic(before), partitionsByTopic(after), func(topic, b, a string) { add("topic "+topic, "partitions", b, a) })
	compare(problems(before), problems(after), func(p, b, a string) { add("partition "+p, "problem", b, a) })
	compare(findings(before), findings(after), func(_, b, a string) {
		if b == "" || a == "" {
			object, text, _ := strings.Cut(cmp.Or(b, a), "\x00")
			if b != "" {
				add(object, "finding", text, "")
			} else {
				add(object, "finding", "", text)
			}
		}
	})
	return out
}

func diffMembers(before, after *model.Group, add func(object, what, b, a string)) {
	b, a := membersByID(before), membersByID(after)
	for _, id := range unionKeys(b, a) {
		mb, ma := b[id], a[id]
		switch {
		case mb == nil:
			add("member "+ma.Name, "joined", "", id)
		case ma == nil:
			add("member "+mb.Name, "left", id, "")
		default:
			for _, c := range metadataChanges(mb, ma) {
				add("member "+ma.Name, c.What, c.Before, c.After)
			}
		}
	}
}

// metadataChanges compares what a member says about itself; what changes from
// round to round by nature (owned partitions, positions) is left out, and so is
// everything while one of the two looks shows no metadata.
func metadataChanges(b, a *model.Member) []Change {
	var out []Change
	add := func(what, vb, va string) {
		if vb != va {
			out = append(out, Change{What: what, Before: vb, After: va})
		}
	}
	if b.Metadata.Status == model.MetadataOK && a.Metadata.Status == model.MetadataOK {
		add("metadata version", version(b.Metadata.UsedVersion), version(a.Metadata.UsedVersion))
		add("supported version", version(b.Metadata.SupportedVersion), version(a.Metadata.SupportedVersion))
		add("error code", strconv.Itoa(int(b.Metadata.ErrorCode)), strconv.Itoa(int(a.Metadata.ErrorCode)))
		add("subscribed topics", strings.Join(b.Metadata.Topics, " "), strings.Join(a.Metadata.Topics, " "))
	} else if b.Metadata.Status != model.MetadataEmpty && a.Metadata.Status != model.MetadataEmpty {
		add("metadata", string(b.Metadata.Status), string(a.Metadata.Status))
	}
	add("instance id", b.InstanceID, a.InstanceID)
	add("client id", b.ClientID, a.ClientID)
	add("host", b.Host, a.Host)
	return out
}

func version(v int32) string {
	if v == 0 {
		return ""
	}
	return "v" + strconv.Itoa(int(v))
}

func diffTasks(before, after *model.Group, add func(object, what, b, a string)) {
	b, a := holders(before), holders(after)
	keys := map[model.TaskID]bool{}
	for k := range b {
		keys[k.id] = true
	}
	for k := range a {
		keys[k.id] = true
	}
	for _, id := range sortedIDs(keys) {
		for _, role := range []string{"active", "standby", "learner", "target"} {
			k := holding{id, role}
			add("task "+id.String(), role, strings.Join(b[k], " "), strings.Join(a[k], " "))
		}
	}
}

type holding struct {
	id   model.TaskID
	role string // a model.Role, or "target"
}

// holders lists the members, by name, that hold each task in each role.
func holders(g *model.Group) map[holding][]string {
	out := map[holding][]string{}
	eachTask(g, func(_ *model.Instance, m *model.Member, t *model.Task) {
		k := holding{t.ID, string(t.Role)}
		if t.TargetOnly {
			k.role = "target"
		}
		out[k] = append(out[k], m.Name)
	})
	for _, l := range out {
		slices.Sort(l)
	}
	return out
}

func names(list []model.Instance) map[string]string {
	out := make(map[string]string, len(list))
	for _, in := range list {
		out[in.ID] = in.Name
	}
	return out
}

func membersByID(g *model.Group) map[string]*model.Member {
	out := map[string]*model.Member{}
	for i := range g.Instances {
		for k := range g.Instances[i].Members {
			m := &g.Instances[i].Members[k]
			out[m.ID] = m
		}
	}
	return out
}

// partitionsByTopic counts the partitions of each input topic as far as the
// group's offsets show them.
func partitionsByTopic(g *model.Group) map[string]string {
	n := map[string]int{}
	for _, o := range g.Offsets {
		if o.Problem == "" {
			n[o.Topic]++
		}
	}
	if len(n) == 0 {
		for _, s := range g.Topology.Subtopologies {
			if s.Partitions > 0 && len(s.SourceTopics) == 1 {
				n[s.SourceTopics[0]] = int(s.Partitions)
			}
		}
	}
	out := make(map[string]string, len(n))
	for t, c := range n {
		out[t] = strconv.Itoa(c)
	}
	return out
}

func problems(g *model.Group) map[string]string {
	out := map[string]string{}
	for _, o := range g.Offsets {
		if o.Problem != "" {
			out[o.TopicPartition.String()] = o.Problem
		}
	}
	return out
}

// findings are keyed by code and object, since their texts carry numbers that
// always move.
func findings(g *model.Group) map[string]string {
	out := map[string]string{}
	for _, f := range g.Findings {
		out[f.Code+"\x00"+f.Object] = f.Object + "\x00" + f.Code + ": " + f.Text
	}
	return out
}

func presence(before string) string {
	if before == "" {
		return "joined"
	}
	return "left"
}

func coordinator(g *model.Group) string {
	if g.Coordinator == nil {
		return ""
	}
	return fmt.Sprintf("broker %d", g.Coordinator.ID)
}

func epochOrNothing(e *int32) string {
	if e == nil {
		return ""
	}
	return strconv.Itoa(int(*e))
}

func unionKeys[K cmp.Ordered, V any](a, b map[K]V) []K {
	all := map[K]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// compare calls f for every key of either map, in order, with "" where a map
// lacks it.
func compare(b, a map[string]string, f func(key, before, after string)) {
	for _, k := range unionKeys(b, a) {
		f(k, b[k], a[k])
	}
}
