package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MinPrefix is the least number of characters that a prefix of an id needs.
const MinPrefix = 4

// NotFoundError says that a name matches nothing in a group.
type NotFoundError struct {
	What  string // "instance", "member", "task"
	Name  string
	Group string
	Near  []string // names there are, sorted; at most a few
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s %q not found in group %q", e.What, e.Name, e.Group)
}

// Candidate is one of several things that a name could mean.
type Candidate struct {
	Name string // short name
	ID   string // full identity: process UUID, member id
	Host string
	By   string // what matched, for example "client id"
}

// AmbiguousError says that a name matches several things in a group.
type AmbiguousError struct {
	What       string
	Name       string
	Group      string
	Candidates []Candidate // sorted by id
}

func (e *AmbiguousError) Error() string {
	names := make([]string, len(e.Candidates))
	for i, c := range e.Candidates {
		names[i] = fmt.Sprintf("%q (%s, %s)", c.Name, c.ID, c.By)
	}
	return fmt.Sprintf("%s %q in group %q is not unique, it could be %s", e.What, e.Name, e.Group, strings.Join(names, ", "))
}

// Ways a name can match.
const (
	byID       = "id"
	byName     = "name"
	byMemberID = "member id"
	byStatic   = "static instance id"
	byClient   = "client id"
	byHost     = "host"
	byPrefix   = "prefix of id"
	byMemberP  = "prefix of member id"
)

// instanceWays are the ways in ranks: a whole identity means what it names,
// whatever else has such a name, and a prefix counts only where nothing has the
// name as a whole, also nothing that is gone: the second run of a command about
// "pod-1" must not mean "pod-10". Within a rank everything that matches is meant.
func instanceWays() [][]string {
	return [][]string{{byID, byMemberID}, {byName, byStatic, byClient, byHost}, {byPrefix, byMemberP}}
}

// memberWays are the same for members: an instance's name means its member only
// where nothing closer does.
func memberWays() [][]string {
	return [][]string{{byMemberID}, {byName, byStatic, byClient}, {byID, byHost}, {byMemberP, byPrefix}}
}

// firstWay gives the first of the ways that holds; "" when none does.
func firstWay(ways []string, holds func(way string) bool) string {
	for _, w := range ways {
		if holds(w) {
			return w
		}
	}
	return ""
}

// ClientBase is a client id without its thread part: "shop-a" of
// "shop-a-StreamThread-2-consumer".
func ClientBase(clientID string) string {
	base, _ := SplitThread(clientID)
	return base
}

// SplitThread takes the thread part off a client id and gives its number, 0
// where there is none.
func SplitThread(clientID string) (base string, thread int) {
	const mark = "-StreamThread-"
	i := strings.LastIndex(clientID, mark)
	if i < 0 {
		return clientID, 0
	}
	n, digits := 0, 0
	for _, c := range []byte(clientID[i+len(mark):]) {
		if c < '0' || c > '9' || digits == 9 {
			break
		}
		n, digits = n*10+int(c-'0'), digits+1
	}
	if digits == 0 {
		return clientID, 0
	}
	return clientID[:i], n
}

// ResolveInstance finds the one instance that name means in any way that is
// unique in the group (commands.md): its short name, its UUID or a prefix of it,
// a member's short name, id or a prefix of that, a client id with or without its thread part, a
// static instance id, or a host with or without "/". A prefix has at least
// MinPrefix characters. The error is a *NotFoundError or an *AmbiguousError.
func ResolveInstance(g *Group, name string) (*Instance, error) {
	for _, ways := range instanceWays() {
		if slices.Contains(ways, byMemberP) && len(goneByName(g, name)) > 0 {
			break
		}
		amb := &AmbiguousError{What: "instance", Name: name, Group: g.ID}
		var found *Instance
		for i := range g.Instances {
			in := &g.Instances[i]
			if way := firstWay(ways, func(w string) bool { return instanceMatches(in, name, w) }); way != "" {
				found = in
				amb.Candidates = append(amb.Candidates, Candidate{Name: in.Name, ID: in.ID, Host: in.Host, By: way})
			}
		}
		switch len(amb.Candidates) {
		case 0:
			continue
		case 1:
			return found, nil
		}
		return nil, amb.sorted()
	}
	e := &NotFoundError{What: "instance", Name: name, Group: g.ID}
	for i := range g.Instances {
		e.Near = append(e.Near, g.Instances[i].Name)
	}
	e.Near = shortList(e.Near)
	return nil, e
}

