package control_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// What follows draws values in the form in which they are decoded.

func drawTime(t *rapid.T, label string) time.Time {
	return time.UnixMilli(rapid.Int64Range(-62135596800000, 253402300799999).Draw(t, label)).UTC()
}

func drawText(t *rapid.T, label string) string { return rapid.StringN(0, 50, 200).Draw(t, label) }
func drawID(t *rapid.T, label string) string   { return rapid.StringN(1, 50, 200).Draw(t, label) }

func drawUUID(t *rapid.T, label string) string {
	return rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).Draw(t, label)
}

func drawMaybe[T any](t *rapid.T, label string, g *rapid.Generator[T]) *T {
	return rapid.Ptr(g, true).Draw(t, label)
}

func drawMode(t *rapid.T) control.Mode {
	return control.Mode{
		Mode:    rapid.SampledFrom([]control.RebalanceMode{control.Upgrading, control.Incremental}).Draw(t, "mode"),
		Epoch:   rapid.Int64Range(1, control.MaxEpoch).Draw(t, "epoch"),
		Allowed: time.Duration(rapid.Int64Range(1, 86_400_000).Draw(t, "allowed")) * time.Millisecond,
		At:      drawTime(t, "at"), Who: drawText(t, "who"), Reason: drawText(t, "reason"),
	}
}

func drawLeaving(t *rapid.T) control.Leaving {
	l := control.Leaving{Mark: drawID(t, "mark"), At: drawTime(t, "at"), Who: drawText(t, "who"), Reason: drawText(t, "reason")}
	if ms := drawMaybe(t, "timeout", rapid.Int64Range(0, 315_360_000_000)); ms != nil {
		d := time.Duration(*ms) * time.Millisecond
		l.Timeout = &d
	}
	if rapid.Bool().Draw(t, "has deadline") {
		at := drawTime(t, "deadline")
		l.Deadline = &at
	}
	return l
}

func drawStandbys(t *rapid.T) control.Standbys {
	s := control.Standbys{
		BeforeOwn: rapid.Bool().Draw(t, "own"), Set: drawID(t, "set"), At: drawTime(t, "at"), Who: drawText(t, "who"), Reason: drawText(t, "reason"),
		Instances: rapid.SliceOfN(rapid.StringN(1, 20, 60), 1, 5).Draw(t, "instances"),
	}
	if rapid.Bool().Draw(t, "known") {
		s.Before = drawID(t, "before")
	}
	return s
}

// drawTasks draws tasks of a status, or of a round.
func drawTasks(t *rapid.T, round bool) []control.Task {
	type sound struct {
		role model.Role
		tags []model.Tag
	}
	kinds := []sound{
		{model.Active, []model.Tag{}},
		{model.Active, []model.Tag{model.IsStateful}},
		{model.Active, []model.Tag{model.IsStateful, model.BeingLearned, model.IsLeaving}},
		{model.Standby, []model.Tag{}},
		{model.Standby, []model.Tag{model.IsStateful}},
		{model.Learner, []model.Tag{model.IsStateful, model.IsLearner}},
		{model.Learner, []model.Tag{model.IsStateful, model.IsLearner, model.IsReady}},
	}
	ids := map[model.TaskID]bool{}
	for range rapid.IntRange(0, 6).Draw(t, "tasks") {
		ids[model.ClassicTask("", rapid.Int32Range(0, 20).Draw(t, "sub"), rapid.Int32Range(0, 20).Draw(t, "part"))] = true
	}
	number := rapid.Int64Range(0, math.MaxInt64)
	out := []control.Task{}
	for _, id := range slices.SortedFunc(maps.Keys(ids), model.TaskID.Compare) {
		k := rapid.SampledFrom(kinds).Draw(t, "kind")
		task := control.Task{ID: id, Role: k.role, Tags: k.tags, Lag: drawMaybe(t, "lag", number)}
		if round {
			task.Reason = rapid.SampledFrom([]string{"", control.ReasonBalance, control.ReasonEvacuation, control.ReasonUnknown}).Draw(t, "reason")
		} else {
			task.Position, task.End = drawMaybe(t, "position", number), drawMaybe(t, "end", number)
		}
		out = append(out, task)
	}
	return out
}

func drawStatus(t *rapid.T) control.Status {
	count := rapid.Int32Range(0, math.MaxInt32)
	number := rapid.Int64Range(0, math.MaxInt64)
	s := control.Status{
		Source:   rapid.SampledFrom([]control.Source{control.SourceWorker, control.SourcePlugIn}).Draw(t, "source"),
		Software: drawText(t, "software"), Version: drawText(t, "version"), At: drawTime(t, "at"),
		Generation: drawMaybe(t, "generation", count), Epoch: rapid.Int64Range(0, control.MaxEpoch).Draw(t, "epoch"),
		Mode:          rapid.SampledFrom([]control.RebalanceMode{"", control.Upgrading, control.Incremental}).Draw(t, "mode"),
		ControlOffset: drawMaybe(t, "offset", number), ControlError: drawText(t, "error"),
		Marks:   rapid.SliceOfN(rapid.StringN(1, 20, 60), 0, 3).Draw(t, "marks"),
		Leaving: rapid.Bool().Draw(t, "leaving"), Workers: count.Draw(t, "workers"), Tasks: drawTasks(t, false),
	}
	if s.Leaving {
		s.Expired, s.RemainingMs = rapid.Bool().Draw(t, "expired"), drawMaybe(t, "remaining", number)
	}
	if rapid.Bool().Draw(t, "leads") {
		s.Round = drawRound(t)
	}
	if s.Source == control.SourcePlugIn {
		s.Members = drawIDs(t, "members")
	}
	return s
}

