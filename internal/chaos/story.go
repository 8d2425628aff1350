package chaos

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// Story is a walk-through of docs/protocol/stream-protocol.md, told with real
// workers.
type Story struct {
	Name string
	Tell func(t testing.TB, seeds []string)
}

// Stories are all of them.
func Stories() []Story {
	return []Story{
		{"scale up", scaleUp},
		{"leader crash", leaderCrash},
		{"scale down", scaleDown},
		{"from the ground", fromTheGround},
	}
}

func newStory(t testing.TB, group string, seeds []string, labels []int, r int64) *Job {
	t.Helper()
	o := Options{Seeds: seeds, Group: group, Tasks: 5, Workers: 1, Settings: worker.DefaultSettings(), Session: 6 * time.Second, Labels: labels}
	o.Settings.BalancingFactor = r
	return New(t, o)
}

// three brings S1[T1,T2] S2[T3,T4] S3[T5] about, led by S1: by three instances
// that join one after the other. What they end with is called T1 to T5 as the
// story has it.
func three(t testing.TB, group string, seeds []string) *Job {
	t.Helper()
	j := newStory(t, group, seeds, []int{3, 4, 5, 1, 2}, 2000)
	j.Produce(40)
	j.Start("S1")
	j.Becomes("S1[T1,T2,T3,T4,T5]")
	j.Start("S2")
	j.Becomes("S1[T1,T2,T5] S2[T3,T4]")
	j.Start("S3")
	j.Becomes("S1[T1,T2] S2[T3,T4] S3[T5]")
	j.Running()
	j.Gate()
	return j
}

// Finish looks at the end whether every record was counted, once where nothing
// crashed, by one active at a time, and whether no task of an instance that was
// drained restored cold.
func (j *Job) Finish(crashed bool) {
	j.T.Helper()
	j.Produce(20)
	j.Probe("end")
	for _, p := range j.Pods(up) {
		j.Close(p.Name)
	}
	twice, bad := j.counts()
	if twice > 0 && !crashed {
		j.T.Errorf("%d records were counted twice", twice)
	}
	bad = append(bad, j.copies()...)
	bad = append(bad, j.overlaps()...)
	bad = append(bad, j.badRounds()...)
	bad = append(bad, j.cold()...)
	for _, s := range bad {
		j.T.Error(s)
	}
	if j.T.Failed() {
		j.T.Log(j.Tail(0))
	}
}

func scaleUp(t testing.TB, seeds []string) {
	t.Helper()
	j := three(t, "story-up", seeds)
	j.Start("S4")
	j.Becomes("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	j.Start("S5")
	j.Becomes("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1 S5[] learns T3")
	j.Gate("T1")
	j.Becomes("S1[T2] S2[T3,T4] S3[T5] S4[T1] S5[] learns T3")
	j.Gate("T1", "T3")
	j.Becomes("S1[T2] S2[T4] S3[T5] S4[T1] S5[T3]")
	j.Finish(false)
}

func leaderCrash(t testing.TB, seeds []string) {
	t.Helper()
	j := three(t, "story-crash", seeds)
	j.Start("S4")
	j.Becomes("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	j.Kill("S1")
	j.Becomes("S2[T3,T4] S3[T2,T5] S4[T1]")
	j.Finish(true)
}

func scaleDown(t testing.TB, seeds []string) {
	t.Helper()
	j := three(t, "story-down", seeds)
	j.Mark("S2", "drain", 0)
	j.Becomes("S1[T1,T2] learns T3 S2[T3,T4] S3[T5] learns T4")
	j.Gate("T4")
	j.Becomes("S1[T1,T2] learns T3 S2[T3] S3[T4,T5]")
	j.Gate("T3", "T4")
	j.Becomes("S1[T1,T2,T3] S3[T4,T5]")
	if err := j.Pod("S2").In.Wait(); err != nil || j.Count(worker.Drained) != 1 {
		t.Errorf("S2 ended with %v, drained %d times", err, j.Count(worker.Drained))
	}
	if m, ok := j.State().Leaving[j.Pod("S2").ID]; ok {
		t.Errorf("the mark is still there: %+v", m)
	}
	j.Finish(false)
}

func fromTheGround(t testing.TB, seeds []string) {
	t.Helper()
	j := newStory(t, "story-ground", seeds, nil, 1000)
	j.Start("S1")
	j.Becomes("S1[T1,T2,T3,T4,T5]")
	j.Start("S2")
	j.Start("S3")
	j.Settled(60 * time.Second)
	sizes := map[int]int{}
	for _, p := range j.Pods(up) {
		n := 0
		for _, x := range p.In.Stats().Tasks {
			if x.Role == roleActive {
				n++
			}
		}
		sizes[n]++
	}
	if sizes[2] != 2 || sizes[1] != 1 {
		t.Errorf("the group ends at %s, not at 2, 2 and 1 tasks", j.Picture())
	}
	j.Finish(false)
}