// ResolveMember finds the one member that name means: its id or a prefix, its
// short name, its client id, its static instance id, or whatever means an
// instance with only one member. It returns the member's instance too.
func ResolveMember(g *Group, name string) (*Instance, *Member, error) {
	for _, ways := range memberWays() {
		if slices.Contains(ways, byMemberP) && len(goneByName(g, name)) > 0 {
			break
		}
		amb := &AmbiguousError{What: "member", Name: name, Group: g.ID}
		var in *Instance
		var m *Member
		for i := range g.Instances {
			for j := range g.Instances[i].Members {
				of, c := &g.Instances[i], &g.Instances[i].Members[j]
				way := firstWay(ways, func(w string) bool {
					return memberMatches(c, name, w) || (w == byID || w == byPrefix || w == byHost) && instanceMatches(of, name, w)
				})
				if way != "" {
					in, m = of, c
					amb.Candidates = append(amb.Candidates, Candidate{Name: c.Name, ID: c.ID, Host: c.Host, By: way})
				}
			}
		}
		switch len(amb.Candidates) {
		case 0:
			continue
		case 1:
			return in, m, nil
		}
		return nil, nil, amb.sorted()
	}
	e := &NotFoundError{What: "member", Name: name, Group: g.ID}
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			e.Near = append(e.Near, g.Instances[i].Members[j].Name)
		}
	}
	e.Near = shortList(e.Near)
	return nil, nil, e
}

// ResolveTask reads a task id and makes sure that the group has that task: on a
// member, in its topology, or among those that nobody has.
func ResolveTask(g *Group, name string) (TaskID, error) {
	id, err := ParseTaskID(name)
	if err != nil {
		return TaskID{}, err
	}
	if g.HasTask(id) {
		return id, nil
	}
	return TaskID{}, &NotFoundError{What: "task", Name: name, Group: g.ID}
}

// HasTask reports whether the group has the task: on a member, in its
// topology, or among those that nobody has.
func (g *Group) HasTask(id TaskID) bool {
	for _, s := range g.Topology.Subtopologies {
		if s.ID == id.Subtopology && s.Topology == id.Topology && id.Partition < s.Partitions {
			return true
		}
	}
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			if slices.ContainsFunc(g.Instances[i].Members[j].Tasks, func(t Task) bool { return t.ID == id }) {
				return true
			}
		}
	}
	return slices.Contains(g.Unassigned, id) || slices.Contains(g.Moving, id)
}

func instanceMatches(in *Instance, name, way string) bool {
	switch way {
	case byID:
		return strings.EqualFold(in.ID, name)
	case byName:
		if in.Name == name {
			return true
		}
	case byHost:
		if isHost(in.Host, name) {
			return true
		}
	case byPrefix:
		return isPrefix(in.ID, name)
	}
	return slices.ContainsFunc(in.Members, func(m Member) bool { return memberMatches(&m, name, way) })
}

func memberMatches(m *Member, name, way string) bool {
	switch way {
	case byMemberID:
		return m.ID == name
	case byName:
		return m.Name == name
	case byStatic:
		return m.InstanceID != "" && m.InstanceID == name
	case byClient:
		if m.ClientID == name {
			return true
		}
		base, thread := SplitThread(m.ClientID)
		if base == name {
			return true
		}
		wanted, number := SplitThread(name)
		return number > 0 && number == thread && wanted == base
	case byHost:
		return isHost(m.Host, name) || isHost(m.Address, name)
	case byMemberP:
		return len(name) >= MinPrefix && len(name) < len(m.ID) && strings.HasPrefix(m.ID, name) && !cutsNumber(m.ID, len(name))
	}
	return false
}

func isHost(host, name string) bool {
	return host != "" && strings.TrimPrefix(host, "/") == strings.TrimPrefix(name, "/")
}

func (e *AmbiguousError) sorted() error {
	slices.SortFunc(e.Candidates, func(a, b Candidate) int { return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Name, b.Name)) })
	return e
}

func shortList(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), 10)]
}
