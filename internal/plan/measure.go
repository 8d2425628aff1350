package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// Measured is a restore rate that was taken from two looks at the group.
type Measured struct {
	Rate Rate   // zero where none could be taken
	Note string // when and of whom it was taken, or why there is none
}

// Measure takes the restore rate from two looks at a group that restores: of
// the instances with progress the slowest, all its copies together. One that
// still restores at the second look counts before one that got ready between
// the two. Only worker groups and streams groups with task offsets tell
// positions between rounds; the note says why there is no rate.
func Measure(first, second *model.Group) Measured {
	if first.ID != second.ID || first.TakenAt == nil || second.TakenAt == nil || !second.TakenAt.After(*first.TakenAt) {
		return Measured{Note: "no restore rate: two looks at the same group, one after the other, are needed for it"}
	}
	if why := standStill(second); why != "" {
		return Measured{Note: "no restore rate could be measured: " + why}
	}
	secs := second.TakenAt.Sub(*first.TakenAt).Seconds()
	before := positions(first)
	var best progressed
	n := 0
	for i := range second.Instances {
		p := progress(&second.Instances[i], before[second.Instances[i].ID])
		if p.records == 0 {
			continue
		}
		n++
		if best.records == 0 || best.ready && !p.ready || best.ready == p.ready && p.records < best.records {
			best = p
		}
	}
	if n == 0 {
		return Measured{Note: fmt.Sprintf("no restore rate could be measured: no copy came nearer to its end in %.0fs", secs)}
	}
	rate := Rate{Records: math.Round(float64(best.records)/secs*100) / 100}
	of := best.name
	if n > 1 {
		of += fmt.Sprintf(", the slowest of %d instances that restore", n)
	}
	least := ""
	if best.ready {
		least = "; it got ready meanwhile, so it is faster than that"
	}
	const clock = "15:04:05"
	return Measured{rate, fmt.Sprintf("restore rate %s, measured between %s and %s UTC of %s%s", rate, first.TakenAt.UTC().Format(clock), second.TakenAt.UTC().Format(clock), of, least)}
}

// standStill says why the positions that a group shows do not move between
// rounds; "" when they do.
func standStill(g *model.Group) string {
	switch {
	case g.Positions.Basis == model.PositionsHeartbeat || g.Positions.Basis == model.PositionsStatus:
		return ""
	case g.Kind == model.Classic:
		return "a classic group reports positions only in a rebalance, so two looks show the same"
	case g.Kind == model.Streams:
		return "no member reports task offsets (brokers from 4.4 on pass them on)"
	}
	return "no worker writes its positions between rounds"
}

// progressed is what an instance restored between two looks.
type progressed struct {
	name    string
	records int64
	ready   bool // nothing is left to restore
}

func progress(in *model.Instance, before map[model.TaskID]int64) progressed {
	p := progressed{name: in.Name, ready: true}
	for j := range in.Members {
		for _, t := range in.Members[j].Tasks {
			at := t.Restore.Position
			was, seen := before[t.ID]
			if at == nil || !seen {
				continue
			}
			p.records += max(0, *at-was)
			p.ready = p.ready && t.Restore.State != model.Restoring
		}
	}
	return p
}

// positions are those of the copies that restore, by instance id and task.
func positions(g *model.Group) map[string]map[model.TaskID]int64 {
	out := make(map[string]map[model.TaskID]int64)
	for i := range g.Instances {
		in := &g.Instances[i]
		at := make(map[model.TaskID]int64)
		for j := range in.Members {
			for _, t := range in.Members[j].Tasks {
				if p := t.Restore.Position; p != nil && t.Restore.State == model.Restoring {
					at[t.ID] = max(at[t.ID], *p)
				}
			}
		}
		out[in.ID] = at
	}
	return out
}

// KeyRestoreRate names the measured rate among the settings that a plan took.
const KeyRestoreRate = "restore-rate"

// measured says where the restore rate comes from, or why there is none.
func (p *Plan) measured(o *Options) {
	switch {
	case o.Measured == nil || o.Rate != o.Measured.Rate:
	case o.Rate.Known():
		p.Taken = append(slices.Clone(p.Taken), Setting{KeyRestoreRate, o.Rate.String(), "measured"})
		slices.SortFunc(p.Taken, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
		p.find(NoteAssumed, "%s", o.Measured.Note)
	default:
		p.find(NoteUnknown, "%s", o.Measured.Note)
	}
}
