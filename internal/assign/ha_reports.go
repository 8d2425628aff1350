package assign

import (
	"cmp"
	"slices"
)

// haReport is the lag of one client for one stateful task, from the offset sum
// it reported (assignors.md, 2.2).
type haReport struct {
	client int32
	lag    int64
}

// haReports holds the reports only; every other client lacks the whole
// changelog. It takes memory by the reports, not by tasks times clients.
type haReports struct {
	first []int32 // by task: its first report, and the number of all at the end
	list  []haReport
	limit int64 // acceptable lag
}

// of gives the reports of a task, by client.
func (r *haReports) of(t Task) []haReport { return r.list[r.first[t]:r.first[t+1]] }

// caughtUp says whether a lag is acceptable. An unknown one (-3) is not.
func (r *haReports) caughtUp(lag int64) bool {
	return lag == SumRunning || r.limit == unlimitedLag || 0 <= lag && lag <= r.limit
}

// lagOf is the lag for a sum and an end offset sum.
func lagOf(sum, end int64) int64 {
	switch {
	case sum == SumRunning || sum == SumUnknown:
		return sum
	case sum > end:
		return end // state judged corrupt
	}
	return end - sum
}

// readReports merges the sums of the members of each process; where two differ
// the later member in the leader's map wins.
func (h *ha) readReports() haReports {
	n := len(h.stateful)
	r := haReports{first: make([]int32, n+1), limit: h.g.Settings.AcceptableLag}
	type entry struct {
		task Task
		haReport
	}
	total := 0
	for _, m := range h.g.Members {
		total += len(m.Offsets)
	}
	entries := make([]entry, 0, total)
	seen := make([]int32, n) // by task: 1 + its entry, when that is of this client
	for i, c := range h.clients {
		start := len(entries)
		for _, m := range c.members {
			for _, o := range h.g.Members[m].Offsets {
				if !h.stateful[o.Task] {
					continue
				}
				lag := lagOf(o.Sum, h.end[o.Task])
				if k := seen[o.Task]; int(k) > start {
					entries[k-1].lag = lag
					continue
				}
				entries = append(entries, entry{o.Task, haReport{int32(i), lag}})
				seen[o.Task] = int32(len(entries))
			}
		}
	}
	for _, e := range entries {
		r.first[e.task+1]++
	}
	for t := range n {
		r.first[t+1] += r.first[t]
	}
	r.list = make([]haReport, len(entries))
	at := slices.Clone(r.first[:n])
	for _, e := range entries {
		r.list[at[e.task]] = e.haReport
		at[e.task]++
	}
	return r
}

// lag is the lag of a client for a task.
func (h *ha) lag(t Task, i int32) int64 {
	reports := h.reports.of(t)
	k, ok := slices.BinarySearchFunc(reports, i, func(r haReport, i int32) int { return cmp.Compare(r.client, i) })
	if ok {
		return reports[k].lag
	}
	return h.end[t]
}

// caught is the number of clients that are caught up on a task on which some
// client is behind. The whole changelog is more than the acceptable lag then,
// for no lag exceeds it: who reported nothing is not caught up.
func (h *ha) caught(t Task) int {
	n := 0
	for _, r := range h.reports.of(t) {
		if h.reports.caughtUp(r.lag) {
			n++
		}
	}
	return n
}

// mostCaughtUp is the first client by (lag, id) of those before (lag, id) of
// the given one, without those that are marked; -1 for none.
func (h *ha) mostCaughtUp(t Task, before haReport) int32 {
	best := before
	reports := h.reports.of(t)
	consider := func(r haReport) {
		if (r.lag < best.lag || r.lag == best.lag && r.client < best.client) && h.marked[r.client] != h.mark {
			best = r
		}
	}
	for _, r := range reports {
		consider(r)
	}
	// Of all that reported nothing only the first without a mark matters.
	for i, k := int32(0), 0; int(i) < len(h.clients); i++ {
		switch {
		case k < len(reports) && reports[k].client == i:
			k++
		case h.marked[i] != h.mark:
			consider(haReport{i, h.end[t]})
			i = int32(len(h.clients))
		}
	}
	if best == before {
		return -1
	}
	return best.client
}

// behind says whether a client is not caught up on a task and another has less
// to restore.
func (h *ha) behind(t Task, i int32) bool {
	lag := h.lag(t, i)
	if h.reports.caughtUp(lag) {
		return false
	}
	for _, r := range h.reports.of(t) {
		if r.lag < lag {
			return true
		}
	}
	return h.end[t] < lag && len(h.reports.of(t)) < len(h.clients)
}
