package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// FromGroup makes the input of a plan from a group. The error is a
// *RefusedError where no plan can be made for such a group.
func FromGroup(g *model.Group) (*Input, error) {
	if !g.Kind.IsStream() {
		return nil, &RefusedError{Group: g.ID, Why: fmt.Sprintf("is a %s group, not a stream group: there is nothing to plan", g.Kind)}
	}
	in := &Input{
		Group: g.ID, Kind: g.Kind, State: g.State, ClusterID: g.ClusterID, TakenAt: g.TakenAt,
		KafkaVersion: g.Facts.KafkaVersion, TopicRacks: g.Facts.TopicRacks, Fingerprint: Fingerprint(g), AsOf: g.Positions.AsOf, group: g,
	}
	switch g.Kind {
	case model.Classic:
		in.Assignor = assign.NameHighAvailability
	case model.Streams:
		in.Assignor = assign.NameStreamsSticky
	case model.Worker:
		in.Assignor = NameLearner
	}
	if g.Epoch != nil {
		in.Epoch = *g.Epoch
	}
	if err := in.topology(g); err != nil {
		return nil, err
	}
	in.timing(g)
	in.instances(g)
	in.plugIn(g)
	in.planned(g)
	in.restoring(g)
	return in, nil
}

// RefusedError says why no plan is made.
type RefusedError struct {
	Group, Why string
	Hint       string // what to do instead; "" when there is nothing
	Forceable  bool   // Options.Force plans all the same
}

func (e *RefusedError) Error() string { return fmt.Sprintf("group %q %s", e.Group, e.Why) }

func (in *Input) timing(g *model.Group) {
	set := func(key, value, source string) {
		in.Settings = append(in.Settings, Setting{key, value, source})
	}
	for _, s := range g.Facts.Settings {
		set(s.Key, s.Value, s.Source)
	}
	t := &g.Timing
	if t.SessionMs != nil {
		set(KeySession, strconv.FormatInt(*t.SessionMs, 10), cmp.Or(t.Source, "group config"))
	}
	if t.HeartbeatMs != nil {
		set(KeyHeartbeat, strconv.FormatInt(*t.HeartbeatMs, 10), cmp.Or(t.Source, "group config"))
	}
	if t.Standbys != nil {
		set(KeyStandbys, strconv.Itoa(*t.Standbys), cmp.Or(t.StandbysSource, "estimate"))
	}
}

func (in *Input) instances(g *model.Group) {
	silent := 0
	for i := range g.Instances {
		from := &g.Instances[i]
		out := Instance{ID: from.ID, Name: from.Name, Tags: from.Tags, Leaving: from.Leaving != nil, RemainingMs: -1}
		switch mark := from.Leaving; {
		case mark == nil:
		case mark.Expired:
			out.RemainingMs = 0
		case mark.RemainingMs != nil:
			out.RemainingMs = *mark.RemainingMs
		}
		for j := range from.Members {
			m := in.member(&from.Members[j])
			if m.Reported == nil && g.Kind == model.Classic && from.Members[j].Metadata.Status != model.MetadataOK {
				silent++
			}
			out.Members = append(out.Members, m)
		}
		in.Instances = append(in.Instances, out)
	}
	if silent > 0 {
		in.note(NoteUnknown, "the metadata of %s could not be read: taken as if they had reported nothing", count(silent, "member"))
	}
}

