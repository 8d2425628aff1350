package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/internal/ui"
)

// liveJob is a stateful job of real workers on an embedded broker: pod-a, pod-b
// and so on, each with some 4,000 counted records a task.
type liveJob struct {
	*lab.Job
	t *testing.T
}

// liveSession is long enough that a busy machine throws no instance out.
const liveSession = 10 * time.Second

func startJob(t *testing.T, instances, restoreRate int, settings ...string) liveJob {
	t.Helper()
	l, err := lab.Start(lab.Options{MinSession: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	o := lab.JobOptions{Group: "clicks", Instances: instances, Tasks: 12, Records: 48_000, Rate: 100, RestoreRate: restoreRate, SessionTimeout: liveSession, Settings: map[string]string{}}
	for _, s := range settings {
		k, v, _ := strings.Cut(s, "=")
		o.Settings[k] = v
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	j, err := l.StartJob(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return liveJob{j, t}
}

// run runs one command line against the job; a context with a cause ends it as a
// signal does.
func (j liveJob) run(ctx context.Context, args ...string) captured {
	return j.watch(ctx, &watched{seen: make(chan struct{})}, args...)
}

// watch is run with a stderr that tells when a text has come.
func (j liveJob) watch(ctx context.Context, said *watched, args ...string) captured {
	d := newDeps(&ui.Streams{In: strings.NewReader("")})
	d.io.Env = j.env
	var out bytes.Buffer
	d.io.Out, d.io.Err = &out, said
	c := execute(ctx, args, d)
	return captured{c, out.String(), said.String()}
}

func (j liveJob) env(name string) (string, bool) {
	switch name {
	case "STREAMCTL_BOOTSTRAP_SERVER":
		return j.Status().Bootstrap, true
	case "HOSTNAME":
		return "pod-b", true
	}
	return "", false
}

// pod is one instance by its name.
func (j liveJob) pod(name string) lab.PodStatus {
	for _, p := range j.Status().Instances {
		if p.Name == name {
			return p
		}
	}
	j.t.Fatalf("there is no %s", name)
	return lab.PodStatus{}
}

// until waits for something to hold.
func (j liveJob) until(what string, holds func() bool) {
	j.t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			j.t.Fatalf("timed out: %s\n%+v", what, j.Status())
		}
	}
}

// right makes sure that no task is without owner and no count is lost.
func (j liveJob) right() {
	j.t.Helper()
	j.until("all tasks run and every record is counted", func() bool { s := j.Status(); return len(s.Idle) == 0 && s.Records.Waiting < 500 })
	if r := j.Status().Records; r.Lost > 0 {
		j.t.Errorf("counts are wrong: %+v", r)
	}
}

// mark is the mark of an instance in the control topic; nil when there is none.
func (j liveJob) mark(name string) *string {
	j.t.Helper()
	var id *string
	got := j.run(j.t.Context(), "describe", "group", "clicks", "-o", "json")
	var doc struct {
		Marks []struct{ Instance, ID string }
	}
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
		j.t.Fatalf("%v\n%s%s", err, got.out, got.err)
	}
	for _, m := range doc.Marks {
		if m.Instance == j.pod(name).ID {
			id = &m.ID
		}
	}
	return id
}

type markDocument struct {
	Done    bool
	Leaving struct {
		Marks []struct {
			Mark     string
			Before   bool
			Honoured bool
			Gone     bool
		}
		HandedOver []struct {
			Task string
			Cold *bool
		} `json:"handed_over"`
	}
	Wait    *struct{ Met bool }
	Replace *struct {
		Resumed  bool
		Old, New []string
		Steps    []struct {
			Step string
			Done bool
		}
	}
}

func (j liveJob) document(c captured) markDocument {
	j.t.Helper()
	var doc markDocument
	if err := json.Unmarshal([]byte(c.out), &doc); err != nil {
		j.t.Fatalf("exit code %d: %v\n%s%s", c.code, err, c.out, c.err)
	}
	return doc
}

// An instance of a live job with 12 stateful tasks is drained, and no task
// restores cold; the instance of this machine is found by its host name.
func TestMarkLeavingDrainsALiveJob(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, 6000)
	got := j.run(t.Context(), "mark-leaving", "--self", "--wait", "--timeout", "60s", "-o", "json", "--reason", "node drain")
	doc := j.document(got)
	if got.code != 0 || !doc.Done || doc.Wait == nil || !doc.Wait.Met || len(doc.Leaving.HandedOver) != 4 || len(doc.Leaving.Marks) != 1 {
		t.Fatalf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if m := doc.Leaving.Marks[0]; !m.Honoured || m.Before {
		t.Errorf("mark: %+v", m)
	}
	for _, h := range doc.Leaving.HandedOver {
		if h.Cold == nil || *h.Cold {
			t.Errorf("%s restored cold, or that is not known", h.Task)
		}
	}
	for _, want := range []string{"instance pod-b (", "marking pod-b\n  (", "4 active tasks go to pod-a (2) and pod-c (2)", "records to restore", "TIME  ROUND  OWNS", "now on pod-a"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("stderr lacks %q\n%s", want, got.err)
		}
	}
	j.until("pod-b has gone", func() bool { return j.pod("pod-b").State == lab.Drained })
	j.right()
	for _, name := range []string{"pod-b", j.pod("pod-b").ID} { // whoever asks only now is told by its last word
		got = j.run(t.Context(), "wait", "clicks", "--for", "drained", "--instance", name, "--timeout", "10s")
		if got.code != 0 || !strings.Contains(got.out, "drained: pod-b of clicks") || !strings.Contains(got.err, "pod-b was drained and left at ") {
			t.Errorf("wait for %s afterwards: exit code %d\n%s%s", name, got.code, got.out, got.err)
		}
	}
	got = j.run(t.Context(), "unmark", "pod-b", "-g", "clicks")
	if got.code != 0 || !strings.Contains(flat(got.out), "not marked: pod-b, which was drained and left at ") {
		t.Errorf("unmark of one that has left: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	got = j.run(t.Context(), "mark-leaving", "pod-b", "-g", "clicks", "--wait", "--timeout", "10s")
	if got.code != 0 || !strings.Contains(flat(got.out), "nothing to do: pod-b") || !strings.Contains(flat(got.out), "was drained and left at ") {
		t.Errorf("marked again: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// --timeout ends the waiting and no more; unmark drops the learners and nothing
// has moved.
func TestMarkLeavingTimesOutAndIsWithdrawn(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, 100)
	got := j.run(t.Context(), "mark-leaving", "pod-c", "-g", "clicks", "--wait", "--timeout", "8s") // time for a busy machine to begin to learn
	if got.code != 4 || !strings.Contains(got.out, "still owns ") || !strings.Contains(got.out, "(learner on pod-") || !strings.Contains(got.out, "the mark stays; exit 4") {
		t.Fatalf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	id := j.mark("pod-c")
	if id == nil || !j.pod("pod-c").Leaving {
		t.Fatal("the mark is gone after the time-out")
	}
	again := j.run(t.Context(), "mark-leaving", "pod-c", "-g", "clicks", "--scale-down-timeout", "10m", "-o", "json")
	if doc := j.document(again); again.code != 0 || len(doc.Leaving.Marks) != 1 || !doc.Leaving.Marks[0].Before || doc.Leaving.Marks[0].Mark != *id {
		t.Errorf("again: exit code %d, another mark\n%s%s", again.code, again.out, again.err)
	}
	if got = j.run(t.Context(), "unmark", "pod-c", "-g", "clicks"); got.code != 0 || !strings.Contains(got.out, "withdrawn: pod-c stays") {
		t.Fatalf("unmark: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.until("pod-c stays", func() bool { return !j.pod("pod-c").Leaving })
	j.until("the learners are dropped", func() bool { return j.pod("pod-a").Learner+j.pod("pod-b").Learner == 0 })
	j.until("pod-c runs the 4 tasks that it had", func() bool { return j.pod("pod-c").Active == 4 })
	if got = j.run(t.Context(), "unmark", "pod-c", "-g", "clicks"); got.code != 0 || !strings.Contains(got.out, "not marked: pod-c") {
		t.Errorf("unmark again: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.right()
}

// At --scale-down-timeout the instance goes at once, learners take over as they
// are, and what had to restore is named.
func TestMarkLeavingAtTheDeadline(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, 400)
	begin := time.Now()
	got := j.run(t.Context(), "mark-leaving", "pod-c", "-g", "clicks", "--wait", "--timeout", "60s", "--scale-down-timeout", "2s")
	if took := time.Since(begin); got.code != 0 || took > 30*time.Second {
		t.Fatalf("exit code %d after %s\n%s%s", got.code, took, got.out, got.err)
	}
	for _, want := range []string{"pod-c went at the deadline, after ", "restored cold: "} {
		if !strings.Contains(strings.ReplaceAll(got.out, "\n  ", " "), want) {
			t.Errorf("stdout lacks %q\n%s%s", want, got.out, got.err)
		}
	}
	if strings.Contains(got.out, "safe to stop") {
		t.Errorf("it was not drained\n%s", got.out)
	}
	if !strings.Contains(got.err, "deadline 2s") {
		t.Errorf("stderr does not say the deadline\n%s", got.err)
	}
	j.SetRestoreRate(0)
	j.right()
}

// An instance that dies under its mark is not drained: exit code 1, with the
// tasks that it had.
func TestMarkLeavingOfAnInstanceThatDies(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, 100)
	done := make(chan captured, 1)
	go func() {
		done <- j.run(t.Context(), "mark-leaving", "pod-c", "-g", "clicks", "--wait", "--timeout", "60s")
	}()
	j.until("pod-c is leaving", func() bool { return j.pod("pod-c").Leaving })
	if err := j.Kill("pod-c"); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if got.code != 1 || !matches(got.err, `pod-c is gone with [1-9][0-9]* tasks? not handed over: `) { // how many it has rests on how busy the machine is
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.SetRestoreRate(0)
	j.right()
	for _, args := range [][]string{{"wait", "clicks", "--for", "drained", "--instance", "pod-c"}, {"mark-leaving", "pod-c", "-g", "clicks"}} {
		got = j.run(t.Context(), args...)
		if got.code != 1 || !matches(flat(got.err), `still has [1-9][0-9]* tasks?: it died, or could not say how it went`) {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
	got = j.run(t.Context(), "unmark", "pod-c", "-g", "clicks") // it took its name with it, but for the control topic
	if got.code != 0 || !strings.Contains(got.out, "withdrawn: the mark of pod-c, which is gone") || j.mark("pod-c") != nil {
		t.Errorf("unmark by the name that it had: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// Ctrl-C and SIGTERM end the waiting and leave the mark; a tool that is killed
// in the middle loses nothing: the same command goes on with the same mark.
func TestMarkLeavingSurvivesItsTool(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, 20) // minutes to restore: whatever the machine does, pod-c is still there for the last call
	var mark *string
	for _, c := range []struct {
		signal os.Signal
		code   int
		says   string
	}{
		{os.Interrupt, 130, "interrupted: the mark stays and the drain goes on; unmark pod-c -g clicks withdraws it"},
		{syscall.SIGTERM, 143, "terminated: the mark stays"},
		{syscall.SIGKILL, -1, ""},
	} {
		p, out, errOut := process(t, "mark-leaving", "pod-c", "-g", "clicks", "--wait", "--bootstrap-server", j.Status().Bootstrap)
		said := &watched{want: waitsForDrain, seen: make(chan struct{})}
		p.Stderr = said
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-said.seen:
		case <-time.After(30 * time.Second):
			t.Fatalf("it never waited\n%s%s", out, errOut)
		}
		if err := p.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		if got := code(t, p.Wait()); got != c.code || !strings.Contains(said.String(), c.says) || out.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s%s", c.signal, got, out, said)
		}
		id := j.mark("pod-c")
		if id == nil || mark != nil && *id != *mark {
			t.Fatalf("%s: the mark did not stay as it was", c.signal)
		}
		mark = id
	}
	said := &watched{want: waitsForDrain, seen: make(chan struct{})}
	go func() {
		<-said.seen
		j.SetRestoreRate(0)
	}()
	got := j.watch(t.Context(), said, "mark-leaving", "pod-c", "-g", "clicks", "--wait", "--timeout", "60s", "-o", "json")
	said.tell() // ends the goroutine where nothing was said
	if doc := j.document(got); got.code != 0 || doc.Leaving.Marks[0].Mark != *mark || !doc.Leaving.Marks[0].Before || !doc.Wait.Met {
		t.Errorf("again: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.right()
}

// The marks of all are void, and refused unless forced; two at once are marked
// in one go, and both are drained.
func TestMarkLeavingOfSeveral(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, 0)
	got := j.run(t.Context(), "mark-leaving", "pod-a", "pod-b", "pod-c", "-g", "clicks")
	if got.code != 1 || !strings.Contains(got.err, "no instance of group \"clicks\" would stay") || j.mark("pod-a") != nil {
		t.Errorf("all of them: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	got = j.run(t.Context(), "mark-leaving", "pod-a", "pod-b", "-g", "clicks", "--wait", "--timeout", "60s", "-o", "json")
	doc := j.document(got)
	if got.code != 0 || len(doc.Leaving.HandedOver) != 8 {
		t.Fatalf("two: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	for _, h := range doc.Leaving.HandedOver {
		if h.Cold == nil || *h.Cold {
			t.Errorf("%s restored cold, or that is not known", h.Task)
		}
	}
	j.until("pod-c runs all", func() bool { return j.pod("pod-c").Active == 12 })
	if got = j.run(t.Context(), "mark-leaving", "pod-c", "-g", "clicks", "--force", "--wait", "--timeout", "2s"); got.code != 4 || !strings.Contains(got.err, "void") {
		t.Errorf("the last one, forced: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.right()
}
