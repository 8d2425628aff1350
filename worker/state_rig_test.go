package worker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/seat"
)

// group is instances whose states meet in rounds, without I/O: what the draft
// calls the protocol.
type group struct {
	t      *testing.T
	now    time.Time
	size   map[string]int32
	by     map[string]*state
	lag    map[string]map[model.TaskID]int64 // by instance
	number int32
	led    *leaderRound // the last one
}

func newGroup(t *testing.T, partitions int32) *group {
	return &group{t: t, now: time.Unix(1000, 0), size: map[string]int32{"in": partitions, "plain": 0}, by: map[string]*state{}, lag: map[string]map[model.TaskID]int64{}}
}

func (g *group) join(name string, change ...func(*Config)) *state {
	c := Config{Group: "g", Topology: []Subtopology{
		{ID: 0, Sources: []string{"in"}, Changelog: "log"}, {ID: 1, Sources: []string{"plain"}},
	}, Settings: DefaultSettings(), Workers: 1}
	for _, f := range change {
		f(&c)
	}
	s := newState(fmt.Sprintf("00000000-0000-4000-8000-%012s", strings.TrimLeft(name, "S")), &c)
	g.by[name], g.lag[name] = s, map[model.TaskID]int64{}
	for _, m := range s.members {
		m.as = s.mode
	}
	return s
}

func (g *group) names() []string {
	list := []string{}
	for name := range g.by {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// lagOf is that of the test; a copy that it does not name is far behind.
func (g *group) lagOf(name string) lagOf {
	return func(t model.TaskID) (int64, bool) {
		if n, ok := g.lag[name][t]; ok {
			return n, true
		}
		for _, m := range g.by[name].members {
			if c := m.tasks[t]; c != nil && c.role == model.Active {
				return 0, true
			}
		}
		return 1_000_000, true
	}
}

// round lets all join, the lowest name lead, and all but those who miss it take
// what they get. It returns what the members joined with.
func (g *group) round(miss ...string) map[string]*groupmeta.StreamMetadata {
	g.t.Helper()
	g.number++
	said := map[string]*groupmeta.StreamMetadata{}
	r := seat.Round{Generation: g.number, Partitions: g.size}
	for _, name := range g.names() {
		s := g.by[name]
		for _, m := range s.members {
			if m.in {
				s.beforeJoin(m.n)
			}
			md := s.metadata(m.n, g.now, g.size, g.lagOf(name))
			raw, err := groupmeta.EncodeWorkerMetadata(groupmeta.ProtocolTypeStream, md)
			if err != nil {
				g.t.Fatal(err)
			}
			id := name + "/" + workerLabel(m.n)
			said[id] = md
			r.Members = append(r.Members, seat.Member{ID: id, Metadata: raw})
		}
	}
	r.Members = append(r.Members, seat.Member{ID: "stranger", Metadata: []byte{0, 1, 2}})
	leader := g.by[g.names()[0]]
	l, err := leader.decide(groupmeta.ProtocolTypeStream, r, false, g.now)
	if err != nil {
		g.t.Fatal(err)
	}
	g.led = l
	given, err := l.encode(groupmeta.ProtocolTypeStream, g.number)
	if err != nil {
		g.t.Fatal(err)
	}
	if _, ok := given["stranger"]; ok {
		g.t.Error("a stranger got something")
	}
	for _, name := range g.names() {
		if slices.Contains(miss, name) {
			continue
		}
		s := g.by[name]
		for _, m := range s.members {
			id := name + "/" + workerLabel(m.n)
			a, err := groupmeta.ParseWorkerAssignment(groupmeta.ProtocolTypeStream, given[id])
			if err != nil {
				g.t.Fatal(err)
			}
			s.assigned(m.n, g.number, id, a, s == leader, g.now)
		}
	}
	g.once()
	g.breathe()
	return said
}

// once checks that no task is open twice.
func (g *group) once() {
	g.t.Helper()
	at := map[model.TaskID]string{}
	for _, name := range g.names() {
		for _, m := range g.by[name].members {
			for id, c := range m.tasks {
				if c.role != model.Active || !c.open {
					continue
				}
				if at[id] != "" {
					g.t.Errorf("%s is open on %s and %s", id, at[id], name)
				}
				at[id] = name
			}
		}
	}
}

func (g *group) tick(name string) actions {
	g.t.Helper()
	return g.by[name].tick(g.now, g.lagOf(name), func(model.TaskID) bool { return true }, time.Second)
}

// breathe lets the time pass in which nobody asks for the next round.
func (g *group) breathe() { g.now = g.now.Add(longestBreath) }

// picture is as in the draft: S1[T1,T2] S4 learns T1.
func (g *group) picture() string {
	var out []string
	for _, name := range g.names() {
		var own, learns []string
		for _, t := range (&Instance{st: g.by[name]}).have() {
			label := fmt.Sprintf("T%d", t.id.Partition+1)
			if t.id.Subtopology == "1" {
				label = fmt.Sprintf("P%d", t.id.Partition+1)
			}
			switch t.role {
			case model.Active:
				own = append(own, label)
			case model.Learner:
				learns = append(learns, label)
			}
		}
		s := name + "[" + strings.Join(own, ",") + "]"
		if len(learns) > 0 {
			s += " learns " + strings.Join(learns, ",")
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func (g *group) is(want string) {
	g.t.Helper()
	if got := g.picture(); got != want {
		g.t.Errorf("got  %s\nwant %s", got, want)
	}
}

// own gives tasks to an instance as if a round before had.
func (g *group) own(name string, tasks ...int32) {
	m := g.by[name].members[0]
	m.in, m.generation, m.learnerWon, m.last = true, 1, true, 3
	for _, n := range tasks {
		m.tasks[model.ClassicTask("", 0, n-1)] = &claim{role: model.Active, open: true}
	}
	m.said = g.by[name].says()
	g.number = 1
}

func (g *group) caughtUp(name string, task int32) {
	g.lag[name][model.ClassicTask("", 0, task-1)] = 3
}

func threeOf(t *testing.T) *group {
	g := newGroup(t, 5)
	for _, name := range []string{"S1", "S2", "S3"} {
		g.join(name)
	}
	g.own("S1", 1, 2)
	g.own("S2", 3, 4)
	g.own("S3", 5)
	return g
}
