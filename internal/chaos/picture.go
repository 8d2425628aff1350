package chaos

import (
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// Until waits for a condition; the test ends when it does not come true.
func (j *Job) Until(within time.Duration, what string, holds func() bool) {
	j.T.Helper()
	for end := time.Now().Add(within); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			j.T.Fatalf("not within %v: %s\nnow %s\n%s", within, what, j.Picture(), j.Tail(150))
		}
	}
}

// Picture shows who has what, as the walk-throughs do: S1[T1,T2] learns T3.
func (j *Job) Picture() string {
	var out []string
	for _, p := range j.Pods(up) {
		out = append(out, j.sketch(p.Name, p.In.Stats().Tasks))
	}
	return strings.Join(out, " ")
}

func (j *Job) sketch(name string, tasks []worker.TaskStats) string {
	roles := map[string][]string{}
	for _, t := range tasks {
		roles[t.Role] = append(roles[t.Role], j.label(t.ID))
	}
	for _, l := range roles {
		slices.Sort(l)
	}
	s := name + "[" + strings.Join(roles[roleActive], ",") + "]"
	if l := roles[roleLearner]; len(l) > 0 {
		s += " learns " + strings.Join(l, ",")
	}
	if l := roles[roleStandby]; len(l) > 0 {
		s += " holds " + strings.Join(l, ",")
	}
	return s
}

// The roles, as events and stats name them.
const (
	roleActive  = "active"
	roleLearner = "learner"
	roleStandby = "standby"
)

// Becomes waits for a picture.
func (j *Job) Becomes(want string) {
	j.T.Helper()
	j.Until(30*time.Second, "the group becomes "+want, func() bool { return j.Picture() == want })
	j.Say("it is %s", want)
}

// Running waits until every task is processed by the instance that owns it.
func (j *Job) Running() {
	j.T.Helper()
	j.Until(30*time.Second, "all tasks run", func() bool { return j.processing() == len(j.tasks()) })
}

// processing is how many tasks are being processed.
func (j *Job) processing() int {
	n := 0
	for _, p := range j.Pods(up) {
		for _, t := range p.In.Stats().Tasks {
			if t.Processing {
				n++
			}
		}
	}
	return n
}

// Settled waits until nothing is on its way any more: marked instances are
// gone, every task runs, nobody learns, and for a while no round was led.
func (j *Job) Settled(within time.Duration) {
	j.T.Helper()
	quiet := time.Now()
	rounds := j.Count(worker.RoundLed)
	j.Until(within, "the group settles", func() bool {
		if n := j.Count(worker.RoundLed); n != rounds || !j.still() {
			rounds, quiet = n, time.Now()
		}
		return time.Since(quiet) > time.Second
	})
}

func (j *Job) still() bool {
	if len(j.Pods(func(p *Pod) bool { return p.State == "up" && p.Mark != "" })) > 0 {
		return false
	}
	pods := j.Pods(up)
	for _, p := range pods {
		s := p.In.Stats()
		if s.Generation == 0 || s.Leaving {
			return false
		}
		for _, t := range s.Tasks {
			if t.Role == roleLearner || t.Role == roleActive && slices.Contains(t.Tags, tagLearned) {
				return false
			}
		}
	}
	return j.processing() == len(j.tasks()) && j.onlyThese(pods)
}

// onlyThese says whether the last round was among these instances, and no other
// is to follow: nobody who has died or has not come back is still waited for.
func (j *Job) onlyThese(pods []*Pod) bool {
	list := j.rounds()
	if len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	in := last.in
	for id := range in {
		if !slices.ContainsFunc(pods, func(p *Pod) bool { return p.ID == id }) {
			return false
		}
	}
	return len(in) == len(pods) && !last.Round.AnotherRound && !last.Round.SwitchWaiting
}

// tagLearned is the tag of an active task that is being learned.
const tagLearned = "beingLearned"
