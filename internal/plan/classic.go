package plan

import (
	"fmt"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
)

// classicSim runs a classic group (live-prediction.md, sections 2 to 4): what
// each member reports at its next join, who joins at once and who a heartbeat
// later, how far copies come meanwhile.
type classicSim struct {
	in     *Input
	o      *Options
	set    *settings
	top    *assign.Topology
	ends   []int64
	rec    *recorder
	follow Follow
	draw   *drawer

	procs  []*classicProc
	leader int     // process that gets the time of the probing rebalance
	now    float64 // ms since the change
	last   *assign.Result

	plug    *plugInRules // nil: Kafka's own assignor
	missing int          // standbys that found no instance, in the last round of plug

	trigger string // of the next round
	gapMs   float64
	gone    []int32
	waitMs  float64
	waitWhy string
	due     bool // a round follows
}

// classicProc is one process.
type classicProc struct {
	id, name string
	tags     map[string]string
	party    int32
	gone     bool
	members  []*classicMember
	kept     int           // member that reports what is left over
	stale    []assign.Task // copies that count as last reported until the next round

	position map[assign.Task]int64 // of state that it holds or left over; not of running tasks
	running  map[assign.Task]bool  // actives past their restore
}

// classicMember is one thread.
type classicMember struct {
	id, clientID, rack string
	thread             int
	static             bool

	active, standby []assign.Task // last assigned, ascending
	lost            []assign.Task // stateful ones that it gave up in the last round
	also            []assign.Task // standbys that went to another thread of its process in the last round
	early           bool          // it joins at once: it got "now" or lost an active
	next            assign.Next
	reports         []assign.Offset // at its next join, once fixed
}

func newClassicSim(in *Input, o *Options, set *settings, rec *recorder, seed uint64) *classicSim {
	c := &classicSim{in: in, o: o, set: set, top: in.Topology, ends: in.ends(), rec: rec, follow: o.Follow, draw: newDrawer(seed)}
	if c.follow == "" {
		c.follow = FollowFast
	}
	for i := range in.Instances {
		c.procs = append(c.procs, c.process(&in.Instances[i], int32(i)))
	}
	c.leader = c.firstLeader()
	return c
}

// process takes over a process from what its members reported. If the group is
// settled every held copy counts as caught up, every active as running.
func (c *classicSim) process(from *Instance, party int32) *classicProc {
	p := &classicProc{id: from.ID, name: from.Name, tags: from.Tags, party: party, position: map[assign.Task]int64{}, running: map[assign.Task]bool{}}
	for i := range from.Members {
		m := &from.Members[i]
		out := &classicMember{
			id: m.ID, clientID: m.ClientID, rack: m.Rack, thread: m.Thread, static: m.Static,
			active: sorted(m.Active), standby: merge(sorted(m.Standby), sorted(m.Learner)), next: m.Next,
		}
		for _, r := range m.Reported {
			switch {
			case !c.top.Stateful(r.Task):
			case r.Sum == assign.SumRunning:
				p.position[r.Task] = c.ends[r.Task]
			case r.Sum >= 0:
				p.position[r.Task] = r.Sum
			}
		}
		p.members = append(p.members, out)
	}
	for i, m := range p.members {
		ran := make(map[assign.Task]bool)
		for _, r := range from.Members[i].Reported {
			if r.Sum == assign.SumRunning {
				ran[r.Task] = true
			}
		}
		for _, t := range m.active {
			if c.top.Stateful(t) && (ran[t] || c.in.Settled) {
				p.run(t)
			}
		}
		for _, t := range m.standby {
			if c.asReported(p, t) {
				p.stale = append(p.stale, t)
			} else if c.in.Settled {
				p.position[t] = c.ends[t]
			} else if _, ok := p.position[t]; !ok {
				p.position[t] = 0
			}
		}
		m.early = m.next == assign.NextNow
	}
	p.findKeeper(from)
	return p
}

// asReported says whether a copy counts as far as it was at its last join. A
// plan of a group that nobody changes is about the very next round: a copy that
// was half-way then is not taken as complete. All others, and every copy when
// the group is changed, count as caught up since.
func (c *classicSim) asReported(p *classicProc, t assign.Task) bool {
	n, ok := p.position[t]
	if !ok || len(c.o.Changes) > 0 || c.in.plug != nil || n <= 0 || c.ends[t]-n <= c.set.AcceptableLag {
		return false
	}
	c.rec.reported = append(c.rec.reported, holding{t, p.party})
	return true
}

func (p *classicProc) run(t assign.Task) {
	p.running[t] = true
	delete(p.position, t)
}

