package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// flat puts wrapped text on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// An instance that died took its name with it: the marks of those that are gone
// are shown with the command that takes them away.
func TestUnmarkShowsMarksOfTheDead(t *testing.T) {
	const dead = "20000000-0000-0000-0000-000000000001"
	c := clicksGroup(t)
	r, err := control.Leaving{Mark: "old", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Who: "bob@ops-2", Reason: "node drain"}.Record(dead)
	if err != nil {
		t.Fatal(err)
	}
	c.state = append(c.state, snapshot.ControlRecord{Key: r.Key, Value: r.Value, Offset: 900})
	got := runWith(t, fakeDeps(t, c), "unmark", "pod-x", "-g", "clicks")
	want := "an instance that is gone has a mark, by bob@ops-2 at 2026-03-01T12:00:00Z (node drain): unmark " + dead + " -g clicks"
	if got.code != 1 || !strings.Contains(flat(got.err), want) || len(c.written) != 0 {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	for i := range 9 {
		key := control.KeyLeaving("20000000-0000-0000-0000-00000000001" + string(rune('0'+i)))
		c.state = append(c.state, snapshot.ControlRecord{Key: key, Value: r.Value, Offset: int64(901 + i)})
	}
	got = runWith(t, fakeDeps(t, c), "unmark", "pod-x", "-g", "clicks")
	first, more := strings.Index(flat(got.err), "unmark "+dead), strings.Index(flat(got.err), "and more marks of instances that are gone")
	if first < 0 || more < first || strings.Count(flat(got.err), "has a mark") != 4 {
		t.Errorf("of ten marks four are shown, then that there are more:\n%s", got.err)
	}
	if got = runWith(t, fakeDeps(t, c), "unmark", dead, "-g", "clicks"); got.code != 0 || len(c.written) != 1 || c.written[0].Key != r.Key {
		t.Errorf("as the hint says: exit code %d\n%s", got.code, got.err)
	}
}

// However many instances that are gone had one name, the error is short enough
// to be read.
func TestUnmarkOfANameThatManyHad(t *testing.T) {
	c := clicksGroup(t)
	r, err := control.Leaving{Mark: "old", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Who: "bob@ops-2", Name: "pod-x"}.Record(podA)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		key := control.KeyLeaving(fmt.Sprintf("20000000-0000-4000-8000-%012d", i))
		c.state = append(c.state, snapshot.ControlRecord{Key: key, Value: r.Value, Offset: int64(900 + i)})
	}
	got := runWith(t, fakeDeps(t, c), "unmark", "pod-x", "-g", "clicks")
	if got.code != 1 || !strings.Contains(flat(got.err), "-000000000004 (pod-x), 1995 more hint: name one by its UUID") || len(c.written) != 0 {
		t.Errorf("exit code %d\n%.600s", got.code, got.err)
	}
}

// A mark of newer software counts as none here, and may be followed by others:
// that is said, and unmark takes it away.
func TestUnreadableMarkIsTold(t *testing.T) {
	c := clicksGroup(t)
	c.state = append(c.state, snapshot.ControlRecord{Key: control.KeyLeaving(podA), Value: []byte(`{"schema_version":99}`), Offset: 900})
	got := runWith(t, fakeDeps(t, c), "mark-leaving", "pod-a", "-g", "clicks", "--dry-run")
	if got.code != 0 || !strings.Contains(flat(got.err), "at offset 900 does not decode and counts as no mark") {
		t.Errorf("mark-leaving: exit code %d\n%s", got.code, got.err)
	}
	got = runWith(t, fakeDeps(t, c), "unmark", "pod-a", "-g", "clicks")
	if got.code != 0 || !strings.Contains(flat(got.err), "at offset 900 does not decode") || len(c.written) != 1 || c.written[0].Key != control.KeyLeaving(podA) || c.written[0].Value != nil {
		t.Errorf("unmark: exit code %d, %d records\n%s", got.code, len(c.written), got.err)
	}
}

