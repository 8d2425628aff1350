package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
)

// secondTargetMs is the least time between two targets
// (group.streams.assignment.interval.ms).
const secondTargetMs = 1000

// change queues the epochs that one step of changes makes.
func (s *streamsSim) change(list []Change, first bool) error {
	var gone []int32
	var why []string
	var joined []*streamsMember
	var leaving []string
	wait := 0.0
	for _, ch := range list {
		var err error
		switch x := ch.(type) {
		case Add:
			var more []*streamsMember
			more, err = s.add(x)
			joined = append(joined, more...)
		case Remove:
			var p *streamsProc
			if p, err = s.remove(x.Instance); err == nil {
				gone = append(gone, p.party)
				if x.How == HowKill {
					wait = float64(s.set.sessionMs)
					why = append(why, "session timeout of "+p.name)
				} else {
					why = append(why, p.name+" leaves")
				}
			}
		case Bounce:
			joined, err = s.bounce(x, joined)
		case Threads:
			joined, err = s.threads(x, joined)
		case Partitions:
			s.queue = append(s.queue, streamsRound{trigger: x.Describe(), settled: true})
		case Leaving:
			leaving = append(leaving, x.Instance)
		default:
			err = &ChangeError{ch.Describe(), "is not for streams groups"}
		}
		if err != nil {
			return err
		}
	}
	if len(gone) > 0 {
		r := streamsRound{trigger: strings.Join(why, ", "), gone: gone, most: float64(s.set.heartbeatMs), settled: true, unownedByLeaver: true, waitMs: wait, least: wait}
		r.most += wait
		if wait > 0 {
			r.waitWhy = "nobody runs it for " + span(s.set.sessionMs) + " until the session times out"
		}
		s.queue = append(s.queue, r)
	}
	s.enter(joined)
	if len(leaving) > 0 {
		if err := s.drain(leaving, len(list) == len(leaving)); err != nil {
			return err
		}
	}
	if first && len(list) == 0 {
		s.unasked()
	}
	return nil
}

// enter queues the epochs of members that join together: a target for the
// first alone, and one for all at the first heartbeat a second later or more.
func (s *streamsSim) enter(joined []*streamsMember) {
	if len(joined) == 0 {
		return
	}
	s.queue = append(s.queue, streamsRound{trigger: joined[0].name + " joins", join: joined[:1], settled: true})
	if rest := joined[1:]; len(rest) > 0 {
		trigger := rest[0].name + " joins"
		if len(rest) > 1 {
			trigger = count(len(rest), "member") + " join"
		}
		s.queue = append(s.queue, streamsRound{trigger: trigger, join: rest, least: secondTargetMs, most: max(secondTargetMs, float64(s.set.heartbeatMs))})
		s.rec.note(NoteRange, "members that join together get two targets: which of them joins first, %s or another, is a guess", joined[0].name)
		if s.current {
			s.rec.note(NoteRange, "a 4.4 broker goes by what each member holds: the target of epoch %d is exact if nobody has let go of a task by then, 1 to %s after the first join", s.epoch+2, span(max(secondTargetMs, s.set.heartbeatMs)))
		}
	}
}

// unasked queues what a group does that nobody changes.
func (s *streamsSim) unasked() {
	wanted := slices.IndexFunc(s.in.Settings, func(x Setting) bool { return x.Key == KeyStandbys })
	if v, ok := s.o.Set[KeyStandbys]; ok && wanted >= 0 && s.in.Settings[wanted].Value != v {
		s.queue = append(s.queue, streamsRound{trigger: KeyStandbys + " " + s.in.Settings[wanted].Value + " -> " + v, settled: true})
		return
	}
	for _, m := range s.members {
		if !slices.Equal(m.active, m.targetActive) || !slices.Equal(m.standby, m.targetStandby) {
			s.queue = append(s.queue, streamsRound{trigger: "members reach the target of epoch " + strconv.Itoa(int(s.epoch)), reconcile: true, most: float64(s.set.heartbeatMs)})
			return
		}
	}
}