// drawIDs gives ids, nil for none.
func drawIDs(t *rapid.T, name string) []string {
	if ids := rapid.SliceOfN(rapid.StringN(1, 20, 60), 0, 3).Draw(t, name); len(ids) > 0 {
		return ids
	}
	return nil
}

func drawRound(t *rapid.T) *control.Round {
	names := rapid.SliceOfN(rapid.StringN(1, 10, 40), 0, 2)
	r := control.Round{
		Generation: drawMaybe(t, "generation", rapid.Int32Range(0, math.MaxInt32)),
		Settings: control.Settings{
			BalancingFactor: rapid.Int64Range(1000, math.MaxInt64).Draw(t, "factor"), StandbyReplicas: rapid.Int32Range(0, 9).Draw(t, "standbys"),
			AcceptableRecoveryLag: rapid.Int64Range(0, math.MaxInt64).Draw(t, "acceptable"),
			MaxLearners:           drawMaybe(t, "max learners", rapid.Int64Range(1, math.MaxInt64)),
			RejoinPolicy:          rapid.SampledFrom([]string{"stable", "eager"}).Draw(t, "policy"),
			ScaleDownTimeoutMs:    drawMaybe(t, "timeout", rapid.Int64Range(0, math.MaxInt64)),
		},
		Topology: []control.Subtopology{}, Instances: []control.RoundInstance{},
		FollowUpMs: drawMaybe(t, "follow-up", rapid.Int64Range(100, 3_600_000)),
		MarksVoid:  rapid.Bool().Draw(t, "void"), AnotherRound: rapid.Bool().Draw(t, "another"),
	}
	for i := range rapid.Int32Range(0, 3).Draw(t, "subtopologies") {
		r.Topology = append(r.Topology, control.Subtopology{
			ID: i * 2, Stateful: rapid.Bool().Draw(t, "stateful"), Partitions: rapid.Int32Range(0, 99).Draw(t, "partitions"),
			SourceTopics: names.Draw(t, "sources"), RepartitionSourceTopics: names.Draw(t, "rsources"), RepartitionSinkTopics: names.Draw(t, "rsinks"),
			ChangelogTopics: names.Draw(t, "changelogs"), Stores: names.Draw(t, "stores"),
		})
	}
	ids := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "instances") {
		ids[drawUUID(t, "id")] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		r.Instances = append(r.Instances, control.RoundInstance{
			ID: id, Workers: rapid.Int32Range(0, 9).Draw(t, "workers"), Leaving: rapid.Bool().Draw(t, "leaving"), PlugIn: rapid.Bool().Draw(t, "plug-in"),
			Marks: names.Draw(t, "marks"), Tasks: drawTasks(t, true),
		})
	}
	return &r
}

// What is written is read as it was.
func TestDecodeOfEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode, leaving, standbys, status := drawMode(t), drawLeaving(t), drawStandbys(t), drawStatus(t)
		id := drawUUID(t, "instance")
		same(t, mode, mode.Record, control.DecodeMode)
		same(t, leaving, func() (control.Record, error) { return leaving.Record(id) }, control.DecodeLeaving)
		same(t, standbys, standbys.Record, control.DecodeStandbys)
		same(t, status, func() (control.Record, error) { return status.Record(id) }, control.DecodeStatus)
	})
}

func same[T any](t *rapid.T, want T, record func() (control.Record, error), decode func([]byte) (T, error)) {
	r, err := record()
	if err != nil {
		t.Fatalf("%+v: %v", want, err)
	}
	got, err := decode(r.Value)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\ngives %+v, %v\nwant %+v", r.Value, got, err, want)
	}
}

// The state depends on the last record of each key only: what was overwritten
// may be missing, and keys may come in any order.
func TestFoldDependsOnTheLastRecordOfAKey(t *testing.T) {
	keys := []string{"mode", "standbys", "leaving/" + anInstance, "status/" + anInstance, "leaving/x", "other"}
	rapid.Check(t, func(t *rapid.T) {
		var all []control.Record
		last := map[string]control.Record{}
		for i := range rapid.IntRange(0, 12).Draw(t, "records") {
			r := control.Record{Key: rapid.SampledFrom(keys).Draw(t, "key"), Offset: int64(i)}
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case what == 0: // tombstone
			case what == 1:
				r.Value = []byte(fmt.Sprintf("garbage %d", i))
			default:
				r.Value = valueFor(t, r.Key)
			}
			all, last[r.Key] = append(all, r), r
		}
		compacted := rapid.Permutation(slices.SortedFunc(maps.Values(last), func(a, b control.Record) int { return cmp.Compare(a.Key, b.Key) })).Draw(t, "order")
		a, b := control.Fold(all), control.Fold(compacted)
		if !reflect.DeepEqual(seen(a), seen(b)) {
			t.Fatalf("all:       %+v\ncompacted: %+v", a, b)
		}
	})
}

// seen is what a state says.
func seen(s control.State) []any {
	marks, status := maps.Clone(s.Leaving), maps.Clone(s.Status)
	if len(marks) == 0 {
		marks = nil
	}
	if len(status) == 0 {
		status = nil
	}
	var problems []string
	for _, p := range s.Problems() {
		problems = append(problems, fmt.Sprint(p.Key, p.Offset, p.Err))
	}
	return []any{s.Mode, s.Standbys, marks, status, s.Offset, s.Orders, problems}
}

func valueFor(t *rapid.T, key string) []byte {
	var r control.Record
	var err error
	switch key {
	case "mode":
		r, err = drawMode(t).Record()
	case "standbys":
		r, err = drawStandbys(t).Record()
	case "status/" + anInstance:
		r, err = drawStatus(t).Record(anInstance)
	default:
		r, err = drawLeaving(t).Record(anInstance)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Value
}
