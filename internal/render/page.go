package render

import (
	"bytes"
	"strings"
)

// Page is the text form of a report, being written.
type Page struct {
	b   bytes.Buffer
	o   Options
	err error
}

// Wide reports whether the long form was asked for.
func (p *Page) Wide() bool { return p.o.Format == Wide }

// textWidth is where text breaks: 80, or the terminal's width when that is
// less; the wide form uses the whole terminal and does not break in a pipe.
func (p *Page) textWidth() int {
	switch {
	case p.Wide():
		return p.o.Width
	case p.o.Width > 0:
		return min(p.o.Width, designWidth)
	}
	return designWidth
}

// Blank ends a block.
func (p *Page) Blank() { p.b.WriteByte('\n') }

// Empty reports whether nothing was written yet.
func (p *Page) Empty() bool { return p.b.Len() == 0 }

// maxName is the longest name that text on a terminal shows whole.
const maxName = 48

// Span is a piece of a line with its style.
type Span struct {
	Text  string
	Style Style
}

// Name escapes a name from a broker and, on a terminal and not in the wide
// form, shortens it in the middle when it is very long.
func (p *Page) Name(s string) string {
	s = Escape(s)
	if p.o.Width > 0 && !p.Wide() {
		return Shorten(s, min(maxName, max(minName, p.o.Width-2)))
	}
	return s
}

// Line writes text that is already safe, broken at blanks; further lines are
// indented.
func (p *Page) Line(indent int, text string) { p.hang(0, indent, "", Span{Text: text}) }

// Whole is Line with every word whole, however long it is.
func (p *Page) Whole(indent int, text string) {
	for i, l := range Wrap(text, p.textWidth()-indent) {
		if i > 0 {
			l = strings.Repeat(" ", indent) + l
		}
		p.b.WriteString(l + "\n")
	}
}

// logIndent is where the further lines of an entry of a log begin: behind a
// time of day.
const logIndent = 10

// Log writes text that is already safe as one line. A terminal that is too
// narrow gets further lines, broken at blanks.
func (p *Page) Log(text string) {
	for p.o.Width > 0 && Width(text) > p.o.Width {
		at := lastBlank(text, p.o.Width)
		if at < 0 {
			break
		}
		p.b.WriteString(strings.TrimRight(text[:at], " ") + "\n")
		text = strings.Repeat(" ", logIndent) + strings.TrimLeft(text[at:], " ")
	}
	p.b.WriteString(text + "\n")
}

// lastBlank is where to break a line that is too wide: at the last blank that
// fits, else at the first that does not; negative: there is none.
func lastBlank(text string, width int) int {
	at := -1
	for i := range len(text) {
		switch {
		case text[i] != ' ' || i <= logIndent:
		case Width(text[:i]) <= width:
			at = i
		case at < 0:
			return i
		default:
			return at
		}
	}
	return at
}

// Styled is Line in a style.
func (p *Page) Styled(indent int, s Style, text string) {
	p.hang(0, indent, "", Span{Text: text, Style: s})
}

// shortenWords shortens every word that is longer than width.
func shortenWords(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	words := strings.Split(s, " ")
	for i, w := range words {
		words[i] = Shorten(w, width)
	}
	return strings.Join(words, " ")
}

// hang writes label, then the text with further lines indented.
func (p *Page) hang(lead, indent int, label string, text Span) {
	first := strings.Repeat(" ", lead) + label
	if pad := indent - lead - Width(label); pad > 0 && (label != "" || lead > 0) {
		first += strings.Repeat(" ", pad)
	}
	room := 0
	if w := p.textWidth(); w > 0 {
		room = max(20, w-max(indent, Width(first)))
	}
	if p.o.Width > 0 && !p.Wide() {
		text.Text = shortenWords(text.Text, room)
	}
	for i, line := range Wrap(text.Text, room) {
		if i > 0 {
			first = strings.Repeat(" ", indent)
		}
		full := strings.TrimRight(first+p.paint(line, text.Style), " ")
		p.b.WriteString(full)
		p.b.WriteByte('\n')
	}
}

func (p *Page) paint(text string, s Style) string {
	if !p.o.Color {
		return text
	}
	return s.paint(text)
}

// Head writes the headline: the left parts with two blanks between them, and
// right at the end of the line. What does not fit goes to a line of its own.
func (p *Page) Head(right string, left ...Span) {
	plainText, painted := "", ""
	for i, s := range left {
		if i > 0 {
			plainText += gap
			painted += gap
		}
		plainText += s.Text
		painted += p.paint(s.Text, s.Style)
	}
	limit := p.textWidth()
	if limit == 0 {
		limit = designWidth
	}
	space := limit - Width(plainText) - Width(right)
	switch {
	case right == "":
		p.b.WriteString(painted + "\n")
	case space >= len(gap):
		p.b.WriteString(painted + strings.Repeat(" ", space) + p.paint(right, Dim) + "\n")
	default:
		p.b.WriteString(painted + "\n" + gap + p.paint(right, Dim) + "\n")
	}
}

// Fact is a label with what there is to say about it.
type Fact struct {
	Label string
	Text  string // safe text
	Style Style
	Item  bool // one of several under a label: it begins with a dash
}

// Facts writes facts below each other, their texts in one column, lead blanks
// before the labels. The texts are coloured, not the labels.
func (p *Page) Facts(lead int, facts []Fact) {
	p.list(lead, facts, false)
}

// Codes writes facts as Facts does; the labels are coloured, not the texts.
func (p *Page) Codes(lead int, facts []Fact) {
	p.list(lead, facts, true)
}

func (p *Page) list(lead int, facts []Fact, colourLabel bool) {
	width := 0
	for _, f := range facts {
		width = max(width, Width(f.Label))
	}
	indent := lead + width + len(gap)
	for _, f := range facts {
		if f.Item {
			const dash = "- "
			p.hang(lead, indent+len(dash), f.Label+strings.Repeat(" ", indent-lead-Width(f.Label))+dash, Span{f.Text, f.Style})
			continue
		}
		if !colourLabel {
			p.hang(lead, indent, f.Label, Span{f.Text, f.Style})
			continue
		}
		mark := p.b.Len()
		p.hang(lead, indent, f.Label, Span{Text: f.Text})
		if p.o.Color && f.Style != Plain {
			p.recolour(mark+lead, f.Label, f.Style)
		}
	}
}

// recolour paints the label that was just written at an offset.
func (p *Page) recolour(at int, label string, s Style) {
	tail := string(p.b.Bytes()[at:])
	if rest, ok := strings.CutPrefix(tail, label); ok {
		p.b.Truncate(at)
		p.b.WriteString(s.paint(label) + rest)
	}
}

// Table writes a table, unless it has no rows.
func (p *Page) Table(g *Grid) {
	if g.Len() == 0 && g.footer == nil {
		return
	}
	p.grid(g, true)
}

// Dropped counts the columns of a table of this form for which Table finds no
// room.
func (p *Page) Dropped(g *Grid) int {
	f := p.fit(true)
	n := 0
	for i := range g.cols {
		if g.cols[i].in(f.form) {
			n++
		}
	}
	return n - len(g.arrange(f).cols)
}

func (p *Page) fit(design bool) fit {
	f := fit{form: InDefault, width: p.o.Width, design: design}
	if p.Wide() {
		f.form = InWide
	}
	return f
}

func (p *Page) grid(g *Grid, design bool) {
	if err := g.write(&p.b, g.arrange(p.fit(design)), !p.o.NoHeaders, p.o.Color); err != nil && p.err == nil {
		p.err = err
	}
}
