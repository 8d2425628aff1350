//go:build realkafka

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/chaos"
	"github.com/streamctl/streamctl/worker"
)

// One of three instances with 12 stateful tasks is taken out of service under
// traffic. Whatever ends the command before, --timeout, Ctrl-C or a kill, the
// mark stays, nothing moves and the same command goes on; unmark takes it back;
// at the end every task goes over to a copy that is ready, and the instance ends.
func TestMarkLeavingWorkers(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	const group = "leaving"
	j, stop := c.startJob(t, chaos.Options{Group: group, Workers: 1, Settings: evenly()}, "a", "b", "c")
	had, before := j.owned("c"), j.Picture()
	if len(had) != 4 {
		t.Fatalf("c has not 4 of 12 tasks: %s", before)
	}
	j.must(3, "check", "stop", "c", "-g", group)
	j.Gate() // no copy gets ready until all is tried
	leave := []string{"mark-leaving", "c", "-g", group, "--wait"}

	if res := j.must(0, "mark-leaving", "c", "-g", group, "--dry-run"); !strings.Contains(res.stdout, "nothing was marked") || j.mark("c") != "" {
		t.Errorf("a dry run: %s", res.stdout)
	}
	res := j.must(4, append(leave, "--timeout", "6s")...)
	mark := j.mark("c")
	if said := oneText(res.stdout); mark == "" || !strings.Contains(said, "still owns") || !strings.Contains(said, "the mark stays; exit 4") {
		t.Errorf("mark %q, --timeout says %s", mark, res.stdout)
	}
	for _, x := range []struct {
		signal syscall.Signal
		code   int
		says   string
	}{
		{syscall.SIGINT, 130, "interrupted: the mark stays and the drain goes on; unmark c -g " + group + " withdraws it"},
		{syscall.SIGTERM, 143, "terminated: the mark stays"},
		{syscall.SIGKILL, -1, ""},
	} {
		code, said := c.signalled(t, "marked. Ctrl-C ends the waiting", x.signal, leave...).end()
		if code != x.code || !strings.Contains(oneText(said), x.says) {
			t.Errorf("%v: exit %d, want %d:\n%s", x.signal, code, x.code, said)
		}
		if now := j.mark("c"); now != mark {
			t.Errorf("%v: mark %q, before %q", x.signal, now, mark)
		}
	}
	if now := j.owned("c"); !slices.Equal(now, had) {
		t.Errorf("c has %v, before %v", now, had)
	}

	if res = j.must(0, "unmark", "c", "-g", group); !strings.Contains(res.stdout, "withdrawn: c stays") || j.mark("c") != "" {
		t.Errorf("mark %q, unmark says %s", j.mark("c"), res.stdout)
	}
	j.Becomes(before) // learners included

	wait := c.signalled(t, "marked. Ctrl-C ends the waiting", syscall.Signal(0), append(leave, "--timeout", "2m")...)
	eventually(t, 30*time.Second, "the copies of all that c has have caught up, as check stop says", func() bool {
		res := c.streamctl(t, "check", "stop", "c", "-g", group, "--refresh", "--yes")
		return res.code == 0 && strings.Contains(oneText(res.stdout), "every one of the 4 active tasks on c has a caught-up copy elsewhere") &&
			strings.Contains(res.stderr, "nothing is asked for")
	})
	j.must(4, "wait", group, "--for", "drained", "--instance", "c", "--timeout", "0")
	waited := make(chan result, 1)
	go func() {
		waited <- runCmd(t, streamctlCmd(t.Context(), t, "wait", group, "--for", "drained", "--instance", "c", "--timeout", "2m", "--bootstrap-server", c.addrs[0]))
	}()
	j.Ungate()
	code, said := wait.end()
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, said)
	}
	t.Log(said)
	if res := <-waited; res.code != 0 {
		t.Errorf("wait --for drained: exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	j.gone("c")
	if m := j.State().Leaving; len(m) > 0 {
		t.Errorf("a mark is left: %v", m)
	}
	j.Settled(60 * time.Second)
	if res = j.must(0, append(leave, "--timeout", "10s")...); !strings.Contains(oneText(res.stdout), "nothing to do: c (") {
		t.Errorf("once it has left: %s", res.stdout)
	}
	stop()
	j.Finish(false)
}

// Two of four instances are marked at once, with the document: it has every task
// that they had, with who has it now, and none restored cold.
func TestMarkLeavingWorkersDocument(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	const group = "leaving-two"
	j, stop := c.startJob(t, chaos.Options{Group: group, Workers: 2, Settings: evenly()}, "a", "b", "c", "d")
	had := append(j.owned("c"), j.owned("d")...)
	slices.Sort(had)
	res := j.must(0, "mark-leaving", "c", "d", "-g", group, "--wait", "--timeout", "2m", "-o", "json", "--reason", "node drain")
	j.gone("c")
	j.gone("d")
	doc := parseChange(t, res)
	if !doc.Done || !doc.Wait.Met || len(doc.Leaving.Marks) != 2 {
		t.Errorf("document %s", res.stdout)
	}
	for _, m := range doc.Leaving.Marks {
		if m.Before || !m.Honoured || m.Mark == "" {
			t.Errorf("mark %+v", m)
		}
	}
	owners := map[string]string{}
	for _, name := range []string{"a", "b"} {
		for _, task := range j.owned(name) {
			owners[task] = j.Pod(name).ID
		}
	}
	var over []string
	for _, h := range doc.Leaving.HandedOver {
		over = append(over, h.Task)
		if h.Cold == nil || *h.Cold {
			t.Errorf("%s restored cold, or that is not known", h.Task)
		}
		if h.To != owners[h.Task] {
			t.Errorf("%s went to %s, and %s has it", h.Task, h.To, owners[h.Task])
		}
	}
	slices.Sort(over)
	if !slices.Equal(over, had) || len(owners) != 12 {
		t.Errorf("handed over %v, they had %v; %d tasks have owners", over, had, len(owners))
	}
	j.end(stop, false)
}

// At --scale-down-timeout the instance goes with what it has: learners take over
// as they are, what they had to restore is named, and nothing is lost.
func TestMarkLeavingWorkersAtTheDeadline(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	const group = "leaving-late"
	j, stop := c.startJob(t, chaos.Options{Group: group, Workers: 1, Settings: evenly()}, "a", "b", "c")
	for _, name := range []string{"a", "b"} {
		j.Pod(name).In.SetRestoreRate(50) // each learns two tasks, with 200 records and more
	}
	res := j.must(0, "mark-leaving", "c", "-g", group, "--wait", "--timeout", "2m", "--scale-down-timeout", "2s")
	said := regexp.MustCompile(`c went at the deadline, after \S+, with what was not handed over; restored cold: 0_\d+ on [ab] \(`)
	if !said.MatchString(oneText(res.stdout)) || strings.Contains(res.stdout, "safe to stop") || !strings.Contains(oneText(res.stderr), "deadline 2s") {
		t.Errorf("%s%s", res.stdout, res.stderr)
	}
	t.Log(res.stderr, res.stdout)
	j.gone("c")
	if n := j.Count(worker.Expired); n != 1 || j.Count(worker.Drained) != 0 {
		t.Errorf("c's time was up %d times, it was drained %d times", n, j.Count(worker.Drained))
	}
	for _, name := range []string{"a", "b"} {
		j.Pod(name).In.SetRestoreRate(0)
	}
	j.end(stop, false)
}

// All instances of a job are replaced by as many new ones. The tool is killed
// after the first of its steps, and goes on with what it began.
func TestReplaceWorkers(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	const group = "replaced"
	j, stop := c.startJob(t, chaos.Options{Group: group, Workers: 1, Settings: evenly()}, "a", "b")
	old := []string{j.Pod("a").ID, j.Pod("b").ID}
	j.must(2, "replace", group)
	j.must(2, "replace", group, "--with", "2") // nobody to ask

	if code, said := c.signalled(t, "start 2 more", os.Interrupt, "replace", group, "--with", "2", "--yes").end(); code != 130 || !strings.Contains(oneText(said), "replace "+group+" goes on with it") {
		t.Errorf("Ctrl-C: exit %d:\n%s", code, said)
	}
	j.Start("c")
	if code, said := c.signalled(t, "start 1 more", syscall.SIGKILL, "replace", group, "--yes").end(); code != -1 {
		t.Errorf("kill -9: exit %d:\n%s", code, said)
	}
	j.must(1, "replace", group, "--with", "3", "--yes") // another one goes on
	if res := j.must(4, "replace", group, "--yes", "--timeout", "4s"); !strings.Contains(oneText(res.stdout), "1 of 2 new instances are there") {
		t.Errorf("--timeout: %s", res.stdout)
	}
	if j.mark("a") != "" || j.mark("b") != "" {
		t.Fatal("marked before the new ones are there")
	}
	j.Gate()
	j.Start("d")
	if code, said := c.signalled(t, "marked. Ctrl-C ends the waiting", syscall.SIGKILL, "replace", group, "--yes").end(); code != -1 {
		t.Errorf("kill -9 when marked: exit %d:\n%s", code, said)
	}
	if j.mark("a") == "" || j.mark("b") == "" {
		t.Fatal("not marked")
	}
	j.Ungate()
	res := j.must(0, "replace", group, "--yes", "--timeout", "2m", "-o", "json")
	r := parseChange(t, res).Replace
	slices.Sort(r.Old)
	slices.Sort(r.New)
	if !r.Resumed || !slices.Equal(r.Old, old) || !slices.Equal(r.New, []string{j.Pod("c").ID, j.Pod("d").ID}) || len(r.Steps) != 3 {
		t.Errorf("document %s", res.stdout)
	}
	for _, s := range r.Steps {
		if !s.Done {
			t.Errorf("step %s is not done", s.Step)
		}
	}
	j.gone("a")
	j.gone("b")
	j.Settled(60 * time.Second)
	if n := len(j.owned("c")) + len(j.owned("d")); n != 12 {
		t.Errorf("the new ones have %d tasks: %s", n, j.Picture())
	}
	j.must(2, "replace", group, "--yes") // none goes on
	stop()
	j.Finish(false)
}
