package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// Leaving is what `mark-leaving`, `unmark` and `replace` did with marks besides
// the head of their document.
type Leaving struct {
	Marks      []LeavingMark `json:"marks"`       // by instance
	HandedOver []HandedOver  `json:"handed_over"` // by task; empty without --wait
}

// LeavingMark is the mark of one instance.
type LeavingMark struct {
	Instance  string  `json:"instance"`
	Name      string  `json:"name"`
	Mark      *string `json:"mark"`       // its id; null in a dry run, and where there was none
	Before    bool    `json:"before"`     // it was marked already
	TimeoutMs *int64  `json:"timeout_ms"` // how long the instance waits; null: its own setting holds
	Honoured  *bool   `json:"honoured"`   // the instance's status names the mark, or it has gone as it asked; null: not looked
	Gone      *bool   `json:"gone"`       // it has left the group; null: not looked
}

// HandedOver is one active task that went to another instance.
type HandedOver struct {
	Task             string `json:"task"`
	From             string `json:"from"` // instance id
	To               string `json:"to"`   // instance id
	Cold             *bool  `json:"cold"` // it had to restore there; null: not known
	RemainingRecords *int64 `json:"remaining_records"`
}

// Replacement is what a `replace` did besides.
type Replacement struct {
	With    int      `json:"with"` // new instances that were asked for
	Old     []string `json:"old"`  // ids of the instances to be replaced, sorted
	New     []string `json:"new"`  // ids of the instances that are there besides and stay, sorted
	Resumed bool     `json:"resumed"`
	Steps   []Step   `json:"steps"` // join, mark, drain; empty in a dry run
}

// Step is one step of a replacement.
type Step struct {
	Step string `json:"step"`
	Done bool   `json:"done"`
}

// NewHandedOver makes the list of what a drain has handed over.
func NewHandedOver(list []progress.Handover) []HandedOver {
	out := make([]HandedOver, len(list))
	for i, h := range list {
		out[i] = HandedOver{Task: h.Task.String(), From: h.From, To: h.To, RemainingRecords: h.Records}
		if h.Warm != progress.Unknown {
			cold := h.Warm == progress.No
			out[i].Cold = &cold
		}
	}
	return out
}

const drainForm = "%5s  %5s  %4s  %5s  %10s  %7s  %4s"

// DrainHead is the heading of the lines of a drain.
func DrainHead() string {
	return fmt.Sprintf(drainForm, "TIME", "ROUND", "OWNS", "READY", "TO RESTORE", "RATE", "LEFT")
}

// DrainLine is one look in a line below DrainHead, without what moved.
func DrainLine(since time.Duration, l *progress.DrainLook) string {
	round, ready, left, rate, restore := "-", "-", "-", "-", "-"
	if l.Round != nil {
		round = fmt.Sprint(*l.Round)
	}
	if l.Owns > 0 {
		ready = render.Int(int64(l.Ready))
	}
	if l.ToRestore != nil {
		restore = render.Int(*l.ToRestore)
	}
	if l.Rate != nil && l.Owns > 0 {
		rate = fmt.Sprintf("%d/s", int64(*l.Rate))
	}
	if l.Left != nil && l.Owns > 0 {
		left = fmt.Sprint(l.Left.Round(time.Second))
	}
	return fmt.Sprintf(drainForm, since.Round(time.Second), round, render.Int(int64(l.Owns)), ready, restore, rate, left)
}

// DrainMoves says what went over since the look before, "0_2 1_2 now on pod-a".
func DrainMoves(l *progress.DrainLook) string {
	const shown = 8
	byOwner := map[string][]string{}
	var names []string
	for _, h := range l.Moved {
		n := render.Escape(h.ToName)
		if byOwner[n] == nil {
			names = append(names, n)
		}
		byOwner[n] = append(byOwner[n], h.Task.String())
	}
	slices.Sort(names)
	parts := make([]string, len(names))
	for i, n := range names {
		list := byOwner[n]
		text := strings.Join(list[:min(len(list), shown)], " ")
		if more := len(list) - shown; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts[i] = text + " now on " + n
	}
	return strings.Join(parts, "; ")
}

// ColdText says what was restored cold, or that nothing was; warm tells whether
// the latter holds.
func ColdText(list []progress.Handover) (text string, warm bool) {
	const shown = 6
	var cold, open []string
	for _, h := range list {
		switch h.Warm {
		case progress.No:
			t := h.Task.String() + " on " + render.Escape(h.ToName)
			if h.Records != nil {
				most := ""
				if h.AtMost {
					most = "at most "
				}
				t += " (" + most + render.Int(*h.Records) + " records)"
			}
			cold = append(cold, t)
		case progress.Unknown:
			open = append(open, h.Task.String())
		case progress.Yes:
		}
	}
	some := func(list []string) string {
		text := strings.Join(list[:min(len(list), shown)], ", ")
		if more := len(list) - shown; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text
	}
	switch {
	case len(cold) > 0:
		text = "restored cold: " + some(cold)
		if len(open) > 0 {
			text += "; of " + some(open) + " that is not known"
		}
		return text, false
	case len(open) > 0:
		return "whether these restored cold is not known: " + some(open), false
	}
	return "nothing restored cold", true
}
