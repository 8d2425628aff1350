package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
)

// Report is what a command shows. Its exported fields are the JSON and YAML
// document; Text is the same facts for people.
type Report interface{ Text(p *Page) }

// Lister is a report that is one row a thing. Grid holds the rows for csv, tsv
// and name, whose first column is the name.
type Lister interface{ Grid() *Grid }

// Namer is a Lister whose rows are parts of the things that it is about; Names
// are those of the things, for the name format.
type Namer interface{ Names() []string }

// Options says how a report is written.
type Options struct {
	Format      Format
	Width       int    // columns of the terminal; 0: no terminal, nothing is dropped or cut
	Color       bool   // ui.Streams.UseColor
	NoHeaders   bool   // --no-headers
	SortBy      string // --sort-by, tables, csv, tsv and name; documents keep their order
	JSONStrings bool   // --json-strings: 64-bit integers as strings
}

// FormError says that a report has no such form. It is bad usage.
type FormError struct{ Format Format }

// Error names the format.
func (e *FormError) Error() string {
	return fmt.Sprintf("output format %q: this command has no rows to list, want table, wide, json or yaml", string(e.Format))
}

// Write writes a report to w with one call of Write, so that nothing is
// written when it cannot be written whole.
func Write(w io.Writer, o Options, r Report) error {
	var b bytes.Buffer
	var err error
	switch o.Format {
	case JSON:
		if err = AppendJSON(&b, r, o.JSONStrings); err == nil {
			b.WriteByte('\n')
		}
	case YAML:
		err = AppendYAML(&b, r, o.JSONStrings)
	case CSV, TSV, Name:
		err = writeRows(&b, o, r)
	default:
		err = writeText(&b, o, r)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

func writeText(b *bytes.Buffer, o Options, r Report) error {
	p := &Page{o: o}
	if l, ok := r.(Lister); ok && o.SortBy != "" {
		// A bad column is an error even where the text form has several tables.
		if err := l.Grid().SortBy(o.SortBy); err != nil {
			return err
		}
	}
	r.Text(p)
	if p.err != nil {
		return fmt.Errorf("write table: %w", p.err)
	}
	_, err := b.Write(p.b.Bytes())
	return err
}

// Rows writes the table of a list, sorted by --sort-by, with its headings even
// when there are no rows.
func (p *Page) Rows(g *Grid) { p.rows(g, false) }

// ScreenRows is Rows for a table that people read, which keeps to the width of a
// screen where there is none.
func (p *Page) ScreenRows(g *Grid) { p.rows(g, true) }

func (p *Page) rows(g *Grid, design bool) {
	if err := g.SortBy(p.o.SortBy); err != nil && p.err == nil {
		p.err = err
		return
	}
	p.grid(g, design)
}

func writeRows(b *bytes.Buffer, o Options, r Report) error {
	l, ok := r.(Lister)
	if !ok {
		return &FormError{Format: o.Format}
	}
	if n, ok := r.(Namer); ok && o.Format == Name {
		for _, name := range n.Names() {
			b.WriteString(Escape(name))
			b.WriteByte('\n')
		}
		return nil
	}
	g := l.Grid()
	if err := g.SortBy(o.SortBy); err != nil {
		return err
	}
	if o.Format == Name {
		for _, row := range g.rows {
			b.WriteString(row[0].raw)
			b.WriteByte('\n')
		}
		return nil
	}
	var cols []int
	var heads []string
	for i := range g.cols {
		if g.cols[i].in(InMachine) {
			cols = append(cols, i)
			heads = append(heads, g.cols[i].key())
		}
	}
	if o.Format == TSV {
		writeTSV(b, o, g, cols, heads)
		return nil
	}
	return writeCSV(b, o, g, cols, heads)
}

// writeTSV needs no quotes: cells hold no control characters.
func writeTSV(b *bytes.Buffer, o Options, g *Grid, cols []int, heads []string) {
	if !o.NoHeaders {
		b.WriteString(strings.Join(heads, "\t") + "\n")
	}
	for _, row := range g.rows {
		for i, c := range cols {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(row[c].raw)
		}
		b.WriteByte('\n')
	}
}

func writeCSV(b *bytes.Buffer, o Options, g *Grid, cols []int, heads []string) error {
	w := csv.NewWriter(b)
	if !o.NoHeaders {
		if err := w.Write(heads); err != nil {
			return err
		}
	}
	line := make([]string, len(cols))
	for _, row := range g.rows {
		for i, c := range cols {
			line[i] = row[c].raw
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
