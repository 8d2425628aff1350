package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// Condition is one of --fail-on.
type Condition struct {
	What  string  // one of the On… constants
	Limit float64 // of moves and restore
	Bytes bool    // restore: the limit is bytes, else records
}

// What a condition is about.
const (
	OnDowntime  = "downtime"
	OnImbalance = "imbalance"
	OnIdle      = "idle"
	OnWorse     = "worse"
	OnMoves     = "moves"
	OnRestore   = "restore"
)

// ConditionWords are the conditions as they are written.
func ConditionWords() []string {
	return []string{OnDowntime, OnImbalance, OnIdle, OnWorse, OnMoves + ">N", OnRestore + ">SIZE"}
}

// ConditionError says what is wrong with a condition.
type ConditionError struct {
	Text    string
	Unknown bool // it is no condition; else its limit is none
}

func (e *ConditionError) Error() string {
	return fmt.Sprintf("condition %q is none of %s", e.Text, strings.Join(ConditionWords(), ", "))
}

// ParseCondition reads downtime, imbalance, idle, worse, moves>N or
// restore>SIZE: a size with a unit is bytes, without one records. The error is a
// *ConditionError.
func ParseCondition(text string) (Condition, error) {
	what, limit, limited := strings.Cut(text, ">")
	c := Condition{What: what}
	bad := &ConditionError{Text: text}
	switch what {
	case OnDowntime, OnImbalance, OnIdle, OnWorse:
		if !limited {
			return c, nil
		}
		bad.Unknown = true
	case OnMoves:
		if n, err := strconv.ParseInt(limit, 10, 64); limited && err == nil && n >= 0 {
			c.Limit = float64(n)
			return c, nil
		}
	case OnRestore:
		if n, bytes, ok := parseAmount(limit); limited && ok {
			c.Limit, c.Bytes = n, bytes
			return c, nil
		}
	default:
		bad.Unknown = true
	}
	return c, bad
}

// Met reports whether the plan meets the condition with the worst ids, and
// says why. What cannot be told counts as met: a gate must not rest on it.
func (c Condition) Met(p *Plan) (bool, string) {
	switch c.What {
	case OnDowntime:
		n := p.Worst(FigureDown)
		return n > 0, fmt.Sprintf("%s not processed for longer than a hand-over", count(int(n), "task"))
	case OnImbalance:
		if p.After.deserted() {
			return true, "no instance is left"
		}
		return p.Worst(FigureUnbalanced) > 0, fmt.Sprintf("an instance ends outside its bounds, with %.2f of what is expected at most", p.Worst(FigureMax))
	case OnIdle:
		n := p.Worst(FigureIdle)
		return n > 0, count(int(n), "thread") + " without work"
	case OnWorse:
		why := worse(&p.Before, &p.After)
		if why == "" {
			why = "less balanced than before with other ids"
		}
		return p.Worst(FigureWorse) > 0, why
	case OnMoves:
		n := p.Worst(FigureMoves)
		return n > c.Limit, count(int(n), "move")
	case OnRestore:
		name, unit := FigureRecords, "records"
		if c.Bytes {
			name, unit = FigureBytes, "bytes"
		}
		if _, known := figures(p)[name]; !known {
			return true, "how many " + unit + " are to restore cannot be told"
		}
		n := p.Worst(name)
		return n > c.Limit, fmt.Sprintf("%s %s to restore", model.Thousands(int64(n)), unit)
	}
	return false, ""
}
