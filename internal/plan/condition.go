package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Condition is one of --fail-on.
type Condition struct {
	What  string  // downtime, imbalance, idle, worse, moves, restore
	Limit float64 // of moves and restore
	Bytes bool    // restore: the limit is bytes, else records
}

// ParseCondition reads downtime, imbalance, idle, worse, moves>N or
// restore>SIZE: a size with a unit is bytes, without one records.
func ParseCondition(text string) (Condition, error) {
	what, limit, ok := strings.Cut(text, ">")
	c := Condition{What: what}
	switch what {
	case "downtime", "imbalance", "idle", "worse":
		if !ok {
			return c, nil
		}
	case "moves":
		n, err := strconv.ParseInt(limit, 10, 64)
		if ok && err == nil && n >= 0 {
			c.Limit = float64(n)
			return c, nil
		}
	case "restore":
		i := strings.IndexFunc(limit, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		unit := ""
		if i >= 0 {
			limit, unit = limit[:i], limit[i:]
		}
		n, err := strconv.ParseFloat(limit, 64)
		factor, known := byteUnit(strings.TrimSpace(unit))
		if ok && err == nil && n >= 0 && !math.IsInf(n, 0) && (unit == "" || known) {
			if c.Limit = n; unit != "" {
				c.Limit, c.Bytes = n*factor, true
			}
			return c, nil
		}
	}
	return c, fmt.Errorf("condition %q is none of downtime, imbalance, idle, worse, moves>N, restore>SIZE", text)
}

// Met reports whether the plan meets the condition with the worst ids, and
// says why. What cannot be told counts as met: a gate must not rest on it.
func (c Condition) Met(p *Plan) (bool, string) {
	switch c.What {
	case "downtime":
		n := p.Worst("tasks_down")
		return n > 0, fmt.Sprintf("%s not processed for longer than a hand-over", count(int(n), "task"))
	case "imbalance":
		if p.After.deserted() {
			return true, "no instance is left"
		}
		return p.Worst(VaryUnbalanced) > 0, fmt.Sprintf("an instance ends outside its bounds, with %.2f of what is expected at most", p.Worst(VaryMax))
	case "idle":
		n := p.Worst("idle_threads")
		return n > 0, count(int(n), "thread") + " without work"
	case "worse":
		why := worse(p)
		if why == "" {
			why = "less balanced than before with other ids"
		}
		return p.Worst(VaryWorse) > 0, why
	case "moves":
		n := p.Worst("moves")
		return n > c.Limit, count(int(n), "move")
	case "restore":
		name, unit := "remaining_records", "records"
		if c.Bytes {
			name, unit = "remaining_bytes", "bytes"
		}
		if _, known := figures(p)[name]; !known {
			return true, "how many " + unit + " are to restore cannot be told"
		}
		n := p.Worst(name)
		return n > c.Limit, fmt.Sprintf("%.0f %s to restore", n, unit)
	}
	return false, ""
}
