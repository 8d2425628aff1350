package render

import (
	"bytes"
	"io"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// libraryRows is how many rows go through the table library. It makes maps for
// each row and measures each cell three times, which is most of the time and
// memory of a command that lists 10,000 groups; so larger tables hand their
// rows to the renderer themselves. Both ways write the same bytes.
const libraryRows = 500

// write appends the table to b, without borders, with trailing blanks removed.
func (g *Grid) write(b *bytes.Buffer, l layout, headings, colour bool) error {
	out := newLineRenderer(g, l, b, colour)
	rows := g.rows
	if g.footer != nil {
		rows = append(rows[:len(rows):len(rows)], g.footer)
	}
	if len(rows) > libraryRows {
		out.direct(rows, headings)
		return nil
	}
	return out.throughLibrary(rows, headings)
}

func newLineRenderer(g *Grid, l layout, b *bytes.Buffer, colour bool) *lineRenderer {
	return &lineRenderer{Blueprint: renderer.NewBlueprint(), grid: g, layout: l, colour: colour, out: b}
}

// throughLibrary lets the table library call the renderer.
func (r *lineRenderer) throughLibrary(rows [][]Cell, headings bool) error {
	if len(rows) == 0 && !headings {
		return nil
	}
	t := tablewriter.NewTable(io.Discard, tablewriter.WithConfig(plainConfig()), tablewriter.WithRenderer(r))
	if headings {
		t.Header(r.heads())
	}
	r.rows = rows
	for _, row := range rows {
		if err := t.Append(r.texts(row)); err != nil {
			return err
		}
	}
	return t.Render()
}

// direct calls the renderer row by row.
func (r *lineRenderer) direct(rows [][]Cell, headings bool) {
	if headings {
		r.Header([][]string{r.heads()}, tw.Formatting{})
	}
	r.rows = rows
	for _, row := range rows {
		r.Row(r.texts(row), tw.Formatting{})
	}
}

func (r *lineRenderer) heads() []string {
	heads := make([]string, len(r.layout.cols))
	for i, c := range r.layout.cols {
		heads[i] = r.grid.cols[c].Head
	}
	return heads
}

func (r *lineRenderer) texts(row []Cell) []string {
	texts := make([]string, len(r.layout.cols))
	for i, c := range r.layout.cols {
		texts[i] = row[c].text
	}
	return texts
}

func plainConfig() tablewriter.Config {
	cell := func() tw.CellConfig {
		return tw.CellConfig{
			Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
			Padding:    tw.CellPadding{Global: tw.Padding{Overwrite: true}},
		}
	}
	return tablewriter.Config{
		Header: cell(), Row: cell(), Footer: cell(),
		Behavior: tw.Behavior{TrimSpace: tw.Off, TrimTab: tw.Off, TrimLine: tw.Off, AutoHide: tw.Off},
	}
}

// lineRenderer is the renderer given to the table library. It pads by widths
// that do not depend on the locale, colours, and leaves no trailing blanks.
type lineRenderer struct {
	*renderer.Blueprint
	grid   *Grid
	layout layout
	rows   [][]Cell // that are still to come
	colour bool
	out    *bytes.Buffer
}

// Start begins a table; the lines go to the page, not to the library's writer.
func (r *lineRenderer) Start(io.Writer) error { return nil }

// Config tells the library that there are no borders and no lines.
func (r *lineRenderer) Config() tw.Rendition {
	return tw.Rendition{
		Borders: tw.BorderNone, Symbols: tw.NewSymbols(tw.StyleNone),
		Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
	}
}

// Line writes nothing: there are no borders.
func (r *lineRenderer) Line(tw.Formatting) {}

// Footer writes nothing: totals are a row.
func (r *lineRenderer) Footer([][]string, tw.Formatting) {}

// Header writes the headings.
func (r *lineRenderer) Header(lines [][]string, _ tw.Formatting) {
	for _, line := range lines {
		r.line(line, func(int) Style { return Dim })
	}
}

// Row writes one row.
func (r *lineRenderer) Row(texts []string, _ tw.Formatting) {
	var cells []Cell
	if len(r.rows) > 0 {
		cells, r.rows = r.rows[0], r.rows[1:]
	}
	r.line(texts, func(col int) Style {
		if col < len(cells) {
			return cells[col].style
		}
		return Plain
	})
}

func (r *lineRenderer) line(texts []string, style func(col int) Style) {
	blank := 0        // blanks owed, written only before more text
	var more []string // further lines of the last column
	for i, c := range r.layout.cols {
		if i >= len(texts) {
			break
		}
		text, width := texts[i], r.layout.widths[i]
		w := Width(text)
		if w > width && r.grid.cols[c].Wrap && i == len(r.layout.cols)-1 {
			lines := Wrap(text, width)
			text, more = lines[0], lines[1:]
			w = Width(text)
		}
		if w > width {
			text = Shorten(text, width)
			w = Width(text)
		}
		if i > 0 {
			blank += len(gap)
		}
		right := r.grid.cols[c].Right
		if right {
			blank += width - w
		}
		if text != "" {
			r.blanks(blank)
			blank = 0
			if s := style(c); r.colour && s != Plain {
				text = s.paint(text)
			}
			r.out.WriteString(text)
		}
		if !right {
			blank += width - w
		}
	}
	r.out.WriteByte('\n')
	for _, text := range more {
		r.further(text, style)
	}
}

// further writes one more line of the last column.
func (r *lineRenderer) further(text string, style func(col int) Style) {
	last := len(r.layout.cols) - 1
	at := 0
	for _, w := range r.layout.widths[:last] {
		at += w + len(gap)
	}
	text = Shorten(text, r.layout.widths[last])
	if s := style(r.layout.cols[last]); r.colour && s != Plain {
		text = s.paint(text)
	}
	r.blanks(at)
	r.out.WriteString(text)
	r.out.WriteByte('\n')
}

func (r *lineRenderer) blanks(n int) {
	const spaces = "                                                                "
	for ; n > len(spaces); n -= len(spaces) {
		r.out.WriteString(spaces)
	}
	if n > 0 {
		r.out.WriteString(spaces[:n])
	}
}
