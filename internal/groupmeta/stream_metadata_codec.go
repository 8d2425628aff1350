package groupmeta

import (
	"github.com/streamctl/streamctl/internal/model"
)

// The sections of the metadata, numbered from 1.
const (
	metaIdentity = 1 + iota
	metaRound
	metaLeaving
	metaMode
	metaSettings
	metaTopology
	metaTasks
)

// The wire numbers of the modes.
const (
	wireUpgrading   = 1
	wireIncremental = 2
)

func metadataSections() []string {
	return []string{"identity", "round", "leaving", "mode", "settings", "topology", "tasks"}
}

// DecodeStreamMetadata reads the metadata of a worker (docs/protocol/metadata.md).
// The error is a *DecodeError or, when the major version is newer than this
// build, a *StreamVersionError.
func DecodeStreamMetadata(b []byte) (*StreamMetadata, error) {
	r, err := openStream(KindMetadata, streamKindMetadata, b)
	if err != nil {
		return nil, err
	}
	m := &StreamMetadata{Minor: r.minor}
	err = r.sections(metadataSections(), func(section int) {
		switch section {
		case metaIdentity:
			m.StreamIdentity = r.identity()
		case metaRound:
			m.StreamRound = r.round()
		case metaLeaving:
			m.StreamLeaving = r.leaving()
		case metaMode:
			m.StreamModeState = r.modeState()
		case metaSettings:
			m.Settings = r.settings()
		case metaTopology:
			m.Topology = r.topology()
		case metaTasks:
			m.Tasks = r.metadataTasks()
		}
	})
	if err != nil {
		return nil, err
	}
	m.TrailingBytes = r.skipped
	return m, nil
}

// Encode writes the metadata in this build's version. It refuses what
// DecodeStreamMetadata would report: malformed tags, a task twice, numbers out
// of range, text that is not UTF-8.
func (m *StreamMetadata) Encode() ([]byte, error) {
	w := newStreamWriter(KindMetadata, streamKindMetadata, 256+4*len(m.Tasks))
	w.section(metaIdentity, func() { w.identity(&m.StreamIdentity) })
	w.section(metaRound, func() { w.round(&m.StreamRound) })
	w.section(metaLeaving, func() { w.leaving(&m.StreamLeaving) })
	w.section(metaMode, func() { w.modeState(&m.StreamModeState) })
	w.section(metaSettings, func() { w.settings(&m.Settings) })
	w.section(metaTopology, func() { w.topology(m.Topology) })
	w.section(metaTasks, func() { w.metadataTasks(m.Tasks) })
	return w.finish()
}

func (r *streamReader) identity() StreamIdentity {
	return StreamIdentity{
		Instance: r.uuid("identity.instance"),
		Workers:  r.uint31From("identity.workers", 1),
		Worker:   r.text("identity.worker", 0),
		Host:     r.text("identity.host", 0),
		ClientID: r.text("identity.client_id", 0),
	}
}

func (w *streamWriter) identity(i *StreamIdentity) {
	w.uuid("identity.instance", i.Instance)
	w.number("identity.workers", int64(i.Workers), 1)
	w.text("identity.worker", i.Worker, 0)
	w.text("identity.host", i.Host, 0)
	w.text("identity.client_id", i.ClientID, 0)
}

func (r *streamReader) round() StreamRound {
	const carried = 1
	flags := r.flags("round.flags", carried)
	return StreamRound{
		Carried:         flags&carried != 0,
		Generation:      r.uint31("round.generation"),
		GenerationEpoch: r.uint63("round.generation_epoch"),
		LastInstances:   r.uint31("round.last_instances"),
		Request:         r.uint63("round.request"),
	}
}

func (w *streamWriter) round(o *StreamRound) {
	w.flags(o.Carried)
	w.number("round.generation", int64(o.Generation), 0)
	w.number("round.generation_epoch", o.GenerationEpoch, 0)
	w.number("round.last_instances", int64(o.LastInstances), 0)
	w.number("round.request", o.Request, 0)
}

func (r *streamReader) leaving() StreamLeaving {
	const leaving, expired, deadline = 1, 2, 4
	at := r.off
	flags := r.flags("leaving.flags", leaving|expired|deadline)
	if flags != 0 && flags&leaving == 0 {
		r.fail("leaving.flags", at, "expired or with a deadline, but not leaving")
	}
	l := StreamLeaving{
		Leaving:     flags&leaving != 0,
		Expired:     flags&expired != 0,
		RemainingMs: r.optional("leaving.remaining_ms", flags&deadline != 0),
	}
	at = r.off
	l.Marks = r.texts("leaving.marks")
	if r.err == nil && !l.Leaving && len(l.Marks) > 0 {
		r.fail("leaving.marks", at, "marks of a worker that is not leaving")
	}
	return l
}

func (w *streamWriter) leaving(l *StreamLeaving) {
	if !l.Leaving && (l.Expired || l.RemainingMs.Known || len(l.Marks) > 0) {
		w.fail("leaving.flags", "expired, a deadline or marks, but not leaving")
	}
	w.flags(l.Leaving, l.Expired, l.RemainingMs.Known)
	w.optional("leaving.remaining_ms", l.RemainingMs, 0)
	w.texts("leaving.marks", l.Marks)
}

// mode reads the number of a mode.
func (r *streamReader) mode(field string) StreamMode {
	at := r.off
	switch n := r.int8(field); n {
	case wireUpgrading:
		return StreamUpgrading
	case wireIncremental:
		return StreamIncremental
	default:
		r.fail(field, at, "unknown mode %d", n)
		return ""
	}
}

func (w *streamWriter) mode(field string, m StreamMode) {
	switch m {
	case StreamUpgrading:
		w.int8(wireUpgrading)
	case StreamIncremental:
		w.int8(wireIncremental)
	default:
		w.fail(field, "unknown mode %q", m)
	}
}

func (r *streamReader) modeState() StreamModeState {
	const switching = 1
	flags := r.flags("mode.flags", switching)
	return StreamModeState{
		Mode:              r.mode("mode.mode"),
		Epoch:             r.uint63("mode.epoch"),
		SwitchRemainingMs: r.optional("mode.switch_remaining_ms", flags&switching != 0),
	}
}

func (w *streamWriter) modeState(s *StreamModeState) {
	w.flags(s.SwitchRemainingMs.Known)
	w.mode("mode.mode", s.Mode)
	w.number("mode.epoch", s.Epoch, 0)
	w.optional("mode.switch_remaining_ms", s.SwitchRemainingMs, 0)
}

func (r *streamReader) metadataTasks() []StreamTask {
	return readStreamTasks(r, func(t *StreamTask) *model.TaskID { return &t.ID }, func(t *StreamTask, flags byte, at int) {
		t.Role, t.Tags = r.roleAndTags(flags, at)
		t.Lag = r.optional("tasks.lag", flags&taskHasLag != 0)
	})
}

func (w *streamWriter) metadataTasks(tasks []StreamTask) {
	w.tasks(len(tasks), func(i int) model.TaskID { return tasks[i].ID }, func(i int) {
		t := &tasks[i]
		var more byte
		if t.Lag.Known {
			more = taskHasLag
		}
		w.taskFlags(t.ID, t.Role, t.Tags, more)
		w.optional("tasks.lag", t.Lag, 0)
	})
}
