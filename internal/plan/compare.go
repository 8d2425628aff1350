package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Compare says what is different now, one line each: the group's differences
// first, then the plan's. There is none if the group is the same and the plan
// decides the same; a group that changed in nothing that a plan goes by has the
// same fingerprint.
func Compare(saved, now *Plan) []string {
	list := []string{}
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if saved.Group != now.Group {
		say("the saved plan is of group %q", saved.Group)
	}
	if a, b := text(saved.ClusterID), text(now.ClusterID); a != b && b != "" {
		say("the saved plan is of %s, this is cluster %s", cmp.Or(prefixed("cluster ", a), "no cluster that it names"), b)
	}
	compareInstances(saved, now, say)
	if len(list) == 0 && saved.BasedOn.Fingerprint != now.BasedOn.Fingerprint {
		say("members, their tasks or epochs changed: fingerprint %s, now %s", saved.BasedOn.Fingerprint, now.BasedOn.Fingerprint)
	}
	if saved.Assignor != now.Assignor {
		say("assignor %s, now %s", saved.Assignor, now.Assignor)
	}
	taken := make(map[string]string)
	for _, s := range saved.Taken {
		taken[s.Key] = s.Value
	}
	for _, s := range now.Taken {
		if old, ok := taken[s.Key]; ok && old != s.Value {
			say("%s %s, now %s", s.Key, old, s.Value)
		}
	}
	if saved.BalancingFactor != now.BalancingFactor {
		say("balancing factor %g, now %g", saved.BalancingFactor, now.BalancingFactor)
	}
	compareMoves(saved, now, say)
	return list
}

func prefixed(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

func compareInstances(saved, now *Plan, say func(string, ...any)) {
	for _, id := range slices.Sorted(maps.Keys(saved.Before.Instances)) {
		old := saved.Before.Instances[id]
		cur, ok := now.Before.Instances[id]
		switch {
		case !ok:
			say("instance %s (%s) is gone", old.Name, id)
		case cur.Workers != old.Workers:
			say("instance %s (%s) has %s, had %d", cur.Name, id, count(cur.Workers, "member"), old.Workers)
		case cur.Active != old.Active || cur.Standby+cur.Learner != old.Standby+old.Learner:
			say("instance %s (%s) has %d active tasks and %d copies, had %d and %d", cur.Name, id, cur.Active, cur.Standby+cur.Learner, old.Active, old.Standby+old.Learner)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now.Before.Instances)) {
		if _, ok := saved.Before.Instances[id]; !ok {
			say("instance %s (%s) with %s is new", now.Before.Instances[id].Name, id, count(now.Before.Instances[id].Workers, "member"))
		}
	}
}

// compareMoves compares what the plans decide.
func compareMoves(saved, now *Plan, say func(string, ...any)) {
	list := func(p *Plan) map[string]string {
		out := make(map[string]string)
		for _, r := range p.Rounds {
			for _, m := range r.Moves {
				if out[m.Task] != "" {
					out[m.Task] += ", then "
				}
				out[m.Task] += fmt.Sprintf("%s -> %s", p.nameOf(m.From), p.nameOf(m.To))
			}
		}
		return out
	}
	old, cur := list(saved), list(now)
	for _, t := range sortedIDs(old, cur) {
		switch a, b := old[t], cur[t]; {
		case a == b:
		case a == "":
			say("task %s moves: %s", t, b)
		case b == "":
			say("task %s no longer moves: %s", t, a)
		default:
			say("task %s moves %s, was to move %s", t, b, a)
		}
	}
	if a, b := saved.Totals.Rounds, now.Totals.Rounds; a != b {
		say("%s, were %d", count(b, "round"), a)
	}
}

func sortedIDs(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.SortedFunc(maps.Keys(all), compareIDs)
}

// nameOf is the name of an instance that the plan knows.
func (p *Plan) nameOf(id string) string {
	for _, b := range []Balance{p.Before, p.After} {
		if c, ok := b.Instances[id]; ok {
			return c.Name
		}
	}
	if id == "" {
		return "nobody"
	}
	return id
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
