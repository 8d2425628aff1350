package groupmeta

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// instances gathers the members by process, names them and sorts.
func (b *groupBuilder) instances() {
	at := make(map[string]int)
	list := make([]model.Instance, 0, len(b.members))
	for i := range b.members {
		m := &b.members[i]
		k, ok := at[m.instance]
		if !ok {
			k = len(list)
			at[m.instance] = k
			list = append(list, model.Instance{ID: m.instance, Host: m.Host})
		}
		in := &list[k]
		in.Name = cmp.Or(in.Name, m.base)
		in.Endpoint = cmp.Or(in.Endpoint, m.endpoint)
		in.Rack = cmp.Or(in.Rack, m.rack)
		if len(m.tags) > 0 && in.Tags == nil {
			in.Tags = maps.Clone(m.tags)
		}
		if m.leaving != nil && in.Leaving == nil {
			in.Leaving = m.leaving
		}
		in.Members = append(in.Members, m.Member)
		if m.InstanceID != "" {
			b.g.Metadata.StaticMembers++
		}
	}
	nameInstances(b.in.ID, list)
	slices.SortFunc(list, func(x, y model.Instance) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.ID, y.ID))
	})
	for i := range list {
		nameMembers(&list[i])
		countTasks(&list[i])
	}
	b.g.Instances = list
	for i := range b.g.Instances {
		for j := range b.g.Instances[i].Members {
			m := &b.g.Instances[i].Members[j]
			if k, ok := b.memberIndex(m.ClientID, m.ID); ok {
				b.members[k].Name = m.Name
			}
		}
	}
}

// memberIndex finds a member in the sorted list.
func (b *groupBuilder) memberIndex(clientID, id string) (int, bool) {
	return slices.BinarySearchFunc(b.members, id, func(m builtMember, id string) int {
		return cmp.Or(strings.Compare(m.ClientID, clientID), strings.Compare(m.ID, id))
	})
}

// countTasks sums up the roles of an instance's tasks.
func countTasks(in *model.Instance) {
	for i := range in.Members {
		for j := range in.Members[i].Tasks {
			t := &in.Members[i].Tasks[j]
			if t.TargetOnly {
				continue
			}
			switch t.Role {
			case model.Active:
				in.Active++
			case model.Standby:
				in.Standby++
			case model.Learner:
				in.Learner++
			}
		}
	}
}

// nameInstances gives each instance the shortest name that is unique and that
// people know (screens.md): the client id without its thread part, if that is
// not the one Streams makes of a UUID; else eight digits of the UUID, or as
// many as make it unique.
func nameInstances(group string, list []model.Instance) {
	taken := make(map[string]int)
	for i := range list {
		list[i].Name = clientName(group, &list[i])
		taken[list[i].Name]++
	}
	for i := range list {
		if n := list[i].Name; n == "" || taken[n] > 1 {
			list[i].Name = ""
		}
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	slices.Sort(ids)
	for i := range list {
		if list[i].Name == "" {
			list[i].Name = shortID(list[i].ID, ids, taken)
		}
	}
}

// clientName is the name that an instance gives itself, or that its client ids
// give it; "" when they give none.
func clientName(group string, in *model.Instance) string {
	if in.Name != "" {
		return in.Name
	}
	name := model.ClientBase(in.Members[0].ClientID)
	if strings.HasPrefix(in.ID, clientPrefix) {
		return name
	}
	if processOfClientID(group, in.Members[0].ClientID) != "" || strings.HasSuffix(strings.ToLower(name), strings.ToLower(in.ID)) {
		return ""
	}
	return name
}

const shortDigits = 8

// shortID is the beginning of an instance's id that no other instance's id or
// name has. ids are all ids, sorted: only neighbours can be alike.
func shortID(id string, ids []string, taken map[string]int) string {
	if name, ok := strings.CutPrefix(id, clientPrefix); ok {
		return name
	}
	at, _ := slices.BinarySearch(ids, id)
	need := min(shortDigits, len(id))
	for _, j := range []int{at - 1, at + 1} {
		if j >= 0 && j < len(ids) {
			need = max(need, min(commonPrefix(id, ids[j])+1, len(id)))
		}
	}
	for need < len(id) && taken[id[:need]] > 0 {
		need++
	}
	return id[:need]
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// nameMembers names the members INSTANCE/T1 by the number of their thread, and
// sorts them by thread, client id and id. A worker has the label that it gives
// itself, left in Name; any other member has the instance's name when it is the
// only one, else its place.
func nameMembers(in *model.Instance) {
	slices.SortFunc(in.Members, func(x, y model.Member) int {
		return cmp.Or(cmp.Compare(x.Thread, y.Thread), strings.Compare(x.ClientID, y.ClientID), strings.Compare(x.ID, y.ID))
	})
	used := make(map[string]bool, len(in.Members))
	for i := range in.Members {
		m := &in.Members[i]
		name := in.Name
		switch label := m.Name; {
		case m.Thread > 0:
			name += "/T" + strconv.Itoa(m.Thread)
		case label != "":
			name += "/" + label
		case len(in.Members) > 1:
			name += "/" + strconv.Itoa(i+1)
		}
		unique := name
		for n := 2; used[unique]; n++ {
			unique = name + "#" + strconv.Itoa(n)
		}
		used[unique] = true
		m.Name = unique
	}
}
