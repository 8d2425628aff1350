package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/streamctl/streamctl/worker"
)

// Cluster is where a script runs.
type Cluster struct {
	Seeds   []string
	Fake    *kfake.Cluster // for faults; nil on real brokers
	Session time.Duration  // of the members, when something crashes
	Break   func()         // called once in the middle; nil: nothing
	Settle  time.Duration  // the job may take that long at the end
}

// Outcome is what a run came to.
type Outcome struct {
	Written uint64        // records
	Twice   int           // of these, counted more than once
	Rounds  int           // led
	Idle    time.Duration // the longest time that a task had no active, whatever the cause
	Calm    time.Duration // the same where no crash, lost membership or mode switch is the cause
	Pause   time.Duration // the longest of a mode switch
	Lost    int           // memberships
}

// String is one line.
func (o Outcome) String() string {
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return fmt.Sprintf("%d records, %d twice, %d rounds, %d memberships lost, longest without active %v (%v with no cause but rounds), longest switch %v",
		o.Written, o.Twice, o.Rounds, o.Lost, ms(o.Idle), ms(o.Calm), ms(o.Pause))
}

// Run draws the script of a seed, carries it out, and looks whether all is
// right. It reports to t what is not.
func Run(t testing.TB, seed uint64, c Cluster) Outcome {
	t.Helper()
	s := draw(seed, c.Fake != nil)
	session := c.Session
	if s.calm {
		session = max(session, 15*time.Second) // a machine that is busy is no crash
	}
	j := New(t, Options{
		Seeds: c.Seeds, Group: fmt.Sprintf("chaos-%d", seed), Tasks: s.tasks, Stateless: s.stateless, Workers: s.workers,
		Settings: s.settings, Session: session, Restore: s.restore,
	})
	defer j.keep(seed)
	a := &actor{Job: j, script: s, mode: s.settings.Mode, cut: map[string]time.Time{}}
	if c.Fake != nil {
		a.f = &faults{c: c.Fake, say: j.Say}
	}
	j.Produce(s.before)
	for n := range s.instances {
		j.Start(fmt.Sprintf("i%02d", n))
	}
	j.Running()
	stop := j.Traffic(2, 50*time.Millisecond)
	for n, x := range s.steps {
		if n == len(s.steps)/2 && c.Break != nil {
			j.Say("a broker is killed")
			c.Break()
		}
		a.do(x)
		a.rest(x.rest)
	}
	if a.f != nil {
		a.f.end()
	}
	a.rest(300 * time.Millisecond)
	a.resume(true)
	if len(j.Pods(func(p *Pod) bool { return up(p) && p.Mark == "" })) == 0 {
		j.Start("i99")
	}
	j.Say("settle")
	j.Settled(c.Settle)
	stop()
	j.Probe("end")
	return a.judge()
}

// judge looks at everything after the end, and ends all instances.
func (a *actor) judge() Outcome {
	a.T.Helper()
	j := a.Job
	o := Outcome{Written: j.Written(), Rounds: j.Count(worker.RoundLed), Lost: j.Count(worker.MembershipLost)}
	bad := j.unbalanced() // before the rounds that follow when all are closed
	for _, p := range j.Pods(up) {
		j.Close(p.Name)
	}
	twice, wrong := j.counts()
	o.Twice = twice
	bad = append(bad, wrong...)
	bad = append(bad, j.copies()...)
	bad = append(bad, j.overlaps()...)
	j.Book.mu.Lock()
	turns := j.turns
	j.Book.mu.Unlock()
	bad = append(bad, j.outside(turns)...)
	bad = append(bad, j.idle()...)
	bad = append(bad, j.badRounds()...)
	bad = append(bad, j.cold()...)
	for _, g := range j.gaps() {
		o.Idle = max(o.Idle, g.length)
		if !g.excused {
			o.Calm = max(o.Calm, g.length)
		}
	}
	for _, e := range j.Events(worker.SwitchDone) {
		o.Pause = max(o.Pause, e.Pause)
	}
	if a.calm && o.Lost == 0 && o.Twice > 0 {
		bad = append(bad, fmt.Sprintf("%d records were counted twice, though nothing crashed", o.Twice))
	}
	for _, s := range bad {
		a.T.Errorf("%s", s)
	}
	return o
}

// keep writes the journal of a run that failed, or of any, to the folder that
// CHAOS_LOG names.
func (j *Job) keep(seed uint64) {
	dir := os.Getenv("CHAOS_LOG")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("seed-%d.log", seed)), []byte(j.Tail(0)+strings.Repeat("-", 80)+"\n"+j.Picture()+"\n"), 0o600); err != nil {
		j.T.Error(err)
	}
}
