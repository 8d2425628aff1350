package assign

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/javaorder"
)

// haMove is a task whose copy on a client is behind, with the number of
// clients that are caught up on it.
type haMove struct {
	caught int
	task   Task
	client int32
}

func (m haMove) compare(o haMove) int {
	return cmp.Or(cmp.Compare(m.caught, o.caught), cmp.Compare(m.task, o.task))
}

// moveActives keeps actives with those who have the state until the target is
// caught up (3.4).
func (h *ha) moveActives() {
	var moves []haMove
	for t, i := range h.active {
		if h.stateful[t] && h.behind(Task(t), i) {
			moves = append(moves, haMove{h.caught(Task(t)), Task(t), i})
		}
	}
	slices.SortFunc(moves, haMove.compare)
	h.movedActives = len(moves)
	h.warmupsLeft = h.g.Settings.MaxWarmups
	for _, m := range moves {
		h.moveActive(m.task, m.client)
	}
}

func (h *ha) moveActive(t Task, to int32) {
	from := h.caughtUpStandby(t)
	if from < 0 {
		h.newMark()
		if from = h.leastCaughtUp(t); from < 0 {
			from = h.mostCaughtUp(t, haReport{client: int32(len(h.clients)), lag: unlimitedLag})
		}
	}
	h.active[t] = from
	if slices.Contains(h.standbys[t], from) { // they swap: no warm-up is spent
		h.dropStandby(t, from)
		h.addStandby(t, to)
		return
	}
	h.add(from, 1)
	if h.warmupsLeft > 0 {
		h.addStandby(t, to)
		h.warmup = append(h.warmup, haCopy{t, to})
	} else {
		h.add(to, -1)
	}
	h.warmupsLeft--
}

// caughtUpStandby is the least (load, id) client that has a task as standby
// and is caught up on it, -1 for none.
func (h *ha) caughtUpStandby(t Task) int32 {
	best := int32(-1)
	for _, i := range h.standbys[t] {
		if h.reports.caughtUp(h.lag(t, i)) {
			best = h.lesser(best, i)
		}
	}
	return best
}

// leastCaughtUp is the least (load, id) client without a mark that is caught
// up on a task on which some client is behind, -1 for none.
func (h *ha) leastCaughtUp(t Task) int32 {
	best := int32(-1)
	for _, r := range h.reports.of(t) {
		if h.reports.caughtUp(r.lag) && h.marked[r.client] != h.mark {
			best = h.lesser(best, r.client)
		}
	}
	return best
}

// lesser is the lesser of two clients by (load, id); a may be -1.
func (h *ha) lesser(a, b int32) int32 {
	if a < 0 || cmp.Or(cmp.Compare(h.load(b), h.load(a)), cmp.Compare(b, a)) < 0 {
		return b
	}
	return a
}

// moveStandbys gives standbys that are behind to clients with more of the
// state as well or instead (3.5).
func (h *ha) moveStandbys() {
	if h.g.Settings.Standbys <= 0 {
		return // what there is are warm-ups
	}
	warm := map[haCopy]bool{}
	for _, w := range h.warmup {
		warm[w] = true
	}
	queue := javaorder.NewPriorityQueue(func(a, b haMove) bool { return a.compare(b) < 0 }, nil)
	for i, tasks := range h.standbyLists() {
		for _, t := range tasks {
			if !warm[haCopy{t, int32(i)}] && h.behind(t, int32(i)) {
				queue.Offer(haMove{h.caught(t), t, int32(i)})
			}
		}
	}
	for m, ok := queue.Poll(); ok; m, ok = queue.Poll() {
		h.moveStandby(m.task, m.client)
	}
}

func (h *ha) moveStandby(t Task, to int32) {
	h.markHolders(t)
	from := h.leastCaughtUp(t)
	if from < 0 {
		if from = h.mostCaughtUp(t, haReport{client: to, lag: h.lag(t, to)}); from < 0 {
			return
		}
	}
	h.addStandby(t, from)
	h.add(from, 1)
	if h.warmupsLeft <= 0 {
		h.dropStandby(t, to)
		h.add(to, -1)
	}
	h.warmupsLeft--
	h.movedStandbys++
}
