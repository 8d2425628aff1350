package control

import (
	"slices"
	"time"
)

const (
	maxMarks = 100     // that one instance honours
	maxTasks = 100_000 // of one instance

	maxMembers = 1000 // of one instance
)

// Source is what wrote a status.
type Source string

// The sources.
const (
	SourceWorker Source = "worker"  // a worker of our own runtime
	SourcePlugIn Source = "plug-in" // our assignor inside Kafka Streams
)

// Status is the record "status/<instance>": what an instance says of itself.
type Status struct {
	Source     Source
	Software   string
	Version    string
	At         time.Time     // by its own clock, for people
	Generation *int32        // of the last round it took part in; nil: none yet, or not known
	Epoch      int64         // of the mode record that it follows; 0: none
	Mode       RebalanceMode // "" where the group has no mode

	ControlOffset *int64 // every record below it has been read; nil: not read yet
	ControlError  string // why the topic cannot be read or written; "" when it can

	Marks       []string // ids of the marks that it honours
	Leaving     bool
	Expired     bool   // its time is up and its tasks are closed; only with Leaving
	RemainingMs *int64 // how much longer it waits; nil: no deadline, or not leaving
	Workers     int32
	Members     []string // ids of the members it had then, of a plug-in; nil: not told
	Tasks       []Task   // sorted by id, each once
	Round       *Round   // nil: it does not lead

	ClientID string    // that its client ids begin with; "" where it does not say
	Host     string    // as it calls it; "" where it does not say
	Session  *int64    // session timeout of its members in ms; nil where it does not say
	Left     Departure // with Tasks empty: it has closed all

	Offset int64 // of the record read; not part of the value
}

type statusWire struct {
	schema
	Source      *string      `json:"source"`
	Software    *string      `json:"software"`
	Version     *string      `json:"version"`
	At          *string      `json:"at"`
	Generation  *int64       `json:"generation"`
	Epoch       *int64       `json:"epoch"`
	Mode        *string      `json:"mode"`
	Control     *controlWire `json:"control"`
	Marks       []string     `json:"marks"`
	Leaving     *bool        `json:"leaving"`
	Expired     *bool        `json:"expired"`
	RemainingMs *int64       `json:"remaining_ms"`
	Workers     *int64       `json:"workers"`
	Members     []string     `json:"members,omitempty"`
	Tasks       []taskWire   `json:"tasks"`
	ClientID    *string      `json:"client_id,omitempty"`
	Host        *string      `json:"host,omitempty"`
	SessionMs   *int64       `json:"session_ms,omitempty"`
	Left        *string      `json:"left,omitempty"`
	Round       *roundWire   `json:"round"`
}

type controlWire struct {
	Offset *int64  `json:"offset"`
	Error  *string `json:"error"`
}

// Record gives the record by which an instance, named by its UUID, says so.
// What makes it too large for a record is left out, least important first:
// positions and ends of tasks, then the round, then the tasks.
func (s Status) Record(instance string) (Record, error) {
	if !IsUUID(instance) {
		return Record{}, notUUID(instance)
	}
	value, err := s.Value()
	if err != nil {
		return Record{}, err
	}
	if _, err := DecodeStatus(value); err != nil {
		return Record{}, err
	}
	return Record{Key: KeyStatus(instance), Value: value}, nil
}

// Value gives what the record would hold. Whether a reader takes it, it does not
// say: it is for comparing one status with another.
func (s Status) Value() ([]byte, error) {
	s.Tasks = sortedTasks(s.Tasks)
	steps := []func(){
		func() {},
		func() {
			for i := range s.Tasks {
				s.Tasks[i].Position, s.Tasks[i].End = nil, nil
			}
		},
		func() { s.Round = nil },
		func() { s.Tasks = nil },
	}
	var value []byte
	var err error
	for _, leaveOut := range steps {
		leaveOut()
		if value, err = compact(s.wire()); err != nil {
			return nil, err
		}
		if len(value) <= MaxValue {
			break
		}
	}
	return value, nil
}

// NoStatus gives the tombstone for the status of an instance.
func NoStatus(instance string) Record { return Record{Key: KeyStatus(instance)} }

func (s *Status) wire() statusWire {
	return statusWire{
		schema:      ours(),
		Source:      ref(string(s.Source)),
		Software:    ref(cut(s.Software)),
		Version:     ref(cut(s.Version)),
		At:          written(s.At),
		Generation:  optional64(s.Generation),
		Epoch:       &s.Epoch,
		Mode:        orNull(string(s.Mode)),
		Control:     &controlWire{s.ControlOffset, orNull(cut(s.ControlError))},
		Marks:       orEmpty(s.Marks),
		Leaving:     &s.Leaving,
		Expired:     &s.Expired,
		RemainingMs: s.RemainingMs,
		Workers:     ref(int64(s.Workers)),
		Members:     s.Members,
		Tasks:       tasksWire(s.Tasks),
		ClientID:    orNull(cut(s.ClientID)),
		Host:        orNull(cut(s.Host)),
		SessionMs:   s.Session,
		Left:        orNull(string(s.Left)),
		Round:       s.Round.wire(),
	}
}

// DecodeStatus reads the value of a status; errors are *ValueError.
func DecodeStatus(value []byte) (Status, error) {
	var w statusWire
	if err := parse(value, &w); err != nil {
		return Status{}, err
	}
	var f fields
	s := Status{
		Source:      Source(need(&f, "source", w.Source)),
		Software:    f.text("software", w.Software),
		Version:     f.text("version", w.Version),
		At:          f.time("at", w.At),
		Generation:  f.optionalCount("generation", w.Generation),
		Epoch:       f.number("epoch", w.Epoch, 0, MaxEpoch),
		Marks:       f.ids("marks", w.Marks, maxMarks),
		Leaving:     need(&f, "leaving", w.Leaving),
		Expired:     need(&f, "expired", w.Expired),
		RemainingMs: f.optionalNumber("remaining_ms", w.RemainingMs),
		Workers:     f.count("workers", w.Workers),
		Tasks:       f.tasks("tasks", w.Tasks),
		ClientID:    f.optionalText("client_id", w.ClientID),
		Host:        f.optionalText("host", w.Host),
		Session:     f.optionalNumber("session_ms", w.SessionMs),
		Left:        departure(f.optionalText("left", w.Left)),
	}
	if w.Source != nil && s.Source != SourceWorker && s.Source != SourcePlugIn {
		f.wrong("source", "is neither %s nor %s", SourceWorker, SourcePlugIn)
	}
	if w.Mode != nil {
		s.Mode = f.mode("mode", w.Mode)
	}
	c := need(&f, "control", w.Control)
	s.ControlOffset = f.optionalNumber("control.offset", c.Offset)
	s.ControlError = f.optionalText("control.error", c.Error)
	if s.Expired && !s.Leaving {
		f.wrong("expired", "is true of an instance that is not leaving")
	}
	if s.RemainingMs != nil && !s.Leaving {
		f.wrong("remaining_ms", "is set of an instance that is not leaving")
	}
	if w.Members != nil {
		s.Members = f.ids("members", w.Members, maxMembers)
	}
	if w.Round != nil {
		s.Round = f.round("round", w.Round)
	}
	return s, f.result()
}

// Honours reports whether the instance says that it honours a mark.
func (s *Status) Honours(mark string) bool { return mark != "" && slices.Contains(s.Marks, mark) }
