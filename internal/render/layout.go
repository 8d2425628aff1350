package render

// designWidth is what the default form of every table fits, for ids of up to
// 20 characters (field case 64).
const designWidth = 80

// minName is the least a name is shortened to.
const minName = 8

const gap = "  "

// layout is a table as it will be printed: which columns, how wide.
type layout struct {
	cols   []int // indexes into Grid.cols
	widths []int
}

// fit says what a table has to fit.
type fit struct {
	form   Form
	width  int  // of the terminal; 0: there is none
	design bool // part of a screen that fits 80 columns where there is no terminal
}

// arrange chooses the columns of a text form and their widths. On a terminal
// the default form drops the columns that matter least, shortens names, and at
// last drops from the right.
// Without one nothing is cut, and only a screen made for 80 columns leaves
// columns out, where even ids of usual length would not fit. The wide form
// shows all, but for columns without a value where a terminal has no room for them.
func (g *Grid) arrange(f fit) layout {
	var l layout
	for i := range g.cols {
		if g.cols[i].in(f.form) {
			l.cols = append(l.cols, i)
			l.widths = append(l.widths, g.columnWidth(i))
		}
	}
	switch {
	case f.form == InWide && f.width > 0:
		for i := len(l.cols) - 1; i >= 0 && l.total(g, false) > f.width; i-- {
			if g.silent(l.cols[i]) {
				l.remove(i)
			}
		}
		return l
	case f.form != InDefault:
		return l
	case f.width <= 0:
		for f.design && l.total(g, true) > designWidth && l.drop(g) {
		}
		return l
	}
	for l.total(g, true) > f.width && l.drop(g) {
	}
	for over := l.total(g, false) - f.width; over > 0; over = l.total(g, false) - f.width {
		if l.shrink(g, over) {
			continue
		}
		if len(l.cols) == 1 {
			break
		}
		l.remove(len(l.cols) - 1) // better than lines that wrap
	}
	return l
}

// silent reports whether a column has no value in any row.
func (g *Grid) silent(col int) bool {
	for _, row := range g.rows {
		if t := row[col].text; t != "" && t != None {
			return false
		}
	}
	return len(g.rows) > 0 && (g.footer == nil || g.footer[col].raw == "")
}

func (g *Grid) columnWidth(i int) int {
	w := Width(g.cols[i].Head)
	for _, row := range g.rows {
		w = max(w, Width(row[i].text))
	}
	if g.footer != nil {
		w = max(w, Width(g.footer[i].text))
	}
	return w
}

func (l *layout) total(g *Grid, capped bool) int {
	sum := len(gap) * (len(l.cols) - 1)
	for i, c := range l.cols {
		w := l.widths[i]
		if limit := g.cols[c].Cap; capped && limit > 0 {
			w = min(w, limit)
		}
		sum += w
	}
	return sum
}

// drop removes the column that matters least; false when none may go.
func (l *layout) drop(g *Grid) bool {
	at := -1
	for i, c := range l.cols {
		if d := g.cols[c].Drop; d > 0 && (at < 0 || d >= g.cols[l.cols[at]].Drop) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	l.remove(at)
	return true
}

func (l *layout) remove(at int) {
	l.cols = append(l.cols[:at:at], l.cols[at+1:]...)
	l.widths = append(l.widths[:at:at], l.widths[at+1:]...)
}

// shrink takes up to over columns from the widest name; false when all names
// are as short as they get.
func (l *layout) shrink(g *Grid, over int) bool {
	at, second := -1, minName
	for i, c := range l.cols {
		if g.cols[c].Cap == 0 || l.widths[i] <= minName {
			continue
		}
		switch {
		case at < 0 || l.widths[i] > l.widths[at]:
			if at >= 0 {
				second = max(second, l.widths[at])
			}
			at = i
		default:
			second = max(second, l.widths[i])
		}
	}
	if at < 0 {
		return false
	}
	floor := max(minName, min(second, l.widths[at]-1))
	l.widths[at] = max(floor, l.widths[at]-over)
	return true
}
