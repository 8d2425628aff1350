package cmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// readOf is what every document of a command that read a group says about the
// reading.
func readOf(g *model.Group) report.Read {
	r := report.Read{Errors: []report.Error{}}
	if g == nil {
		return r
	}
	r.TakenAt, r.Errors = g.TakenAt, report.Errors(g.Errors)
	if g.ClusterID != "" {
		r.ClusterID = &g.ClusterID
	}
	return r
}

func docHead(kind string) report.Head {
	return report.Head{Kind: kind, SchemaVersion: report.SchemaVersion}
}

// blockerDoc is one thing in the way, as Check and Wait list it.
type blockerDoc struct {
	Object           string        `json:"object"`
	Task             *model.TaskID `json:"task"` // null when it is no task
	Why              string        `json:"why"`
	Copy             *string       `json:"copy"` // instance id
	RemainingRecords *int64        `json:"remaining_records"`
}

func newBlockers(list []progress.Blocker) []blockerDoc {
	out := make([]blockerDoc, 0, len(list))
	for _, b := range list {
		d := blockerDoc{Object: b.Object, Why: b.Why, RemainingRecords: b.RemainingRecords}
		if b.Task != (model.TaskID{}) {
			d.Task = &b.Task
		}
		if b.Copy != "" {
			d.Copy = &b.Copy
		}
		out = append(out, d)
	}
	return out
}

// waitResult is how a wait ended.
type waitResult struct {
	Group  *model.Group
	Goal   progress.Goal
	Name   string // of the instance to be drained
	Status progress.Status
	Waited time.Duration
}

// waitReport is the Wait document.
type waitReport struct {
	report.Head
	Group    string       `json:"group"`
	For      string       `json:"for"`
	Instance *string      `json:"instance"`
	Met      bool         `json:"met"`
	WaitedMs int64        `json:"waited_ms"`
	Blockers []blockerDoc `json:"blockers"`
	Restore  []restoreDoc `json:"restore"`
	Notes    []string     `json:"notes"`
	report.Read

	name   string
	status progress.Status
	waited time.Duration
}

// restoreDoc is how far one copy is.
type restoreDoc struct {
	Task           model.TaskID `json:"task"`
	Member         string       `json:"member"`
	Role           string       `json:"role"`
	Restored       *int64       `json:"restored_records"`
	Total          *int64       `json:"total_records"`
	RatePerSecond  *float64     `json:"records_per_s"`
	LeftMs         *int64       `json:"left_ms"`
	WithoutSamples int          `json:"samples_without_progress"`
}

func newWaitReport(r waitResult) *waitReport {
	w := &waitReport{
		Head: docHead("Wait"), For: string(r.Goal.For), Met: r.Status.Met, WaitedMs: r.Waited.Milliseconds(),
		Blockers: newBlockers(r.Status.Blockers), Restore: []restoreDoc{}, Notes: append([]string{}, r.Status.Notes...),
		Read: readOf(r.Group), name: r.Name, status: r.Status, waited: r.Waited,
	}
	if r.Group != nil {
		w.Group = r.Group.ID
	}
	if r.Goal.Instance != "" {
		w.Instance = &r.Goal.Instance
	}
	for _, t := range r.Status.Restore {
		d := restoreDoc{Task: t.Task, Member: t.Member, Role: string(t.Role), Restored: t.Restored, Total: t.Total, RatePerSecond: t.Rate}
		if t.Left != nil {
			ms := t.Left.Milliseconds()
			d.LeftMs = &ms
		}
		if t.Stuck > 1 {
			d.WithoutSamples = t.Stuck - 1
		}
		w.Restore = append(w.Restore, d)
	}
	return w
}

// Text writes the result in a line, and what is in the way when it is not met.
func (w *waitReport) Text(p *render.Page) {
	what := "group " + p.Name(w.Group)
	if w.name != "" {
		what = p.Name(w.name) + " of " + what
	}
	if w.Met {
		p.Styled(2, render.Good, fmt.Sprintf("%s: %s after %s", w.For, what, render.Duration(w.waited.Round(time.Second))))
		return
	}
	p.Styled(2, render.Warning, fmt.Sprintf("not %s: %s after %s", w.For, what, render.Duration(w.waited.Round(time.Second))))
	for _, l := range waitLines(w.status) {
		p.Line(4, "  "+l)
	}
}

// maxWaitLines bounds what one look of a wait writes.
const maxWaitLines = 12

// waitLines says what is in the way, a line each, with progress where there is
// any (field case 8).
func waitLines(s progress.Status) []string {
	restoring := map[model.TaskID]progress.TaskRestore{}
	for _, r := range s.Restore {
		if r.Role == model.Active || restoring[r.Task].Member == "" {
			restoring[r.Task] = r
		}
	}
	var out []string
	for i, b := range s.Blockers {
		if i == maxWaitLines {
			out = append(out, fmt.Sprintf("%d more", len(s.Blockers)-maxWaitLines))
			break
		}
		line := render.Escape(b.Object) + ": " + render.Escape(b.Why)
		if r, ok := restoring[b.Task]; ok && b.Task != (model.TaskID{}) {
			line += "  " + restoreText(r)
		}
		out = append(out, line)
	}
	return out
}

// restoreText is RESTORED/TOTAL, the rate and the time to go.
func restoreText(r progress.TaskRestore) string {
	parts := []string{render.OptInt(r.Restored) + "/" + render.OptInt(r.Total)}
	switch {
	case r.Why != "":
		return parts[0] + ", rate -, ETA - (" + r.Why + ")"
	case r.Rate == nil:
		parts = append(parts, "rate unknown")
	default:
		parts = append(parts, render.Int(int64(*r.Rate))+"/s")
	}
	if r.Left == nil {
		parts = append(parts, "ETA unknown")
	} else {
		parts = append(parts, "ETA "+render.Duration(r.Left.Round(time.Second)))
	}
	return strings.Join(parts, ", ")
}
