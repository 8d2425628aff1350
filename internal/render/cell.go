package render

import (
	"strconv"
	"strings"
)

// Cell is one value of a table: what people read, what machines read, and how
// it sorts.
type Cell struct {
	text  string // escaped
	raw   string // for csv, tsv and name; escaped
	num   float64
	isNum bool
	style Style
}

// Text is a cell of untrusted text; "" shows None.
func Text(s string) Cell {
	if s == "" {
		return Cell{text: None}
	}
	e := Escape(s)
	return Cell{text: e, raw: e}
}

// Blank is an empty cell.
func Blank() Cell { return Cell{} }

// Dash is a cell that does not apply or is not known.
func Dash() Cell { return Cell{text: None} }

// Question is a cell that could not be read.
func Question() Cell { return Cell{text: "?"} }

// Num is a whole number.
func Num[T ~int | ~int32 | ~int64](n T) Cell {
	v := int64(n)
	return Cell{text: Int(v), raw: strconv.FormatInt(v, 10), num: float64(v), isNum: true}
}

// OptNum is a whole number that may be unknown.
func OptNum[T ~int | ~int32 | ~int64](n *T) Cell {
	if n == nil {
		return Dash()
	}
	return Num(*n)
}

// Float is a number with at most two decimals in tables, all in machine forms.
func Float(f float64) Cell {
	return Cell{text: Ratio(f), raw: strconv.FormatFloat(f, 'f', -1, 64), num: f, isNum: true}
}

// Size is a number of bytes that may be unknown.
func Size(n *int64) Cell {
	if n == nil {
		return Dash()
	}
	return Cell{text: Bytes(*n), raw: strconv.FormatInt(*n, 10), num: float64(*n), isNum: true}
}

// Bool is yes or no in tables, true or false in machine forms; nil is "?".
func Bool(b *bool) Cell {
	if b == nil {
		return Question()
	}
	if *b {
		return Cell{text: "yes", raw: "true"}
	}
	return Cell{text: "no", raw: "false"}
}

// List is several untrusted texts, joined with sep in tables and with commas
// in machine forms.
func List(items []string, sep string) Cell {
	if len(items) == 0 {
		return Dash()
	}
	escaped := make([]string, len(items))
	for i, s := range items {
		escaped[i] = Escape(s)
	}
	return Cell{text: strings.Join(escaped, sep), raw: strings.Join(escaped, ",")}
}

// Shown replaces what people read; what machines read stays.
func (c Cell) Shown(text string) Cell {
	c.text = Escape(text)
	return c
}

// Prefix puts a mark, such as "≤", before what people read, unless the cell is
// unknown.
func (c Cell) Prefix(mark string) Cell {
	if c.known() {
		c.text = mark + c.text
	}
	return c
}

// Suffix puts a mark, such as "~", after what people read, unless the cell is
// unknown.
func (c Cell) Suffix(mark string) Cell {
	if c.known() {
		c.text += mark
	}
	return c
}

// In gives the cell a style.
func (c Cell) In(s Style) Cell {
	c.style = s
	return c
}

func (c Cell) known() bool { return c.text != None && c.text != "?" && c.text != "" }
