package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Form is where a column is shown.
type Form uint8

// The forms of a table. The zero value of Column.In means all of them.
const (
	InDefault Form = 1 << iota
	InWide
	InMachine
	InText = InDefault | InWide
	InFull = InWide | InMachine
	InAll  = InDefault | InWide | InMachine
)

// Column is one column of a table.
type Column struct {
	Head  string // capital heading
	Key   string // heading in csv and tsv and name for --sort-by; "" derives it from Head
	Right bool   // numbers
	In    Form

	// Drop orders what goes when space is short: columns with the highest
	// number first, 0 never.
	Drop int
	// Cap marks a name. It counts with at most Cap columns when it is decided
	// which columns fit, and is shortened in the middle on a terminal.
	Cap int
	// Wrap breaks the text of the last column at blanks instead of shortening it.
	Wrap bool
}

func (c *Column) key() string {
	if c.Key != "" {
		return c.Key
	}
	return strings.ReplaceAll(strings.ToLower(c.Head), " ", "_")
}

func (c *Column) in(f Form) bool { return c.In == 0 || c.In&f != 0 }

// Grid is a table: columns, rows and perhaps a last line with the totals.
type Grid struct {
	cols   []Column
	rows   [][]Cell
	footer []Cell
}

// NewGrid returns an empty table with these columns.
func NewGrid(cols ...Column) *Grid { return &Grid{cols: cols} }

// Grow makes room for n more rows.
func (g *Grid) Grow(n int) { g.rows = slices.Grow(g.rows, n) }

// Row adds a row: one cell a column, in their order.
func (g *Grid) Row(cells ...Cell) { g.rows = append(g.rows, g.full(cells)) }

// Footer sets the last line. Sorting leaves it where it is; machine formats
// leave it out.
func (g *Grid) Footer(cells ...Cell) { g.footer = g.full(cells) }

func (g *Grid) full(cells []Cell) []Cell {
	for len(cells) < len(g.cols) {
		cells = append(cells, Blank())
	}
	return cells[:len(g.cols)]
}

// Len returns the number of rows.
func (g *Grid) Len() int { return len(g.rows) }

// Keys lists what --sort-by takes, in the order of the columns.
func (g *Grid) Keys() []string {
	out := make([]string, len(g.cols))
	for i := range g.cols {
		out[i] = g.cols[i].key()
	}
	return out
}

// ColumnError says that --sort-by names no column. It is bad usage.
type ColumnError struct {
	Column string
	Known  []string
}

// Error names the column and those that exist.
func (e *ColumnError) Error() string {
	return fmt.Sprintf("sort by %q: no such column, want one of %s", e.Column, strings.Join(e.Known, ", "))
}

// SortBy orders the rows by one column, given by heading or key in any case;
// "-" before it turns the order round. Numbers sort as numbers, unknown values
// come last either way, equal rows keep their order.
func (g *Grid) SortBy(column string) error {
	if column == "" {
		return nil
	}
	name, down := strings.CutPrefix(column, "-")
	i := slices.IndexFunc(g.cols, func(c Column) bool {
		return strings.EqualFold(c.key(), name) || strings.EqualFold(c.Head, name)
	})
	if i < 0 {
		return &ColumnError{Column: name, Known: g.Keys()}
	}
	slices.SortStableFunc(g.rows, func(a, b []Cell) int { return compareCells(a[i], b[i], down) })
	return nil
}

func compareCells(a, b Cell, down bool) int {
	ka, kb := a.raw != "", b.raw != ""
	switch {
	case !ka || !kb:
		return cmp.Compare(boolInt(kb), boolInt(ka))
	case down:
		a, b = b, a
	}
	if a.isNum && b.isNum {
		return cmp.Compare(a.num, b.num)
	}
	return strings.Compare(a.raw, b.raw)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