// Bytes of a stranger in the control topic, which every reader passes over, keep
// nobody from marking and from taking marks back; they are told.
func TestForeignBytesStopNoChange(t *testing.T) {
	const text = "the records before offset 218 cannot be read and are passed over"
	for _, args := range [][]string{
		{"mark-leaving", "pod-a", "-g", "clicks"}, {"unmark", "pod-c", "-g", "clicks"}, {"replace", "clicks", "--with", "1", "--yes", "--timeout", "300ms"},
	} {
		c := clicksGroup(t)
		c.answers[0].Errors = append(c.answers[0].Errors, snapshot.Error{Object: "topic clicks-streamctl-control", Text: text})
		got := runWith(t, fakeDeps(t, c), args...)
		if len(c.written) == 0 || !strings.Contains(flat(got.err), text) || args[0] != "replace" && got.code != 0 {
			t.Errorf("%v: exit code %d, %d records\n%s", args, got.code, len(c.written), got.err)
		}
	}
}

// slowTopic writes at once, and does not answer before the caller gives up.
type slowTopic struct{ *steeredCluster }

func (c slowTopic) WriteControl(ctx context.Context, group string, records ...control.Record) ([]int64, error) {
	if _, err := c.steeredCluster.WriteControl(ctx, group, records...); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A replacement whose time is up while it writes marks does not say that it
// waits for instances that are there, nor that nothing is marked.
func TestReplaceTimesOutWhileItMarks(t *testing.T) {
	c := clicksGroup(t)
	c.state = append(c.state, replaceRecord(t, podA))
	got := runWith(t, fakeDeps(t, slowTopic{c}), "replace", "clicks", "--yes", "--timeout", "300ms")
	if got.code != 4 || !strings.Contains(flat(got.out), "not replaced: pod-a may be marked; the replacement stays as it is") || len(c.written) != 1 {
		t.Errorf("exit code %d, %d records\n%s%s", got.code, len(c.written), got.out, got.err)
	}
}

func replaceRecord(t *testing.T, old ...string) snapshot.ControlRecord {
	t.Helper()
	r, err := control.Replace{Mark: "replace-1", Old: old, With: 1, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Who: "alice@ops-1"}.Record()
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.ControlRecord{Key: r.Key, Value: r.Value, Offset: 950}
}

// The end of a replacement in an app with the plug-in takes effect with a round:
// it is asked for, as by unmark.
func TestReplaceAbandonedAsksForARound(t *testing.T) {
	p := plugged(t)
	got := runWith(t, fakeDeps(t, p), "mark-leaving", "pod-a", "-g", p.id)
	if got.code != 0 || len(p.written) != 1 || p.visits != 1 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	l, err := control.DecodeLeaving(p.written[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	_, id := control.ParseKey(p.written[0].Key)
	r, err := control.Replace{Mark: l.Mark, Old: []string{id}, With: 1, At: l.At, Who: "alice@ops-1"}.Record()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WriteControl(t.Context(), p.id, r); err != nil {
		t.Fatal(err)
	}
	p.written = nil
	got = runWith(t, fakeDeps(t, p), "replace", p.id, "--abandon", "--yes")
	if got.code != 0 || len(p.written) != 2 || p.visits != 2 || !strings.Contains(got.out, "ended: the replacement; pod-a stay") {
		t.Errorf("exit code %d, %d records, %d visits\n%s%s", got.code, len(p.written), p.visits, got.out, got.err)
	}
}

// That there is no mark is said once.
func TestUnmarkOfTheUnmarked(t *testing.T) {
	for flag, want := range map[string]string{"": "not marked: pod-a", "--dry-run": "pod-a is not marked"} {
		c := clicksGroup(t)
		args := slices.DeleteFunc([]string{"unmark", "pod-a", "-g", "clicks", flag}, func(s string) bool { return s == "" })
		got := runWith(t, fakeDeps(t, c), args...)
		if all := got.out + got.err; got.code != 0 || strings.Count(all, "not marked") != 1 || !strings.Contains(all, want) || len(c.written) != 0 {
			t.Errorf("unmark %s: exit code %d, %d written\n%s%s", flag, got.code, len(c.written), got.out, got.err)
		}
	}
}
