package cmd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// steeredCluster answers as fakeCluster does, and keeps what is written into the
// control topic of its one group.
type steeredCluster struct {
	fakeCluster
	written []control.Record
	state   []snapshot.ControlRecord
	refuse  error
	after   func(*steeredCluster) // once records were written
}

func (c *steeredCluster) WriteControl(_ context.Context, _ string, records ...control.Record) ([]int64, error) {
	offsets := make([]int64, len(records))
	if c.refuse != nil {
		return offsets, c.refuse
	}
	for i, r := range records {
		c.written = append(c.written, r)
		offsets[i] = int64(100 + len(c.written))
		c.state = slices.DeleteFunc(c.state, func(o snapshot.ControlRecord) bool { return o.Key == r.Key })
		if len(r.Value) > 0 {
			c.state = append(c.state, snapshot.ControlRecord{Key: r.Key, Value: r.Value, Offset: offsets[i]})
		}
	}
	if c.after != nil {
		c.after(c)
	}
	return offsets, nil
}

func (c *steeredCluster) Snapshot(ctx context.Context, q kclient.Query) (*snapshot.Snapshot, error) {
	s, err := c.fakeCluster.Snapshot(ctx, q)
	if err != nil {
		return nil, err
	}
	s.Groups = slices.Clone(s.Groups)
	for i := range s.Groups {
		s.Groups[i].Control, s.Groups[i].ControlEnd = c.state, new(int64)
	}
	return s, nil
}

// clicksGroup is the recorded worker group in which pod-c is marked and drained.
func clicksGroup(t *testing.T) *steeredCluster {
	t.Helper()
	s := fixture(t, "../control/worker-leaving")
	return &steeredCluster{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{s}}, state: s.Group("clicks").Control}
}

const (
	podA = "10000000-0000-0000-0000-000000000900"
	podB = "10000000-0000-0000-0000-000000000901"
	podC = "10000000-0000-0000-0000-000000000902"
)

// What is written is a mark that its readers take, with all that was asked for;
// several instances are written in one go.
func TestMarkLeavingWritesMarks(t *testing.T) {
	c := clicksGroup(t)
	d := fakeDeps(t, c)
	d.who = func() string { return "alice@ops-1" }
	got := runWith(t, d, "mark-leaving", "pod-a", "pod-c", "-g", "clicks", "--scale-down-timeout", "90s", "--reason", "node drain")
	if got.code != 0 || len(c.written) != 1 {
		t.Fatalf("exit code %d, %d records (pod-c has this deadline already)\n%s", got.code, len(c.written), got.err)
	}
	l, err := control.DecodeLeaving(c.written[0].Value)
	if err != nil || c.written[0].Key != "leaving/"+podA || l.Who != "alice@ops-1" || l.Reason != "node drain" || l.Timeout == nil || *l.Timeout != 90*time.Second ||
		l.Deadline == nil || !control.IsUUID(l.Mark) {
		t.Errorf("%+v, %v", l, err)
	}
	c.written = nil
	if got = runWith(t, fakeDeps(t, c), "mark-leaving", "pod-a", "pod-c", "-g", "clicks", "--scale-down-timeout", "10m"); got.code != 0 || len(c.written) != 2 {
		t.Fatalf("a new timeout: exit code %d, %d records\n%s", got.code, len(c.written), got.err)
	}
	for _, r := range c.written {
		again, err := control.DecodeLeaving(r.Value)
		if err != nil || *again.Timeout != 10*time.Minute || again.Reason != "node drain" || r.Key == "leaving/"+podC && again.Mark != "drain-1" || r.Key == "leaving/"+podA && again.Mark != l.Mark {
			t.Errorf("%s: %+v, %v", r.Key, again, err)
		}
	}
}

