package worker

import (
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// state is the protocol's side of an instance: what it claims, what it says and
// when it asks for a round. It does no I/O and has no clock; whoever uses it
// calls from one goroutine at a time and brings the time along.
type state struct {
	id       string
	set      Settings
	subs     map[string]Subtopology // by id as it stands in task ids
	topology []Subtopology          // by id
	host     string
	clientID string

	mode    Mode
	epoch   int64
	sw      *modeSwitch // under way, or over in time but not in effect; nil: none
	mark    *mark
	loyal   time.Time // until then a refused worker does not try the other protocol type; zero: it may
	expired bool      // past the deadline, and all tasks closed
	leaving bool      // it is about to leave for good: nothing is opened any more

	unmarked int                   // marks withdrawn so far
	kept     map[model.TaskID]bool // taken off it while it is marked: their state stays on disk, and it says nothing of it
	members  []*member
}

// mark is a mark that the instance honours.
type mark struct {
	id       string
	seen     time.Time // when its id was first seen
	deadline time.Time // zero: none
}

// modeSwitch is a change of the protocol type that the instance takes part in.
type modeSwitch struct {
	from     Mode
	allowed  time.Duration
	deadline time.Time
	tried    bool // it wrote, or tried to write, the record that goes back
	blind    bool // that failed: it has to find the way in alone
}

func newState(id string, c *Config) *state {
	s := &state{
		id: id, set: c.Settings, subs: map[string]Subtopology{}, kept: map[model.TaskID]bool{}, topology: sortedTopology(c.Topology),
		host: c.Host, clientID: c.ClientID, mode: c.Settings.Mode,
	}
	for _, t := range s.topology {
		s.subs[model.ClassicTask("", t.ID, 0).Subtopology] = t
	}
	for n := range c.Workers {
		s.members = append(s.members, &member{n: n, tasks: map[model.TaskID]*claim{}})
	}
	return s
}

func (s *state) stateful(t model.TaskID) bool { return s.subs[t.Subtopology].Stateful() }

// found takes copies that a restart left on disk.
func (s *state) found(held []model.TaskID) {
	for _, t := range held {
		s.members[0].tasks[t] = &claim{role: model.Standby, rests: true}
	}
}

// lagOf gives the records that a copy has still to restore.
type lagOf func(model.TaskID) (records int64, known bool)

// generation is that of the last round that any worker took part in, 0 for none.
func (s *state) generation() int32 {
	n := int32(0)
	for _, m := range s.members {
		n = max(n, m.generation)
	}
	return n
}

// says is what the worker tells of the instance at this moment.
func (s *state) says() said {
	n := said{mode: s.mode, epoch: s.epoch, expired: s.expired, unmarked: s.unmarked}
	if s.mark != nil {
		n.mark, n.deadline = s.mark.id, s.mark.deadline
	}
	return n
}

// eager says whether a worker stops everything before it joins: in mode
// upgrading. Which protocol wins a round it learns from the assignment alone,
// and a plain consumer that an older one gives a task begins with it at once.
func (m *member) eager() bool { return m.as == Upgrading }

// beforeJoin closes what the worker must revoke before it joins, and returns
// it; the caller joins only when all of that is closed indeed.
func (s *state) beforeJoin(n int) []model.TaskID {
	m := s.members[n]
	m.round = true
	var closed []model.TaskID
	for _, id := range m.ids() {
		c := m.tasks[id]
		if c.role != model.Active {
			continue
		}
		if c.release {
			delete(m.tasks, id)
			closed = append(closed, id)
			continue
		}
		if c.learned || s.leaving || s.mark != nil && !s.stateful(id) || m.eager() {
			c.open = false
		}
		if !c.open {
			closed = append(closed, id)
		}
	}
	return closed
}

// metadata is what the worker joins with. Whatever happened since beforeJoin,
// it never says that something is revoked that is still open.
func (s *state) metadata(n int, now time.Time, partitions map[string]int32, lag lagOf) *groupmeta.StreamMetadata {
	m := s.members[n]
	m.said = s.says()
	m.round = true
	md := s.bare(n, partitions)
	md.StreamRound = groupmeta.StreamRound{
		Generation: m.generation, GenerationEpoch: m.epoch, LastInstances: m.last, Carried: m.carried, Request: m.request,
	}
	if m.switching && s.sw != nil && now.Before(s.sw.deadline) {
		md.SwitchRemainingMs = groupmeta.SomeInt(s.sw.deadline.Sub(now).Milliseconds())
	}
	open, openStateless := m.open(s.stateful)
	leaves := s.mark != nil && !openStateless
	if leaves {
		md.Leaving, md.Marks, md.Expired = true, []string{s.mark.id}, s.expired && !open
		if d := s.mark.deadline; !d.IsZero() {
			md.RemainingMs = groupmeta.SomeInt(max(0, d.Sub(now).Milliseconds()))
		}
	} else {
		m.said.mark = ""
	}
	for _, id := range m.ids() {
		c := m.tasks[id]
		t := groupmeta.StreamTask{ID: id, Role: c.role, Tags: c.tags(s.stateful(id), leaves)}
		if records, known := lag(id); known && s.stateful(id) {
			t.Lag = groupmeta.SomeInt(max(0, records))
		}
		md.Tasks = append(md.Tasks, t)
	}
	return md
}

// bare are metadata without a claim or a copy.
func (s *state) bare(n int, partitions map[string]int32) *groupmeta.StreamMetadata {
	return &groupmeta.StreamMetadata{
		StreamIdentity:  groupmeta.StreamIdentity{Instance: s.id, Workers: int32(len(s.members)), Worker: workerLabel(n), Host: s.host, ClientID: s.clientID},
		StreamModeState: groupmeta.StreamModeState{Mode: groupmeta.StreamMode(s.mode), Epoch: s.epoch},
		Settings:        s.set.wire(),
		Topology:        s.wireTopology(partitions),
	}
}

// open says whether the worker has open tasks, and whether stateless ones.
func (m *member) open(stateful func(model.TaskID) bool) (some, stateless bool) {
	for id, c := range m.tasks {
		if c.role == model.Active && c.open {
			some = true
			stateless = stateless || !stateful(id)
		}
	}
	return some, stateless
}

// lost takes the loss of a membership: everything becomes a copy.
func (s *state) lost(n int) {
	m := s.members[n]
	m.toCopies(s.stateful)
	m.generation, m.last, m.carried, m.in, m.round, m.learnerWon, m.leads, m.drained = 0, 0, false, false, false, false, false, false
	m.askAt, m.askFor = time.Time{}, ""
}
