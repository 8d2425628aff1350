package plan

import (
	"slices"
	"strconv"
	"strings"
)

// NoteRaise is the finding that says how many standbys a drain of a streams
// group takes.
const NoteRaise = "raise-standbys"

// begin does what comes before the target of a round: the setting changes,
// instances go.
func (s *streamsSim) begin(r *streamsRound) {
	if r.standbys != nil {
		s.set.Standbys = *r.standbys
	}
	for _, p := range r.leave {
		p.gone = true
		s.members = slices.DeleteFunc(s.members, func(m *streamsMember) bool { return m.proc == p })
	}
}

// drain queues what mark-leaving does with instances of a streams group: more
// standbys for as long as it takes, the stop, and the setting as it was.
func (s *streamsSim) drain(leaving []string, alone bool) error {
	if !alone {
		return &ChangeError{"leaving " + strings.Join(leaving, " "), "goes with no other change of a streams group: make one plan after the other"}
	}
	r, err := NeedStandbys(s.in, leaving, Options{Set: s.o.Set, KafkaVersion: s.o.KafkaVersion, Force: s.o.Force}, -1)
	if err != nil {
		return err
	}
	need := r.Need
	if v, ok := s.o.Set[KeyStandbys]; ok { // a person wants to see that number
		if need, err = strconv.Atoi(v); err != nil {
			return &SettingError{KeyStandbys, v, "is no whole number"}
		}
	}
	var gone []int32
	var procs []*streamsProc
	var names []string
	for _, id := range r.Leaving {
		p, err := s.proc(id)
		if err != nil {
			return err
		}
		gone, procs, names = append(gone, p.party), append(procs, p), append(names, p.name)
	}
	slices.Sort(names)
	who := strings.Join(names, ", ")
	setting := func(from, to int) streamsRound {
		return streamsRound{trigger: KeyStandbys + " " + strconv.Itoa(from) + " -> " + strconv.Itoa(to), standbys: &to, settled: true}
	}
	s.set.Standbys = r.Before
	if need > r.Before {
		s.queue = append(s.queue, setting(r.Before, need))
	}
	stop := streamsRound{trigger: who + verb(len(names), " leaves", " leave"), leave: procs, gone: gone, most: float64(s.set.heartbeatMs), settled: true, unownedByLeaver: true}
	s.queue = append(s.queue, stop)
	if need > r.Before {
		s.queue = append(s.queue, setting(need, r.Before))
	}
	s.sayRaise(r, who, len(names))
	return nil
}

// sayRaise says how many standbys it takes.
func (s *streamsSim) sayRaise(r *Raise, who string, n int) {
	if !s.shown {
		return
	}
	stop := who + verb(n, " can stop", " can stop together or one after the other") + " with no task restoring cold"
	missing := Missing(r.Now)
	switch {
	case !r.Stays:
		s.rec.note(NoteRaise, "no instance stays that could take the tasks of %s", who)
	case r.Need == r.Before:
		s.rec.note(NoteRaise, "%s once its copies have caught up: %s %d is enough", stop, KeyStandbys, r.Before)
	case r.Need < 0:
		s.rec.note(NoteRaise, "no %s up to %d lets %s stop with no task restoring cold: %s would (%s)", KeyStandbys, r.Most, who, count(len(Missing(r.Then)), "task"), idsOf(Missing(r.Then)))
	default:
		s.rec.note(NoteRaise, "%s with %s %d, for which mark-leaving --raise-standbys raises it and puts it back; with %d, %s would restore cold (%s)",
			stop, KeyStandbys, r.Need, r.Before, count(len(missing), "task"), idsOf(missing))
	}
	if !r.Exact {
		s.rec.note(NoteUnknown, "where the broker puts tasks cannot be told: taken as if it could be any instance")
	}
}

// idsOf lists the first tasks of departures.
func idsOf(list []Departure) string {
	var ids []string
	for i, d := range list {
		if i == maxNamed {
			ids = append(ids, "and "+strconv.Itoa(len(list)-maxNamed)+" more")
			break
		}
		ids = append(ids, d.Task.String())
	}
	return strings.Join(ids, " ")
}
