package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
)

// streamsSim runs a KIP-1071 group: an epoch for each change, its target, and
// the tasks without an owner while members reconcile (live-prediction.md,
// section 6).
type streamsSim struct {
	in       *Input
	o        *Options
	set      *settings
	top      *assign.Topology
	ends     []int64
	rec      *recorder
	draw     *drawer
	shown    bool // the plan is the one that is shown, not another draw of ids
	assignor assign.Assignor
	current  bool // the assignor goes by current tasks (4.4), not by the last target

	members []*streamsMember // in the order of a describe, newcomers last
	procs   []*streamsProc
	epoch   int32
	now     float64 // ms
	queue   []streamsRound
}

// streamsProc is one process and the state that it has.
type streamsProc struct {
	id, name string
	party    int32
	gone     bool
	position map[assign.Task]int64
}

type streamsMember struct {
	id, name string
	proc     *streamsProc
	static   bool

	active, standby             []assign.Task // held
	targetActive, targetStandby []assign.Task
	offsets                     []assign.Offset // reported, 4.4
}

// streamsRound is an epoch to come.
type streamsRound struct {
	trigger         string
	join            []*streamsMember
	leave           []*streamsProc // go before it; else they have gone when the change was made
	standbys        *int           // num.standby.replicas from now on; nil: as it was
	least, most     float64        // ms after the one before
	gone            []int32
	waitMs          float64
	waitWhy         string
	reconcile       bool // no new target: members come to the one there is
	settled         bool // everyone has reconciled before it
	unownedByLeaver bool
}

func newStreamsSim(in *Input, o *Options, set *settings, rec *recorder, seed uint64) (*streamsSim, error) {
	s := &streamsSim{in: in, o: o, set: set, top: in.Topology, ends: in.ends(), rec: rec, draw: newDrawer(seed), shown: seed == firstSeed, epoch: in.Epoch}
	version := cmp.Or(o.KafkaVersion, in.KafkaVersion)
	if version == "" {
		version = "4.3"
		rec.note(NoteAssumed, "the broker's version is not known: taken as 4.2 to 4.3")
	}
	var inexact *assign.InexactError
	a, err := assign.Find(assign.NameStreamsSticky, version)
	if errors.As(err, &inexact) {
		rec.note(NoteUnknown, "%s: the plan's counts are a fair guess, which task goes where is not", inexact.Why)
	} else if err != nil {
		return nil, err
	}
	s.assignor = a
	if sticky, ok := a.(assign.StreamsSticky); ok {
		s.current = sticky.Variant == assign.Sticky44
	}
	for i := range in.Instances {
		s.takeOver(&in.Instances[i], int32(i))
	}
	s.order()
	return s, nil
}

// takeOver reads a process. A copy counts as caught up where nobody tells.
func (s *streamsSim) takeOver(from *Instance, party int32) {
	p := &streamsProc{id: from.ID, name: from.Name, party: party, position: map[assign.Task]int64{}}
	s.procs = append(s.procs, p)
	for i := range from.Members {
		m := &from.Members[i]
		out := &streamsMember{
			id: m.ID, name: m.Name, proc: p, static: m.Static, active: sorted(m.Active), standby: sorted(m.Standby),
			targetActive: sorted(m.TargetActive), targetStandby: sorted(m.TargetStandby), offsets: m.Reported,
		}
		for _, r := range m.Reported {
			if r.Sum >= 0 && s.top.Stateful(r.Task) {
				p.position[r.Task] = min(r.Sum, s.ends[r.Task])
			}
		}
		for _, t := range out.standby {
			if _, told := p.position[t]; !told {
				p.position[t] = s.ends[t]
			}
		}
		for _, t := range out.active {
			if s.top.Stateful(t) {
				p.position[t] = s.ends[t]
			}
		}
		s.members = append(s.members, out)
	}
}

// order puts the members in the order of the broker's answer.
func (s *streamsSim) order() {
	place := make(map[string]int, len(s.members))
	for i := range s.in.Instances {
		for _, m := range s.in.Instances[i].Members {
			place[m.ID] = m.Place
		}
	}
	slices.SortStableFunc(s.members, func(a, b *streamsMember) int { return cmp.Compare(place[a.id], place[b.id]) })
}

// target computes the next target from what counts as previous.
func (s *streamsSim) target() (*assign.Result, error) {
	g := &assign.Group{Topology: s.top, Settings: s.set.Settings, Leader: -1}
	at := make(map[*streamsProc]int)
	for _, m := range s.members {
		k, ok := at[m.proc]
		if !ok {
			k = len(g.Processes)
			at[m.proc] = k
			g.Processes = append(g.Processes, assign.Process{ID: m.proc.id})
		}
		a := assign.Member{ID: m.id, Process: k, Active: m.targetActive, Standby: m.targetStandby}
		if s.current {
			a.Active, a.Standby, a.Offsets = m.active, m.standby, m.offsets
		}
		g.Members = append(g.Members, a)
	}
	if len(g.Members) == 0 {
		return &assign.Result{}, nil
	}
	res, err := s.assignor.Assign(g)
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", s.in.Group, err)
	}
	return res, nil
}

// round does the next epoch.
func (s *streamsSim) round() (bool, error) {
	if len(s.queue) == 0 {
		return false, nil
	}
	r := s.queue[0]
	s.queue = s.queue[1:]
	s.members = append(s.members, r.join...)
	if r.settled {
		s.settle()
	}
	s.begin(&r)
	had := s.owners()
	if !r.reconcile {
		res, err := s.target()
		if err != nil {
			return false, err
		}
		for i, m := range s.members {
			m.targetActive, m.targetStandby = res.Members[i].Active, res.Members[i].Standby
		}
		s.epoch++
	}
	at := s.now + r.least
	most := s.now + r.most
	st := step{trigger: r.trigger, atMs: at, outcome: s.outcome(), had: s.had(), gone: r.gone, waitMs: r.waitMs, waitWhy: r.waitWhy}
	if most > at {
		st.most = &most
	}
	st.unowned = s.unowned(&r, had)
	s.rec.add(st)
	s.now = at
	s.learnPositions()
	for _, m := range r.join { // copies are free at once, actives are not
		m.standby = sorted(m.targetStandby)
	}
	return true, nil
}