// Two operators mark one instance: the last record counts, and the other tool
// says whose it is.
func TestMarkLeavingFindsAForeignMark(t *testing.T) {
	c := clicksGroup(t)
	c.after = func(c *steeredCluster) {
		c.after = nil
		r, err := control.Leaving{Mark: "theirs", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Who: "bob@ops-2", Reason: "mine"}.Record(podA)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.WriteControl(t.Context(), "clicks", r); err != nil {
			t.Fatal(err)
		}
	}
	got := runWith(t, fakeDeps(t, c), "mark-leaving", "pod-a", "-g", "clicks", "--wait")
	if got.code != 1 || got.out != "" || !strings.Contains(got.err, "after this mark of pod-a there is another, by bob@ops-2 at 2026-03-01T12:00:00Z (mine): that one counts") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// Two operators mark one half of a group each: neither sees that nobody stays
// before both have written, and then nothing would come of it.
func TestMarkLeavingWhileOthersMarkTheRest(t *testing.T) {
	for _, args := range [][]string{nil, {"--wait"}, {"--reason", "the round of the other mark"}} {
		c := clicksGroup(t) // pod-c is marked
		c.after = func(c *steeredCluster) {
			c.after = nil
			if len(args) == 2 { // the look after it finds the group in the round that the other mark started
				c.answers = []*snapshot.Snapshot{preparing(t, c.answers[0]), preparing(t, c.answers[0]), c.answers[0]}
				c.queries = nil
			}
			r, err := control.Leaving{Mark: "theirs", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Who: "bob@ops-2"}.Record(podB)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.WriteControl(t.Context(), "clicks", r); err != nil {
				t.Fatal(err)
			}
		}
		got := runWith(t, fakeDeps(t, c), append([]string{"mark-leaving", "pod-a", "-g", "clicks"}, args...)...)
		if got.code != 1 || got.out != "" || !strings.Contains(got.err, "marked, but by now no instance of group \"clicks\" would stay") || !strings.Contains(got.err, "unmark pod-a -g clicks") {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
}

// A round that goes on while the mark is read back does not hold the command up
// where another instance stays.
func TestMarkLeavingReadsBackInARound(t *testing.T) {
	c := clicksGroup(t)
	c.after = func(c *steeredCluster) { c.answers, c.queries = []*snapshot.Snapshot{preparing(t, c.answers[0])}, nil }
	got := runWith(t, fakeDeps(t, c), "mark-leaving", "pod-a", "-g", "clicks")
	if got.code != 0 || len(c.queries) != 1 || !strings.Contains(got.out, "marked: pod-a") {
		t.Errorf("exit code %d, %d looks\n%s%s", got.code, len(c.queries), got.out, got.err)
	}
}

// A topic that may not be written or read is named, with the ACL to ask for.
func TestMarkLeavingWithoutPermission(t *testing.T) {
	c := clicksGroup(t)
	denied := &controltopic.DeniedError{Topic: "clicks-streamctl-control", Doing: "write to", Needs: "WRITE", Err: errFake}
	c.refuse = errs.WithHint(denied, `ask for an ACL that allows DESCRIBE and WRITE on topic "clicks-streamctl-control"`)
	for _, args := range [][]string{{"mark-leaving", "pod-a"}, {"unmark", "pod-c"}, {"replace", "clicks", "--with", "1", "--yes"}} {
		got := runWith(t, fakeDeps(t, c), append(args, "-g", "clicks")...)
		if got.code != 1 || got.out != "" || !strings.Contains(got.err, `it needs WRITE on topic "clicks-streamctl-control"`) || !strings.Contains(got.err, "hint: ask for an ACL") {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
	hidden := clicksGroup(t)
	hidden.answers[0] = with(t, hidden.answers[0], func(s *snapshot.Snapshot) {
		s.Errors = append(s.Errors, snapshot.Error{
			Object: "topic clicks-streamctl-control", Code: "TOPIC_AUTHORIZATION_FAILED", Text: `read the control topic "clicks-streamctl-control": refused`,
			Hint: `needs DESCRIBE and READ on topic "clicks-streamctl-control"`,
		})
	})
	got := runWith(t, fakeDeps(t, hidden), "mark-leaving", "pod-a", "-g", "clicks")
	if got.code != 1 || len(hidden.written) > 0 || !strings.Contains(got.err, `needs DESCRIBE and READ on topic "clicks-streamctl-control"`) {
		t.Errorf("hidden: exit code %d, %d records\n%s", got.code, len(hidden.written), got.err)
	}
}

// Kinds of group without marks are refused before anything is written.
func TestFieldCase22NobodyHonoursMarks(t *testing.T) {
	for _, name := range []string{"classic-standbys", "plain-mailer"} {
		s := fixture(t, name)
		c := &steeredCluster{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{s}}}
		got := runWith(t, fakeDeps(t, c), "mark-leaving", "pod-a", "-g", s.Groups[0].ID)
		if got.code != 1 || got.out != "" || len(c.written) > 0 || !strings.Contains(got.err, "honours marks: it is a ") {
			t.Errorf("%s: exit code %d, %d records\n%s%s", name, got.code, len(c.written), got.out, got.err)
		}
		if strings.HasPrefix(name, "plain") == strings.Contains(got.err, "check stop pod-a -g ") {
			t.Errorf("%s: what works instead\n%s", name, got.err)
		}
	}
}

// While nothing changes a line comes every 30 seconds, with what holds it up; a
// look that fails is told once.
func TestMarkLeavingWaitReminds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clicksGroup(t)
		c.errs = make([]error, 60)
		for i := 20; i < 25; i++ {
			c.errs[i] = errFake
		}
		got := runWith(t, fakeDeps(t, c), "mark-leaving", "pod-c", "-g", "clicks", "--wait", "--timeout", "65s", "-o", "json")
		rows := 0
		for _, l := range strings.Split(got.err, "\n") {
			if strings.HasPrefix(l, " ") && strings.Contains(l, "41     4      4") {
				rows++
			}
		}
		if got.code != 4 || rows != 3 || strings.Count(got.err, "broker went away") != 1 || strings.Count(got.err, "0_2: ready on pod-a") != 2 {
			t.Errorf("exit code %d, %d rows, want 3\n%s", got.code, rows, got.err)
		}
		var doc struct {
			Wait struct {
				Met      bool
				Blockers []struct{ Task, Copy string }
			}
		}
		if err := json.Unmarshal([]byte(got.out), &doc); err != nil || doc.Wait.Met || len(doc.Wait.Blockers) != 4 || doc.Wait.Blockers[0].Task != "0_2" || doc.Wait.Blockers[0].Copy != podA {
			t.Errorf("%v %+v", err, doc)
		}
	})
}

// The instance of this machine is found by whole names only: pod-1 is not pod-10.
func TestSelfIsNoPrefix(t *testing.T) {
	c := clicksGroup(t)
	for host, want := range map[string]int{"pod-b": 0, "pod": 1, "pod-": 1, "10000000": 1, "pod-bb": 1, "pod-b.cluster.local": 0} {
		got := runWith(t, fakeDeps(t, c, "HOSTNAME="+host, "STREAMCTL_BOOTSTRAP_SERVER=fake:9092"), "mark-leaving", "--self", "-g", "clicks", "--dry-run")
		if got.code != want || want == 0 && !strings.Contains(got.err, "marking pod-b") {
			t.Errorf("host %q: exit code %d\n%s", host, got.code, got.err)
		}
	}
}

// refreshable is a classic group whose copies turn out to be caught up once it
// is asked for a round.
type refreshable struct {
	fakeCluster
	visits int
	after  *snapshot.Snapshot
}

func (r *refreshable) Visit(_ context.Context, _ string, step func(kclient.VisitStep)) (*kclient.Visit, error) {
	r.visits++
	step(kclient.VisitSettle)
	r.answers = []*snapshot.Snapshot{r.after}
	return &kclient.Visit{Visitor: "v", Gone: true, Joined: time.Now(), Missing: []string{"x"}}, nil
}

// After a round that was asked for, positions are those of now: yes where all
// have caught up.
func TestCheckStopRefreshJudgesByTheRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := fixture(t, "classic-standbys")
		c := &refreshable{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{old}}}
		c.after = with(t, old, func(s *snapshot.Snapshot) {
			for i := range s.Logs {
				if strings.HasSuffix(s.Logs[i].Topic, "-changelog") {
					s.Logs[i].End = new(int64)
				}
			}
		})
		if got := runWith(t, fakeDeps(t, c), "check", "stop", "pod-a", "-g", "stats"); got.code != 3 || !strings.HasPrefix(got.out, "cannot tell") || c.visits != 0 {
			t.Fatalf("before: exit code %d\n%s%s", got.code, got.out, got.err)
		}
		got := runWith(t, fakeDeps(t, c), "check", "stop", "pod-a", "-g", "stats", "--refresh", "--yes")
		if got.code != 0 || !strings.HasPrefix(got.out, "yes: ") || c.visits != 1 || !strings.Contains(got.err, "1 member did not join again") {
			t.Errorf("exit code %d, %d visits\n%s%s", got.code, c.visits, got.out, got.err)
		}
	})
}

