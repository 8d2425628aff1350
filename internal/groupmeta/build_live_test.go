package groupmeta_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// liveRound is one recorded round of a real group (testdata/live).
type liveRound struct {
	Name          string `json:"name"`
	Standbys      int    `json:"standbys"`
	Subtopologies []struct {
		ID         int32    `json:"id"`
		Partitions int32    `json:"partitions"`
		Sources    []string `json:"sources"`
		Changelogs []string `json:"changelogs"`
		Ends       []int64  `json:"ends"`
	} `json:"subtopologies"`
	Processes []struct {
		ID      string   `json:"id"`
		Warmup  []string `json:"warmup"`
		Members []struct {
			ID      string           `json:"id"`
			Owned   []string         `json:"owned"`
			Sums    map[string]int64 `json:"sums"`
			Active  []string         `json:"active"`
			Standby []string         `json:"standby"`
			Next    string           `json:"next"`
		} `json:"members"`
	} `json:"processes"`
}

func liveRounds(t *testing.T) []liveRound {
	t.Helper()
	f, err := os.Open("testdata/live/rounds.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []liveRound
	for s := bufio.NewScanner(f); s.Scan(); {
		var r liveRound
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if len(out) < 50 {
		t.Fatalf("only %d rounds", len(out))
	}
	return out
}

// app makes the group as a describe would show it right after the round.
func (r *liveRound) app() *app {
	group, _, _ := strings.Cut(strings.TrimPrefix(r.Name, "live-"), "-")
	a := &app{group: group}
	for _, s := range r.Subtopologies {
		a.subs = append(a.subs, appSub{id: s.ID, partitions: s.Partitions, sources: s.Sources, changelogs: s.Changelogs, ends: s.Ends})
	}
	for _, p := range r.Processes {
		for _, m := range p.Members {
			client := m.ID[:len(m.ID)-37] // a hyphen and a UUID
			out := appMember{
				process: p.ID, client: client, owned: strings.Join(m.Owned, " "), sums: m.Sums,
				active: strings.Join(m.Active, " "), standby: strings.Join(m.Standby, " "),
			}
			switch m.Next {
			case "now":
				out.next = atOnce
			case "probing":
				out.next = start().Add(9 * time.Minute).UnixMilli()
			}
			a.members = append(a.members, out)
		}
	}
	return a
}

// behind reports whether a copy was not caught up when the round was made: 100
// records were acceptable in these groups.
func (r *liveRound) behind(task string, sums map[string]int64) bool {
	sum, ok := sums[task]
	if !ok {
		return true
	}
	id := ids(task)[0]
	for _, s := range r.Subtopologies {
		if fmt.Sprint(s.ID) == id.Subtopology {
			return sum != groupmeta.SumRunning && s.Ends[id.Partition]-sum > 100
		}
	}
	return true
}

// sums are what a member reported, found by its client id.
func (r *liveRound) sums(clientID string) map[string]int64 {
	for _, p := range r.Processes {
		for _, m := range p.Members {
			if strings.HasPrefix(m.ID, clientID) {
				return m.Sums
			}
		}
	}
	return nil
}

// copies counts the standbys of a task over the processes.
func (r *liveRound) copies(task string) int {
	n := 0
	for _, p := range r.Processes {
		for _, m := range p.Members {
			if slices.Contains(m.Standby, task) {
				n++
			}
		}
	}
	return n
}

// Without standbys every copy is a learner or parked, and the model says
// exactly which. With standbys it calls as many copies learners as there are
// too many, but for what is open, and never one that is caught up.
func TestLearnersOfRealRounds(t *testing.T) {
	warmups, moving := 0, 0
	for _, r := range liveRounds(t) {
		g := build(t, r.app().snapshot(), groupmeta.BuildOptions{Standbys: &r.Standbys})
		moving += len(g.Moving)
		if got := g.Totals.Active + len(g.Moving); got != g.Totals.Tasks || len(g.Unassigned) > 0 {
			t.Errorf("%s: %d active, moving %v, unassigned %v of %d tasks", r.Name, g.Totals.Active, g.Moving, g.Unassigned, g.Totals.Tasks)
		}
		found := make(map[string]int) // learners or doubtful copies by task
		for _, p := range r.Processes {
			warmups += len(p.Warmup)
			in := instance(t, g, p.ID)
			var learners []string
			for _, m := range in.Members {
				for _, task := range m.Tasks {
					name := task.ID.String()
					if task.Role == model.Learner || task.Uncertain {
						found[name]++
					}
					if task.Role != model.Learner {
						continue
					}
					learners = append(learners, name)
					if !r.behind(name, r.sums(m.ClientID)) {
						t.Errorf("%s: %s on %s is caught up and called a learner", r.Name, name, m.Name)
					}
				}
			}
			slices.Sort(learners)
			if r.Standbys == 0 && !slices.Equal(learners, p.Warmup) {
				t.Errorf("%s: %s learns %v, the model says %v", r.Name, in.Name, p.Warmup, learners)
			}
		}
		for _, s := range r.Subtopologies {
			for p := range s.Partitions {
				name := fmt.Sprintf("%d_%d", s.ID, p)
				if extra := r.copies(name) - r.Standbys; r.Standbys > 0 && extra > 0 && found[name] < extra && !slices.Contains(g.Moving, ids(name)[0]) && g.NextRebalance != nil {
					t.Errorf("%s: %s has %d copies too many, %d are shown", r.Name, name, extra, found[name])
				}
			}
		}
	}
	if warmups < 50 || moving < 50 {
		t.Errorf("only %d learners and %d tasks between owners in the recordings", warmups, moving)
	}
}

// With the number of standbys estimated, what is called a learner without doubt
// is one, or a copy on its way that is one too many.
func TestEstimatedLearnersOfRealRounds(t *testing.T) {
	warmups, found := 0, 0
	for _, r := range liveRounds(t) {
		g := build(t, r.app().snapshot(), groupmeta.BuildOptions{})
		for _, p := range r.Processes {
			in := instance(t, g, p.ID)
			warmups += len(p.Warmup)
			for _, m := range in.Members {
				for _, task := range m.Tasks {
					name := task.ID.String()
					if task.Role != model.Learner {
						continue
					}
					found++
					if !slices.Contains(p.Warmup, name) && (!r.behind(name, r.sums(m.ClientID)) || r.copies(name) <= r.Standbys) {
						t.Errorf("%s: %s on %s is called a learner", r.Name, name, m.Name)
					}
				}
			}
		}
	}
	if warmups < 50 || found*2 < warmups {
		t.Errorf("%d learners in the recordings, %d found", warmups, found)
	}
}
