package assign

import "slices"

const rackStandbyRounds = 4

// optimiseStandbys exchanges standbys between pairs of clients in different
// racks (assignors.md, 3.8).
func (r *haRacks) optimiseStandbys(h *ha) {
	w := rackCosts{traffic: int64(h.g.Settings.RackTrafficCost), nonOverlap: int64(h.g.Settings.RackNonOverlapCost), changelogs: true}
	held := h.standbyLists()
	for moved, round := true, 0; moved && round < rackStandbyRounds; round++ {
		moved = false
		for a := range int32(len(h.clients)) {
			for b := a + 1; int(b) < len(h.clients); b++ {
				if h.clients[a].rack != h.clients[b].rack && r.exchange(h, held, a, b, w) {
					moved = true
				}
			}
		}
	}
}

// exchange makes the standbys of two clients cheaper and says whether any
// moved. held has the standbys by client, ascending.
func (r *haRacks) exchange(h *ha, held [][]Task, a, b int32, w rackCosts) bool {
	tasks := h.movable(nil, held[a], a, b)
	n := len(tasks)
	if n == 0 {
		return false
	}
	if tasks = h.movable(tasks, held[b], b, a); len(tasks) == n {
		return false
	}
	ofA := slices.Clone(tasks[:n])
	slices.Sort(tasks)
	now := func(t Task) int32 {
		if _, ok := slices.BinarySearch(ofA, t); ok {
			return a
		}
		return b
	}
	moved := false
	for k, to := range r.minTraffic(h, tasks, []int32{a, b}, now, w) {
		t := tasks[k]
		from := now(t)
		if from == to {
			continue
		}
		moved = true
		h.dropStandby(t, from)
		h.addStandby(t, to)
		i, _ := slices.BinarySearch(held[from], t)
		held[from] = slices.Delete(held[from], i, i+1)
		i, _ = slices.BinarySearch(held[to], t)
		held[to] = slices.Insert(held[to], i, t)
		h.count[from]--
		h.count[to]++
	}
	return moved
}

// movable appends those of a client's standbys that the other one may take.
func (h *ha) movable(out, held []Task, from, to int32) []Task {
	for _, t := range held {
		if !h.has(to, t) && h.keepsTagsApart(t, from, to) {
			out = append(out, t)
		}
	}
	return out
}

// keepsTagsApart says whether the holders of a task keep as many different
// tags when one standby of it moves.
func (h *ha) keepsTagsApart(t Task, from, to int32) bool {
	if len(h.g.Settings.StandbyTags) == 0 {
		return true
	}
	return h.differentTags(t, from, to) >= h.differentTags(t, from, from)
}

// differentTags counts the tags of the holders of a task after a move.
func (h *ha) differentTags(t Task, from, to int32) int {
	var tags []int32
	for _, i := range append([]int32{h.active[t]}, h.standbys[t]...) {
		if i == from {
			i = to
		}
		tags = append(tags, h.clients[i].tags...)
	}
	slices.Sort(tags)
	return len(slices.Compact(tags))
}