// A script marks an instance and then waits, as a preStop hook does.
func TestFieldCase21ScriptDrains(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, 1500)
	got := j.run(t.Context(), "mark-leaving", "pod-c", "-g", "clicks")
	if got.code != 0 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	got = j.run(t.Context(), "wait", "clicks", "--for", "drained", "--instance", "pod-c", "--timeout", "60s", "-o", "json")
	if got.code != 0 || !strings.Contains(got.out, `"met":true`) {
		t.Fatalf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.until("pod-c has gone", func() bool { return j.pod("pod-c").State == lab.Drained })
	got = j.run(t.Context(), "wait", "clicks", "--for", "restored", "--timeout", "60s")
	if got.code != 0 {
		t.Errorf("restored: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.right()
}

// A restore that is watched tells restored/total, rate and time to go, by the
// status records of the workers.
func TestFieldCase08RestoreByStatusRecords(t *testing.T) {
	s := fixture(t, "../control/worker-leaving")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := &restoringWorkers{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{s}}, begin: begin, t: t}
		got := runWith(t, fakeDeps(t, c), "wait", "clicks", "--for", "restored", "--interval", "30s", "--timeout", "130s")
		if got.code != 4 {
			t.Errorf("exit code %d\n%s", got.code, got.err)
		}
		for _, want := range []string{"0_0 on pod-a/T1  0/1,000,000  -  left -", "200,000/1,000,000  6,666/s  left 2m", "400,000/1,000,000  6,666/s  left 1m30s"} {
			if !strings.Contains(got.err, want) {
				t.Errorf("lacks %q\n%s", want, got.err)
			}
		}
	})
}

