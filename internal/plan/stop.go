package plan

import "slices"

// AfterStop is where the active tasks of an instance go if it is stopped now,
// by the first round that follows: the basis of "check stop". A task that no
// other instance gets in that round has an empty To. Moves are sorted by task.
func AfterStop(in *Input, instance string, o Options) ([]Move, error) {
	k, err := in.find(instance)
	if err != nil {
		return nil, err
	}
	id := in.Instances[k].ID
	var left []string
	for _, m := range in.Instances[k].Members {
		for _, t := range m.Active {
			left = append(left, in.Topology.ID(t).String())
		}
	}
	o.Changes, o.Draws, o.MaxRounds = []Change{Remove{Instance: id}}, 1, 1
	if in.group != nil {
		o.Changes = []Change{Remove{Instance: instance}}
	}
	p, err := Make(in, o)
	if err != nil {
		return nil, err
	}
	out := make([]Move, 0, len(left))
	for _, t := range left {
		m := Move{Task: t, From: id}
		for _, r := range p.Rounds {
			if i := slices.IndexFunc(r.Moves, func(x Move) bool { return x.Task == t && x.From == id }); i >= 0 {
				m = r.Moves[i]
				break
			}
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Move) int { return compareIDs(a.Task, b.Task) })
	return out, nil
}
