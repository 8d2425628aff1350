package cmd

import (
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// eventReport is the Event document, one line of a watch.
type eventReport struct {
	report.Head
	At            time.Time         `json:"at"`
	Group         string            `json:"group"`
	What          string            `json:"what"`
	Object        string            `json:"object"`
	Before        *string           `json:"before"`
	After         *string           `json:"after"`
	Cause         *string           `json:"cause"`
	CauseInferred bool              `json:"cause_inferred"`
	Round         *int              `json:"round"`   // of a rebalance
	TookMs        *int64            `json:"took_ms"` // of a rebalance that was seen to run
	Members       []memberChangeDoc `json:"members"` // of a rebalance: whose tasks changed
	report.Read

	e progress.Event
}

type memberChangeDoc struct {
	Member string   `json:"member"`
	Name   string   `json:"name"`
	Gained []string `json:"gained"`
	Lost   []string `json:"lost"`
}

func newEventReport(g *model.Group, e progress.Event) *eventReport {
	r := &eventReport{
		Head: docHead("Event"), At: e.At, Group: e.Group, What: e.What, Object: e.Object,
		Before: textOrNull(e.Before), After: textOrNull(e.After), Cause: textOrNull(e.Cause), CauseInferred: e.CauseInferred,
		Members: []memberChangeDoc{}, Read: readOf(g), e: e,
	}
	if e.Round > 0 {
		r.Round = &e.Round
	}
	if e.Took != nil {
		ms := e.Took.Milliseconds()
		r.TookMs = &ms
	}
	for _, m := range e.Members {
		r.Members = append(r.Members, memberChangeDoc{Member: m.ID, Name: m.Name, Gained: m.Gained, Lost: m.Lost})
	}
	return r
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Text writes the event as a line of a log; a long one goes on indented.
func (r *eventReport) Text(p *render.Page) {
	words := []string{r.At.UTC().Format(time.TimeOnly)}
	e := &r.e
	switch e.What {
	case "rebalance":
		words = append(words, "rebalance "+render.Int(int64(e.Round)))
		if e.Took != nil {
			words = append(words, "took "+render.Duration(*e.Took))
		}
		for _, m := range e.Members {
			words = append(words, render.Escape(m.String()))
		}
		if len(e.Members) == 0 {
			words = append(words, "no task moved")
		}
	default:
		words = append(words, e.What, render.Escape(e.Object))
		switch {
		case e.Before == "":
			words = append(words, "now: "+render.Escape(e.After))
		case e.After == "":
			words = append(words, "over: "+render.Escape(e.Before))
		default:
			words = append(words, render.Escape(e.Before)+" -> "+render.Escape(e.After))
		}
	}
	if e.Cause != "" {
		mark := ""
		if e.CauseInferred {
			mark = "~"
		}
		words = append(words, "cause"+mark+": "+render.Escape(e.Cause))
	}
	p.Line(10, strings.Join(words, "  "))
}
