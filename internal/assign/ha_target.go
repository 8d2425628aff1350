package assign

// placeActives makes the target of the stateful actives (assignors.md, 3.1).
func (h *ha) placeActives() {
	next := int32(0)
	for t, stateful := range h.stateful {
		if !stateful {
			continue
		}
		h.active[t] = next
		h.count[next]++
		if next++; int(next) == len(h.clients) {
			next = 0
		}
	}
	h.balance(h.activeLists(true), haActives{h})
	if h.racks != nil {
		h.racks.optimiseActives(h, true)
	}
}

// placeStandbys makes the target of the standbys (3.2, 3.7).
func (h *ha) placeStandbys() {
	want := h.g.Settings.Standbys
	if want <= 0 {
		return
	}
	h.watchLoads()
	if tagged := len(h.g.Settings.StandbyTags) > 0; tagged {
		h.placeByTags(want)
	} else {
		for t, stateful := range h.stateful {
			if stateful {
				h.placeLeastLoaded(Task(t), want)
			}
		}
	}
	h.least = nil
	h.balance(h.standbyLists(), haStandbys{h})
	if h.racks != nil {
		h.racks.optimiseStandbys(h)
	}
}

// placeLeastLoaded gives n copies of a task to the least loaded clients without it.
func (h *ha) placeLeastLoaded(t Task, n int) {
	for h.markHolders(t); n > 0; n-- {
		i := h.leastUnmarked()
		if i < 0 {
			return // fewer copies than wanted
		}
		h.addStandby(t, i)
		h.add(i, 1)
		h.setMark(i)
	}
}

// placeStateless gives each stateless task to the client with the fewest
// actives for its capacity (3.6).
func (h *ha) placeStateless() {
	actives := make([]int32, len(h.clients))
	for _, i := range h.active {
		if i >= 0 {
			actives[i]++
		}
	}
	load := func(i int32) float64 { return float64(actives[i]) / float64(h.clients[i].capacity) }
	least := newLeastTree(len(h.clients), load)
	h.newMark()
	for t, stateful := range h.stateful {
		if stateful {
			continue
		}
		i := least.best(h.marked, h.mark)
		h.active[t] = i
		actives[i]++
		least.set(i, load(i))
	}
	if h.racks != nil {
		h.racks.optimiseActives(h, false)
	}
}