func (in *Input) member(from *model.Member) Member {
	out := Member{
		ID: from.ID, Name: from.Name, ClientID: from.ClientID, Thread: from.Thread, Static: from.InstanceID != "",
		Rack: from.Rack, Place: from.Place, ReportsOffsets: from.ReportsOffsets,
	}
	var silent []string
	for i := range from.Tasks {
		t := &from.Tasks[i]
		id, ok := in.Topology.Find(t.ID)
		if !ok {
			continue
		}
		in.placeTask(&out, t, id)
		if t.Role == model.Active && t.Stateful != nil && *t.Stateful && !t.Restore.Reported && in.Kind == model.Classic && !t.TargetOnly {
			silent = append(silent, t.ID.String())
		}
	}
	if n := len(silent); n > 0 {
		more := ""
		if n > maxNamed {
			silent, more = silent[:maxNamed], fmt.Sprintf(" and %d more", n-maxNamed)
		}
		in.note(NoteNoOffset, "%s reported no offset sum for its active %s%s at its last join: the prediction treats their state then as unknown", from.Name, strings.Join(silent, " "), more)
	}
	for _, r := range from.Reported {
		if t, ok := in.Topology.Find(r.Task); ok {
			sum := r.Sum
			if in.Kind == model.Worker && sum >= 0 { // a worker reports its lag
				sum = max(0, in.Topology.Subtopologies()[in.sub(t)].EndOffsets[r.Task.Partition]-sum)
			}
			out.Reported = append(out.Reported, assign.Offset{Task: t, Sum: sum})
		}
	}
	if n := from.Assignment.NextRebalanceMs; n != nil {
		switch {
		case *n == 0:
			out.Next = assign.NextNow
		case *n < latestMs:
			out.Next = assign.NextProbing
		}
	}
	return out
}

// maxNamed is how many tasks a finding names.
const maxNamed = 12

// sub is the sub-topology of a task.
func (in *Input) sub(t assign.Task) int {
	for i := range in.Topology.Subtopologies() {
		if _, end := in.Topology.Tasks(i); t < end {
			return i
		}
	}
	return 0
}

// latestMs is the last millisecond of the year 9999: what is planned later is
// not planned.
const latestMs = 253402300799999

func (in *Input) placeTask(m *Member, t *model.Task, id assign.Task) {
	add := func(list *[]assign.Task) {
		if !slices.Contains(*list, id) {
			*list = append(*list, id)
		}
	}
	if t.TargetOnly {
		if t.Role == model.Active {
			add(&m.TargetActive)
		} else {
			add(&m.TargetStandby)
		}
		return
	}
	switch t.Role {
	case model.Active:
		add(&m.Active)
		if t.LeavesTo == "" {
			add(&m.TargetActive)
		}
	case model.Learner:
		add(&m.Learner)
	default:
		add(&m.Standby)
		if in.Kind == model.Streams {
			add(&m.TargetStandby)
		}
	}
}

// restoring notes active tasks that wait for their state now: that is no
// consequence of a change, and the plan takes them as running. A classic group
// tells positions of its last round only.
func (in *Input) restoring(g *model.Group) {
	if g.Kind == model.Classic {
		return
	}
	tasks, records := 0, int64(0)
	var where []string
	for i := range g.Instances {
		n := tasks
		for j := range g.Instances[i].Members {
			for _, t := range g.Instances[i].Members[j].Tasks {
				if r := t.Restore; t.Role == model.Active && !t.TargetOnly && r.State == model.Restoring && r.RemainingRecords != nil {
					tasks, records = tasks+1, records+*r.RemainingRecords
				}
			}
		}
		if tasks > n {
			where = append(where, g.Instances[i].Name)
		}
	}
	if tasks == 0 {
		return
	}
	if len(where) > maxNamed {
		where = append(where[:maxNamed], fmt.Sprintf("%d more", len(where)-maxNamed))
	}
	in.note(NoteRestoring, "%s down already until restored, ≤%s to go (%s): that is not counted here, they are taken as running", count(tasks, "task")+verb(tasks, " is", " are"), model.Count(int(records), "record"), strings.Join(where, ", "))
}

// planned notes what the group is about to do by itself.
func (in *Input) planned(g *model.Group) {
	in.Settled = true
	for _, i := range in.Instances {
		for _, m := range i.Members {
			in.Settled = in.Settled && m.Next == assign.NextNone
		}
	}
	if n := g.NextRebalance; n != nil {
		in.Settled = false
		ms := max(n.InMs, 0)
		in.NextMs = &ms
	}
}

func (in *Input) note(code, format string, args ...any) {
	in.Findings = append(in.Findings, Finding{Code: code, Text: fmt.Sprintf(format, args...)})
}

func count(n int, thing string) string { return model.Count(n, thing) }

// IsRefused reports whether an error says that no plan is made, and how.
func IsRefused(err error) (*RefusedError, bool) { return errors.AsType[*RefusedError](err) }
