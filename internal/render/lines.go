package render

import "bytes"

// write appends the table to b, without borders, with trailing blanks removed.
// Lines are laid out here rather than by a table library: those measure by the
// locale, and the making of their caches is felt by a command that takes ten
// milliseconds.
func (g *Grid) write(b *bytes.Buffer, l layout, headings, colour bool) {
	w := &lineWriter{grid: g, layout: l, colour: colour, out: b}
	if headings {
		w.line(func(col int) (string, Style) { return g.cols[col].Head, Dim })
	}
	for _, row := range g.rows {
		w.row(row)
	}
	if g.footer != nil {
		w.row(g.footer)
	}
}

// lineWriter writes lines whose columns are padded to the widths of a layout.
type lineWriter struct {
	grid   *Grid
	layout layout
	colour bool
	out    *bytes.Buffer
}

func (w *lineWriter) row(cells []Cell) {
	w.line(func(col int) (string, Style) { return cells[col].text, cells[col].style })
}

// line writes one line; cell gives text and style by the index of the column in
// the grid.
func (w *lineWriter) line(cell func(col int) (string, Style)) {
	blank := 0 // blanks owed, written only before more text
	for i, c := range w.layout.cols {
		text, style := cell(c)
		width := w.layout.widths[i]
		takes := Width(text)
		if takes > width {
			text = Shorten(text, width)
			takes = Width(text)
		}
		if i > 0 {
			blank += len(gap)
		}
		right := w.grid.cols[c].Right
		if right {
			blank += width - takes
		}
		if text != "" {
			w.blanks(blank)
			blank = 0
			if w.colour && style != Plain {
				text = style.paint(text)
			}
			w.out.WriteString(text)
		}
		if !right {
			blank += width - takes
		}
	}
	w.out.WriteByte('\n')
}

func (w *lineWriter) blanks(n int) {
	const spaces = "                                                                "
	for ; n > len(spaces); n -= len(spaces) {
		w.out.WriteString(spaces)
	}
	if n > 0 {
		w.out.WriteString(spaces[:n])
	}
}