// restoringWorkers is the worker group in which pod-a restores its active 0_0:
// a million records, 200,000 of them every 30 seconds.
type restoringWorkers struct {
	fakeCluster
	begin time.Time
	t     *testing.T
}

func (c *restoringWorkers) Snapshot(ctx context.Context, q kclient.Query) (*snapshot.Snapshot, error) {
	s, err := c.fakeCluster.Snapshot(ctx, q)
	if err != nil {
		return nil, err
	}
	position := 200_000 * int64(time.Since(c.begin)/(30*time.Second))
	return with(c.t, s, func(s *snapshot.Snapshot) {
		million := int64(1_000_000)
		for i := range s.Logs {
			if l := &s.Logs[i]; l.Topic == "clicks-bypage-changelog" && l.Partition == 0 {
				l.End = &million
			}
		}
		g := s.Group("clicks")
		for i := range g.Control {
			r := &g.Control[i]
			if r.Key != "status/"+podA {
				continue
			}
			st, err := control.DecodeStatus(r.Value)
			if err != nil {
				c.t.Fatal(err)
			}
			for k := range st.Tasks {
				if x := &st.Tasks[k]; x.ID.String() == "0_0" {
					left := million - position
					x.Lag, x.Position, x.End = &left, &position, &million
				}
			}
			again, err := st.Record(podA)
			if err != nil {
				c.t.Fatal(err)
			}
			r.Value = again.Value
		}
	}), nil
}