// firstLeader is the process of which it is known that it leads, because it has
// the time of the next probing rebalance; else the first.
func (c *classicSim) firstLeader() int {
	for i, p := range c.procs {
		for _, m := range p.members {
			if m.next == assign.NextProbing {
				return i
			}
		}
	}
	return 0
}

// group makes the assignor's input of what the members report.
func (c *classicSim) group() *assign.Group {
	g := &assign.Group{Topology: c.top, Settings: c.set.Settings, Leader: -1, TopicRacks: c.in.TopicRacks}
	for i, p := range c.procs {
		if p.gone {
			continue
		}
		if i == c.leader || g.Leader < 0 {
			g.Leader = len(g.Processes)
		}
		g.Processes = append(g.Processes, assign.Process{ID: p.id, Tags: p.tags})
		for _, m := range p.members {
			g.Members = append(g.Members, assign.Member{ID: m.id, Process: len(g.Processes) - 1, Rack: m.rack, Owned: m.active, Offsets: m.reports})
		}
	}
	return g
}

// members are the threads in the order of group's.
func (c *classicSim) members() []*classicMember {
	var out []*classicMember
	for _, p := range c.procs {
		if !p.gone {
			out = append(out, p.members...)
		}
	}
	return out
}

// round lets time pass, all members report and the leader decide. It returns
// false when nothing is to come.
func (c *classicSim) round() (bool, error) {
	if !c.due {
		return false, nil
	}
	if len(c.members()) == 0 {
		c.now += c.gapMs
		c.rec.add(step{trigger: c.trigger, atMs: c.now, had: c.had, waitMs: c.waitMs, waitWhy: c.waitWhy, gone: c.gone})
		c.gone, c.waitMs, c.waitWhy, c.due = nil, 0, "", false
		return true, nil
	}
	c.join()
	res, err := c.decide(c.group())
	if err != nil {
		return false, fmt.Errorf("group %q: %w", c.in.Group, err)
	}
	c.last = res
	c.apply(res)
	st := step{
		trigger: c.trigger, atMs: c.now, outcome: c.outcome(res), had: c.had,
		waitMs: c.waitMs, waitWhy: c.waitWhy, gone: c.gone,
	}
	c.gone, c.waitMs, c.waitWhy = nil, 0, ""
	for _, p := range c.procs {
		p.stale = nil
	}
	c.plan(res)
	st.unowned = c.withheld(&st)
	c.rec.add(st)
	return true, nil
}

// decide is what the leader decides.
func (c *classicSim) decide(g *assign.Group) (*assign.Result, error) {
	if c.plug != nil {
		return c.plug.decide(g)
	}
	return assign.HighAvailability{}.Assign(g)
}

// had tells how far a party's copy of a task is; what was opened in this very
// round is at 0.
func (c *classicSim) had(party int32, t assign.Task) (int64, bool) {
	p := c.procs[party] // processes and parties come in the same order
	if p.gone {
		return 0, false
	}
	if p.running[t] {
		return c.ends[t], true
	}
	n, ok := p.position[t]
	return n, ok
}

// withheld are the tasks that have no owner until the round that follows.
func (c *classicSim) withheld(st *step) *Unowned {
	n := c.top.Len()
	for _, o := range st.outcome {
		n -= len(o.active)
	}
	if n <= 0 {
		return nil
	}
	return &Unowned{Tasks: n, MostS: seconds(max(c.gapMs, handOverMs))}
}

// handOverMs is what a round takes that all join at once; 0.01 to 0.21 s were
// measured.
const handOverMs = 200

// plan decides when the next round is (live-prediction.md, section 3).
func (c *classicSim) plan(res *assign.Result) {
	early, late := 0, 0
	for _, m := range c.members() {
		if m.early {
			early++
		} else {
			late++
		}
	}
	c.due = true
	switch {
	case early > 0 && late == 0:
		c.trigger, c.gapMs = TriggerHandOver, 0
	case early > 0:
		c.trigger, c.gapMs = TriggerHandOver, float64(c.set.heartbeatMs)
	case c.plug != nil:
		c.trigger, c.gapMs, c.due = c.plug.next(res)
	case res.Probing:
		c.trigger, c.gapMs = TriggerProbing, float64(c.set.probingMs)
	default:
		c.due = false
	}
}

// memberName makes the id of a thread that does not exist yet.
func (c *classicSim) memberName(clientID string, thread int) string {
	if i := strings.Index(clientID, "-StreamThread-"); i >= 0 {
		clientID = clientID[:i]
	}
	return fmt.Sprintf("%s-StreamThread-%d-consumer-%s", clientID, thread, c.draw.uuid())
}
