package report

import (
	"maps"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// planRow is one row of the rounds: a rebalance with the hand-overs that follow
// it at once.
type planRow struct {
	number, moves, learners, standbys, down int
	at, trigger                             string
	records                                 int64
	unknown                                 bool // records of some copy are not known
	active                                  map[string]int
}

func (s *planScreen) rows() []planRow {
	var out []planRow
	for i, r := range s.r.Rounds {
		if i == 0 || r.Trigger != plan.TriggerHandOver {
			at := took(r.AtS)
			if r.AtMostS != nil && *r.AtMostS != r.AtS {
				at += "-" + took(*r.AtMostS)
			}
			out = append(out, planRow{number: len(out) + 1, at: at, trigger: r.Trigger})
		}
		row := &out[len(out)-1]
		row.moves += len(r.Moves)
		row.learners += len(r.Learners)
		row.standbys += len(r.Standbys)
		row.down += len(r.Down)
		if i > 0 && row.active == nil {
			row.active = maps.Clone(out[len(out)-2].active)
		}
		if row.active == nil {
			row.active = map[string]int{}
		}
		maps.Copy(row.active, r.Active)
		for _, d := range r.Down {
			if d.RemainingRecords != nil {
				row.records += *d.RemainingRecords
			}
			row.unknown = row.unknown || d.Why == plan.WhyUnknownState
		}
		for _, list := range [][]plan.Copy{r.Learners, r.Standbys} {
			for _, c := range list {
				if c.RemainingRecords == nil {
					row.unknown = true
				} else {
					row.records += *c.RemainingRecords
				}
			}
		}
	}
	return out
}

// Rows of the rounds that the default form shows: so many first, then the last.
const (
	firstRounds = 16
	lastRounds  = 3
)

// maxBelow is for how many rounds the table goes on below, with the instances
// for which there is no room.
const maxBelow = 8

// rounds writes a row a round, with the active tasks of the instances that
// change most. Where there is no room for a few instances a table below has the
// others; of many, or of many rounds, those are counted.
func (s *planScreen) rounds() {
	rows := s.rows()
	if len(rows) == 0 {
		return
	}
	ids, rank, more := s.columns()
	below := more == 0 && len(rows) <= maxBelow
	if below { // by name then, one table after the other
		for i, id := range ids {
			rank[id] = i + 1
		}
	}
	grid := s.roundGrid(rows, ids, rank, true)
	left := min(s.p.Dropped(grid), len(ids))
	s.block(grid)
	for below && left > 0 {
		ids = ids[len(ids)-left:]
		grid = s.roundGrid(rows, ids, rank, false)
		if left = s.p.Dropped(grid); left >= len(ids) {
			left = len(ids)
			break
		}
		s.block(grid)
	}
	if more += left; more > 0 {
		s.p.Styled(0, render.Dim, render.Count(more, "more instance")+": -o wide")
	}
}

// roundGrid is the table of rounds with columns of these instances, of which
// that with the highest rank goes first where there is no room; without the whole
// story it has only the number of the round, its time and them.
func (s *planScreen) roundGrid(rows []planRow, ids []string, rank map[string]int, story bool) *render.Grid {
	standbys, down := false, false
	for i := range rows {
		standbys, down = standbys || rows[i].standbys > 0, down || rows[i].down > 0
	}
	in := onlyIf(story, render.InText)
	cols := []render.Column{
		{Head: "ROUND"}, {Head: "AT"}, {Head: "TRIGGER", Cap: 24, In: in}, {Head: "MOVES", Right: true, In: in},
		{Head: "LEARN", Right: true, In: in}, {Head: "STANDBY", Right: true, In: onlyIf(story && standbys, render.InText)},
		{Head: "DOWN", Right: true, In: onlyIf(story && down, render.InText)}, {Head: "TO RESTORE", Right: true, In: in},
	}
	for _, id := range ids {
		cols = append(cols, render.Column{Head: render.Shorten(s.name(id), 12), Right: true, Drop: rank[id]})
	}
	grid := render.NewGrid(cols...)
	for i := range rows {
		if !s.p.Wide() && len(rows) > firstRounds+lastRounds+1 && i >= firstRounds && i < len(rows)-lastRounds {
			if i == firstRounds {
				grid.Row(render.Text("…"), render.Blank(), render.Text(render.Int(int64(len(rows)-firstRounds-lastRounds))+" more: -o wide"))
			}
			continue
		}
		grid.Row(rows[i].cells(ids)...)
	}
	return grid
}

// cells are a row of roundGrid.
func (r *planRow) cells(ids []string) []render.Cell {
	restore := render.Num(r.records)
	switch {
	case r.unknown: // of some, so no sum is a bound
		restore = render.Dash()
	case r.records > 0:
		restore = restore.Prefix("≤")
	}
	cells := []render.Cell{
		render.Text(strconv.Itoa(r.number)), render.Text(r.at), render.Text(r.trigger), render.Num(r.moves),
		render.Num(r.learners), render.Num(r.standbys), render.Num(r.down), restore,
	}
	for _, id := range ids {
		n, there := r.active[id]
		if !there {
			cells = append(cells, render.Dash())
			continue
		}
		cells = append(cells, render.Num(n))
	}
	return cells
}

// maxColumns is how many instances the table of rounds has at most.
const maxColumns = 6

// columns are the instances of the table of rounds, by name: those that change
// most. rank orders them by that, from 1; more counts the instances without a
// column.
func (s *planScreen) columns() (ids []string, rank map[string]int, more int) {
	ids = s.ids()
	change := func(id string) int {
		d := s.r.After.Instances[id].Active - s.r.Before.Instances[id].Active
		return max(d, -d)
	}
	ranked := slices.Clone(ids)
	slices.SortStableFunc(ranked, func(a, b string) int { return change(b) - change(a) })
	if !s.p.Wide() {
		ranked = ranked[:min(len(ranked), maxColumns)]
	}
	rank = make(map[string]int, len(ranked))
	for i, id := range ranked {
		rank[id] = i + 1
	}
	more = len(ids) - len(ranked)
	return slices.DeleteFunc(ids, func(id string) bool { return rank[id] == 0 }), rank, more
}
