package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
)

// change makes one step of changes and says when the round that follows is.
func (c *classicSim) change(list []Change, first bool) error {
	var why []string
	wait, moved, join := 0.0, false, false
	for _, ch := range list {
		var err error
		var text string
		var ms float64
		moves := true
		switch x := ch.(type) {
		case Add:
			text, err = c.add(x)
			join = true
		case Remove:
			text, ms, err = c.remove(x)
		case Bounce:
			text, ms, moves, err = c.bounce(x)
		case Threads:
			text, err = c.threads(x)
		case Partitions:
			text, err = c.partitions(x)
		case Leaving:
			if c.plug != nil {
				text, err = c.plug.mark(x)
				break
			}
			err = &ChangeError{x.Describe(), "classic groups honour no marks unless their last round was led by streamctl's plug-in; a plan with --remove tells what a stop does"}
		default:
			err = &ChangeError{ch.Describe(), "is not for classic groups"}
		}
		if err != nil {
			return err
		}
		if text != "" {
			why = append(why, text)
		}
		wait, moved = max(wait, ms), moved || moves
	}
	if moved {
		if join && wait == 0 && first {
			c.now = -float64(c.set.heartbeatMs) // the others join at a heartbeat; that is when the clock starts
		}
		if join {
			wait = max(wait, float64(c.set.heartbeatMs))
		}
		c.begin(strings.Join(why, ", "), wait)
		return nil
	}
	if first && len(list) == 0 {
		c.unasked()
	}
	return nil
}

func (c *classicSim) begin(trigger string, waitMs float64) {
	c.due, c.trigger, c.gapMs = true, trigger, waitMs
	for _, m := range c.members() {
		m.early = false
	}
}

// unasked is the next round of a group that nobody changes: what is planned,
// or, to see whether anything would move, a rebalance that someone asks for.
func (c *classicSim) unasked() {
	early := slices.ContainsFunc(c.members(), func(m *classicMember) bool { return m.early })
	switch {
	case early:
		c.due, c.trigger, c.gapMs = true, TriggerHandOver, float64(c.set.heartbeatMs)
	case c.in.NextMs != nil:
		trigger := TriggerProbing
		if c.plug != nil {
			trigger = TriggerFollowUp
		}
		c.begin(trigger, float64(*c.in.NextMs))
	default:
		c.begin(anyRebalance, 0)
	}
}

// usualThreads is the number of threads that most processes have.
func usualThreads(in *Input) int {
	counts := map[int]int{}
	best := 1
	for _, i := range in.Instances {
		counts[len(i.Members)]++
	}
	for n, k := range counts {
		if n > 0 && (k > counts[best] || k == counts[best] && n < best) {
			best = n
		}
	}
	return best
}

func (c *classicSim) add(a Add) (string, error) {
	threads := cmp.Or(a.Threads, usualThreads(c.in))
	for k := range a.Count {
		p := &classicProc{position: map[assign.Task]int64{}, running: map[assign.Task]bool{}}
		party, joined, err := c.rec.join(a, k, c.draw.uuid(), threads)
		if err != nil {
			return "", err
		}
		p.id, p.name, p.party = joined.id, joined.name, party
		if err := onDisk(c.top, c.ends, p.position, a); err != nil {
			return "", err
		}
		base := c.in.Group + "-" + p.id
		for t := range threads {
			m := &classicMember{clientID: fmt.Sprintf("%s-StreamThread-%d-consumer", base, t+1), thread: t + 1, id: c.memberName(base, t+1), rack: a.Rack}
			if n := k*threads + t; n < len(a.Members) {
				m.id = a.Members[n]
			}
			p.members = append(p.members, m)
		}
		c.procs = append(c.procs, p)
	}
	if a.Count == 0 {
		return "no change", nil
	}
	return count(a.Count*threads, "member") + verb(a.Count*threads, " joins", " join"), nil
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func (c *classicSim) proc(name string) (*classicProc, error) {
	k, err := c.in.find(name)
	if err != nil {
		return nil, err
	}
	if c.procs[k].gone {
		return nil, &ChangeError{name, "the instance is removed already"}
	}
	return c.procs[k], nil
}

func (c *classicSim) remove(r Remove) (string, float64, error) {
	p, err := c.proc(r.Instance)
	if err != nil {
		return "", 0, err
	}
	p.gone = true
	c.rec.free(p.id)
	c.gone = append(c.gone, p.party)
	if r.How == HowLeave {
		return p.name + " leaves", float64(c.set.heartbeatMs), nil
	}
	c.waitMs = float64(c.set.sessionMs)
	c.waitWhy = "nobody runs it for " + span(c.set.sessionMs) + " until the session times out"
	return "session timeout of " + p.name, c.waitMs, nil
}

// span is a duration as people write it.
func span(ms int64) string {
	if ms%1000 == 0 {
		return strconv.FormatInt(ms/1000, 10) + "s"
	}
	return strconv.FormatInt(ms, 10) + "ms"
}

// bounce restarts a process. A static one comes back as who it was; another
// one is new to the group and gets nothing until its old member has expired.
func (c *classicSim) bounce(b Bounce) (string, float64, bool, error) {
	p, err := c.proc(b.Instance)
	if err != nil {
		return "", 0, false, err
	}
	threads := cmp.Or(b.Threads, len(p.members))
	static := b.Static || !slices.ContainsFunc(p.members, func(m *classicMember) bool { return !m.static })
	if static && threads == len(p.members) {
		c.rec.staticBounce(p.name)
		return "", 0, false, nil
	}
	var clientID string
	for _, m := range p.members {
		clientID = m.clientID
	}
	for t := range p.running {
		p.position[t] = c.ends[t]
	}
	clear(p.running)
	p.members, p.kept = nil, 0
	for t := range threads {
		p.members = append(p.members, &classicMember{clientID: clientID, thread: t + 1, id: c.memberName(clientID, t+1)})
	}
	c.rec.parties[p.party].workers = threads
	c.rec.orphan(p.party)
	c.waitMs = float64(c.set.sessionMs)
	c.waitWhy = "nobody runs it for " + span(c.set.sessionMs) + " until the session of the old member times out"
	return "session timeout of " + p.name + " before its restart", c.waitMs, true, nil
}

// threads adds or takes threads of a running process. The new one joins first
// and reports what is left over.
func (c *classicSim) threads(x Threads) (string, error) {
	p, err := c.proc(x.Instance)
	if err != nil {
		return "", err
	}
	n := len(p.members)
	c.rec.parties[p.party].workers = x.Count
	if x.Count <= n {
		for _, m := range p.members[x.Count:] {
			for _, t := range m.active {
				if c.top.Stateful(t) {
					delete(p.running, t)
					p.position[t] = c.ends[t]
				}
			}
		}
		p.members = p.members[:x.Count]
		return count(n-x.Count, "thread") + " of " + p.name + verb(n-x.Count, " leaves", " leave"), nil
	}
	p.kept = n // a thread that is added joins first and locks the directory
	highest, clientID := 0, ""
	for _, m := range p.members {
		highest, clientID = max(highest, m.thread), m.clientID
	}
	for t := n; t < x.Count; t++ {
		highest++
		p.members = append(p.members, &classicMember{clientID: clientID, thread: highest, id: c.memberName(clientID, highest)})
	}
	return count(x.Count-n, "thread") + " of " + p.name + verb(x.Count-n, " joins", " join"), nil
}
