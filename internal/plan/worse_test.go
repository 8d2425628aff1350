package plan

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// A group is worse off when it leaves its bounds, when it leaves them further,
// or when the same instances are loaded less evenly; not when a lone instance,
// or those that stay of a group that drains, get what is their due.
func TestWorse(t *testing.T) {
	balance := func(balanced bool, list ...Counts) Balance {
		b := Balance{Balanced: balanced, Instances: map[string]Counts{}}
		for _, c := range list {
			c.Workers = 1
			b.Instances[c.Name] = c
		}
		return b
	}
	of := func(name string, active int, expected float64, low, high int) Counts {
		return Counts{Name: name, Active: active, Expected: expected, Low: low, High: high}
	}
	leaves := of("c", 4, 0, 0, 0)
	for name, c := range map[string]struct {
		before, after Balance
		want          string // "": it is not worse
	}{
		"a lone instance gets another": {balance(true, of("a", 12, 12, 6, 24)), balance(true, of("a", 9, 6, 3, 12), of("b", 3, 6, 3, 12)), ""},
		"one leaves and the others take its tasks": {
			balance(true, of("a", 4, 6, 3, 12), of("b", 4, 6, 3, 12), leaves), balance(true, of("a", 6, 6, 3, 12), of("b", 6, 6, 3, 12)), "",
		},
		"nothing":                   {balance(true, of("a", 8, 6, 3, 12), of("b", 4, 6, 3, 12)), balance(true, of("a", 8, 6, 3, 12), of("b", 4, 6, 3, 12)), ""},
		"less even":                 {balance(true, of("a", 6, 6, 3, 12), of("b", 6, 6, 3, 12)), balance(true, of("a", 9, 6, 3, 12), of("b", 3, 6, 3, 12)), "50% off"},
		"more even":                 {balance(true, of("a", 9, 6, 3, 12), of("b", 3, 6, 3, 12)), balance(true, of("a", 6, 6, 3, 12), of("b", 6, 6, 3, 12)), ""},
		"out of its bounds":         {balance(true, of("a", 12, 12, 6, 24)), balance(false, of("a", 10, 6, 4, 9), of("b", 2, 6, 4, 9)), "none is before"},
		"further out":               {balance(false, of("a", 10, 6, 4, 9), of("b", 2, 6, 4, 9)), balance(false, of("a", 11, 6, 4, 9), of("b", 1, 6, 4, 9)), "5 tasks outside the bounds afterwards, 3 before"},
		"less far out":              {balance(false, of("a", 11, 6, 4, 9), of("b", 1, 6, 4, 9)), balance(false, of("a", 10, 6, 4, 9), of("b", 2, 6, 4, 9)), ""},
		"the last one goes":         {balance(true, of("a", 12, 12, 6, 24)), balance(false), "no instance is left"},
		"a group without instances": {balance(true), balance(true), ""},
	} {
		got := worse(&c.before, &c.after)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The last instance may go: every task is down then, and the plan says why.
func TestTheLastInstanceGoes(t *testing.T) {
	for _, kind := range []model.Kind{model.Classic, model.Streams, model.Worker} {
		for _, how := range []string{"", HowKill, HowLeave} {
			g := newMade(t, kind, 3, true, 100).instance(1, 1, 0, 1, 2)
			p, err := Make(g.in, Options{Changes: []Change{Remove{"P1", how}}})
			if err != nil {
				t.Errorf("%s, %q: %v", kind, how, err)
				continue
			}
			if p.Totals.TasksDown != 3 || p.Totals.Moves != 0 || p.After.Balanced || !p.WouldMove() || len(p.After.Instances) != 0 {
				t.Errorf("%s, %q: totals %+v, after %+v", kind, how, p.Totals, p.After)
			}
			last := p.Rounds[len(p.Rounds)-1]
			for _, d := range last.Down {
				if d.Why != WhyNobodyLeft || d.Seconds != nil {
					t.Errorf("%s, %q: %+v", kind, how, d)
				}
			}
			for _, word := range []string{"downtime", "imbalance", "worse"} {
				c, err := ParseCondition(word)
				if err != nil {
					t.Fatal(err)
				}
				if met, why := c.Met(p); !met || why == "" {
					t.Errorf("%s, %q: %s is not met", kind, how, word)
				}
			}
		}
	}
}
