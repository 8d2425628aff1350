package render

import "github.com/fatih/color"

// Style is a colour by meaning. It only repeats what a word already says.
type Style uint8

// The styles. The zero value is plain.
const (
	Plain Style = iota
	Good
	Note
	Warning
	Problem
	Dim
	Strong
)

// paint colours text whatever the environment says: the decision is made in ui.
func (s Style) paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	c := color.New(s.attribute())
	c.EnableColor()
	return c.Sprint(text)
}

func (s Style) attribute() color.Attribute {
	switch s {
	case Good:
		return color.FgGreen
	case Note:
		return color.FgCyan
	case Warning:
		return color.FgYellow
	case Problem:
		return color.FgRed
	case Dim:
		return color.Faint
	}
	return color.Bold
}
