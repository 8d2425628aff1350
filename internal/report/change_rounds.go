package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// GoodLine is a sentence that says that all is well.
func GoodLine(text string) ChangeLine {
	return ChangeLine{Text: render.Escape(text), Style: render.Good}
}

// WarnLine is a sentence that needs a look.
func WarnLine(text string) ChangeLine {
	return ChangeLine{Text: render.Escape(text), Style: render.Warning}
}

// Compare fills in what a rebalance did: the group before and after it.
func (a *AskedOnce) Compare(before, after *model.Group) {
	a.Moved, a.Learners = len(movedTasks(before, after)), after.Totals.Learner
	a.Balanced = nil
	if after.Balance != nil {
		b := after.Balance.Balanced
		a.Balanced = &b
	}
}

// moved is an active task that is on another instance than before.
type moved struct {
	task     model.TaskID
	from, to string // names of instances
}

// movedTasks compares the owners of active tasks; by task.
func movedTasks(before, after *model.Group) []moved {
	was := owners(before)
	var out []moved
	for id, now := range owners(after) {
		if old, ok := was[id]; ok && old.ID != now.ID {
			out = append(out, moved{id, instanceName(old), instanceName(now)})
		}
	}
	slices.SortFunc(out, func(a, b moved) int { return a.task.Compare(b.task) })
	return out
}

func owners(g *model.Group) map[model.TaskID]*model.Instance {
	out := map[model.TaskID]*model.Instance{}
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			for _, t := range g.Instances[i].Members[j].Tasks {
				if t.Role == model.Active && !t.TargetOnly {
					out[t.ID] = &g.Instances[i]
				}
			}
		}
	}
	return out
}

// spreadShown is how many instances a line names.
const spreadShown = 4

// Spread says how many active tasks each instance runs, for example "pod-a 6,
// pod-b 6"; of many instances the least and the most.
func Spread(g *model.Group) string {
	if len(g.Instances) == 0 {
		return "no instance"
	}
	if len(g.Instances) > spreadShown {
		least, most := g.Instances[0].Active, g.Instances[0].Active
		for i := range g.Instances {
			least, most = min(least, g.Instances[i].Active), max(most, g.Instances[i].Active)
		}
		return fmt.Sprintf("%d to %d tasks on each of %d instances", least, most, len(g.Instances))
	}
	parts := make([]string, len(g.Instances))
	for i := range g.Instances {
		parts[i] = fmt.Sprintf("%s %d", render.Escape(instanceName(&g.Instances[i])), g.Instances[i].Active)
	}
	return strings.Join(parts, ", ")
}

const askedForm = "%5s  %5s  %5s  %6s  %10s  %s"

// AskedHead is the heading of the lines of a `rebalance --until`.
func AskedHead() string {
	return fmt.Sprintf(askedForm, "TIME", "ROUND", "MOVED", "LEARN", "TO RESTORE", "TASKS")
}

// Line is one rebalance in a line, below AskedHead.
func (a *AskedOnce) Line(since time.Duration, round int, after *model.Group) string {
	learners, left := render.Int(int64(a.Learners)), "-"
	if a.Learners > 0 {
		learners += InferredMark(after)
		if n := learnerRecords(after); n != nil {
			left = "≤" + render.Int(*n)
		}
	}
	return fmt.Sprintf(askedForm, since.Round(time.Second), render.Int(int64(round)), render.Int(int64(a.Moved)), learners, left, Spread(after))
}

// learnerRecords is what all learners have to restore as of the last round; nil
// when one of them has not reported.
func learnerRecords(g *model.Group) *int64 {
	var sum int64
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			for _, t := range g.Instances[i].Members[j].Tasks {
				if t.Role != model.Learner {
					continue
				}
				if t.Restore.RemainingRecords == nil {
					return nil
				}
				sum += *t.Restore.RemainingRecords
			}
		}
	}
	return &sum
}

// Sentences say what one rebalance did. commands tells which commands a hint may
// name.
func (a *AskedOnce) Sentences(before, after *model.Group, commands func(string) bool) []string {
	const shown = 10
	var out []string
	list := movedTasks(before, after)
	switch len(list) {
	case 0:
		out = append(out, "moved: none of "+render.Count(len(owners(after)), "active task"))
	default:
		words := make([]string, 0, len(list))
		for i, m := range list {
			if i == shown {
				words = append(words, fmt.Sprintf("and %d more", len(list)-shown))
				break
			}
			words = append(words, fmt.Sprintf("%s %s -> %s", m.task, render.Escape(m.from), render.Escape(m.to)))
		}
		out = append(out, fmt.Sprintf("moved: %d of %s: %s", len(list), render.Count(len(owners(after)), "active task"), strings.Join(words, ", ")))
	}
	out = append(out, "tasks: "+Spread(after))
	if a.Caught {
		out = append(out, "the visitor was caught in a round: another one followed without it")
	}
	if a.Learners > 0 {
		text := render.Count(a.Learners, "learner") + "~ at work"
		if n := learnerRecords(after); n != nil && *n > 0 {
			text += ", ≤" + render.Int(*n) + " records to restore as of this round"
		}
		if commands != nil && commands("rebalance") {
			text += "; rebalance " + render.ShellWord(after.ID) + " --until converged asks again as they get ready"
		}
		out = append(out, text)
	}
	return out
}