// add makes new members. Those of one instance join in the order of their
// threads but for the last, which was first in five of six recorded cases.
func (s *streamsSim) add(a Add) ([]*streamsMember, error) {
	threads := cmp.Or(a.Threads, usualThreads(s.in))
	var out []*streamsMember
	for k := range a.Count {
		p := &streamsProc{position: map[assign.Task]int64{}}
		party, joined, err := s.rec.join(a, k, s.draw.uuid(), threads)
		if err != nil {
			return nil, err
		}
		p.id, p.name, p.party = joined.id, joined.name, party
		if err := onDisk(s.top, s.ends, p.position, a); err != nil {
			return nil, err
		}
		s.procs = append(s.procs, p)
		out = append(out, s.newMembers(p, threads, 1, a.Members[min(k*threads, len(a.Members)):])...)
	}
	return out, nil
}

func (s *streamsSim) newMembers(p *streamsProc, n, from int, ids []string) []*streamsMember {
	var out []*streamsMember
	for t := range n {
		m := &streamsMember{id: s.draw.memberID(), name: p.name + "/T" + strconv.Itoa(from+t), proc: p}
		if t < len(ids) {
			m.id = ids[t]
		}
		out = append(out, m)
	}
	if n > 1 {
		last := out[n-1]
		out = append([]*streamsMember{last}, out[:n-1]...)
	}
	for _, t := range slices.Sorted(keysOf(p.position)) { // each thread tells of all state on the disk
		for _, m := range out {
			m.offsets = append(m.offsets, assign.Offset{Task: t, Sum: p.position[t]})
		}
	}
	return out
}

func (s *streamsSim) proc(name string) (*streamsProc, error) {
	k, err := s.in.find(name)
	if err != nil {
		return nil, err
	}
	if s.procs[k].gone {
		return nil, &ChangeError{name, "the instance is removed already"}
	}
	return s.procs[k], nil
}

func (s *streamsSim) remove(name string) (*streamsProc, error) {
	p, err := s.proc(name)
	if err != nil {
		return nil, err
	}
	p.gone = true
	s.rec.free(p.id)
	s.members = slices.DeleteFunc(s.members, func(m *streamsMember) bool { return m.proc == p })
	return p, nil
}

// bounce closes an instance, which leaves the group at once, and lets it come
// back with its state. Members with an instance id come back to their tasks.
func (s *streamsSim) bounce(b Bounce, joined []*streamsMember) ([]*streamsMember, error) {
	p, err := s.proc(b.Instance)
	if err != nil {
		return nil, err
	}
	var mine []*streamsMember
	for _, m := range s.members {
		if m.proc == p {
			mine = append(mine, m)
		}
	}
	static := b.Static || !slices.ContainsFunc(mine, func(m *streamsMember) bool { return !m.static })
	threads := cmp.Or(b.Threads, len(mine))
	if static && threads == len(mine) {
		s.rec.staticBounce(p.name)
		return joined, nil
	}
	s.members = slices.DeleteFunc(s.members, func(m *streamsMember) bool { return m.proc == p })
	s.queue = append(s.queue, streamsRound{trigger: p.name + " leaves", settled: true, most: float64(s.set.heartbeatMs), unownedByLeaver: true})
	s.rec.parties[p.party].workers = threads
	return append(joined, s.newMembers(p, threads, 1, nil)...), nil
}

// threads adds or takes threads of a running instance.
func (s *streamsSim) threads(x Threads, joined []*streamsMember) ([]*streamsMember, error) {
	p, err := s.proc(x.Instance)
	if err != nil {
		return nil, err
	}
	var mine []*streamsMember
	for _, m := range s.members {
		if m.proc == p {
			mine = append(mine, m)
		}
	}
	s.rec.parties[p.party].workers = x.Count
	if x.Count >= len(mine) {
		return append(joined, s.newMembers(p, x.Count-len(mine), len(mine)+1, nil)...), nil
	}
	leave := mine[x.Count:]
	s.members = slices.DeleteFunc(s.members, func(m *streamsMember) bool { return slices.Contains(leave, m) })
	s.queue = append(s.queue, streamsRound{trigger: count(len(leave), "thread") + " of " + p.name + verb(len(leave), " leaves", " leave"), settled: true, most: float64(s.set.heartbeatMs), unownedByLeaver: true})
	return joined, nil
}
