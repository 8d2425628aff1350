package assign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// play runs a round and tells it.
func (s *learnerStory) play(t *testing.T) string {
	t.Helper()
	before := maps.Clone(s.owner)
	var b strings.Builder
	s.tellRevoked(&b)
	in, r := s.rebalance()
	if err := checkLearnerRound(in, &r); err != nil {
		t.Error(err)
	}
	if err := checkLearnerWorkers(&r); err != nil {
		t.Error(err)
	}
	for _, task := range slices.Sorted(maps.Keys(s.owner)) {
		if from, to := before[task], s.owner[task]; from != "" && from != to {
			fmt.Fprintf(&b, "moved: %s from %s to %s\n", s.name(task), from, to)
		}
	}
	if r.MarksVoid {
		b.WriteString("the marks are void\n")
	}
	if r.SwitchWaiting {
		b.WriteString("waits for the others\n")
	}
	for _, share := range r.Instances {
		s.tell(&b, share)
	}
	s.tellTasks(&b, "without owner", r.Unassigned)
	s.tellTasks(&b, "waiting for evacuation", r.Waiting)
	if r.MissingStandbys > 0 {
		fmt.Fprintf(&b, "missing standbys: %d\n", r.MissingStandbys)
	}
	return b.String()
}

// tellRevoked tells which tasks are not processed any more by those that own
// them as they join.
func (s *learnerStory) tellRevoked(b *strings.Builder) {
	open := s.open()
	s.input()
	now := s.open()
	by := map[string][]Task{}
	for task, who := range open {
		for _, id := range who {
			if !slices.Contains(now[task], id) {
				by[id] = append(by[id], task)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[id])
		s.tellTasks(b, "revoked: "+id, by[id])
	}
}

func (s *learnerStory) tellTasks(b *strings.Builder, what string, tasks []Task) {
	if len(tasks) == 0 {
		return
	}
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = s.name(t)
	}
	fmt.Fprintf(b, "%s %s\n", what, strings.Join(names, " "))
}

// tell writes one instance: its tasks, by worker if it has several.
func (s *learnerStory) tell(b *strings.Builder, share LearnerShare) {
	b.WriteString(share.ID)
	for _, w := range share.Workers {
		words := make([]string, 0, len(w.Tasks))
		for _, a := range w.Tasks {
			words = append(words, s.name(a.Task)+storyWord(a))
		}
		all := strings.Join(words, " ")
		if len(share.Workers) > 1 {
			all = "[" + all + "]"
		}
		if all != "" {
			b.WriteString(" " + all)
		}
	}
	if s.find(share.ID) == nil {
		b.WriteString(" shuts down")
	}
	b.WriteString("\n")
}

func storyWord(a LearnerAssigned) string {
	switch {
	case a.BeingLearned:
		return "(being-learned)"
	case a.Release:
		return "(to be released)"
	case a.Role == model.Active:
		return ""
	}
	return "(" + string(a.Role) + ")"
}

// settle plays rounds with all learners ready until nothing is left to do.
func (s *learnerStory) settle(t *testing.T) string {
	t.Helper()
	for rounds := 0; ; rounds++ {
		for _, x := range s.unready() {
			x.finish()
		}
		before, members := s.last, len(s.insts)
		told := s.play(t)
		if still(&before, &s.last) && members == len(s.insts) {
			return fmt.Sprintf("after %d more rounds\n%s", rounds, told)
		}
		if rounds > 100 {
			t.Fatal("no fixed point")
		}
	}
}

// group tells the group as it was given.
func (s *learnerStory) group() string {
	var b strings.Builder
	for _, in := range s.insts {
		share := LearnerShare{ID: in.id}
		for _, w := range in.workers {
			ws := LearnerWorkerShare{ID: w.ID}
			for _, t := range slices.Sorted(maps.Keys(w.tasks)) {
				ws.Tasks = append(ws.Tasks, LearnerAssigned{Task: t, Role: w.tasks[t].Role})
			}
			share.Workers = append(share.Workers, ws)
		}
		s.tell(&b, share)
	}
	if len(s.insts) == 0 {
		return "nobody is there\n"
	}
	return b.String()
}
