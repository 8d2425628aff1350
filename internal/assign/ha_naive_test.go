package assign

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/javaorder"
)

// naiveHA is the procedure of assignors.md, section 3, without racks, word for
// word: sets, every lag of every client, every pair of clients in every sweep.
// The assignor must give the same.
type naiveHA struct {
	g       *Group
	ids     []javaorder.UUID
	caps    []int
	tags    []map[string]string
	a, b    []map[Task]bool
	lags    []map[Task]int64
	tasks   []Task // stateful
	warm    []map[Task]bool
	movedA  int
	movedB  int
	targetA []map[Task]bool
	targetB []map[Task]bool
}

// runNaive needs processes sorted by id, each with members, whose reports do
// not contradict each other.
func runNaive(g *Group) *naiveHA {
	n := &naiveHA{g: g}
	for i, p := range g.Processes {
		id, err := javaorder.ParseUUID(p.ID)
		if err != nil {
			panic(err)
		}
		n.ids, n.tags = append(n.ids, id), append(n.tags, p.Tags)
		n.a, n.b, n.warm = append(n.a, map[Task]bool{}), append(n.b, map[Task]bool{}), append(n.warm, map[Task]bool{})
		sums, threads := map[Task]int64{}, 0
		for _, m := range g.Members {
			if m.Process == i {
				threads++
				for _, o := range m.Offsets {
					sums[o.Task] = o.Sum
				}
			}
		}
		n.caps = append(n.caps, threads)
		lags := map[Task]int64{}
		for t := range Task(g.Topology.Len()) {
			sub := g.Topology.subtopology(t)
			end, sum := g.Topology.subs[sub].EndOffsets[t-g.Topology.first[sub]], sums[t]
			switch {
			case sum < 0:
				lags[t] = sum
			case sum > end:
				lags[t] = end
			default:
				lags[t] = end - sum
			}
		}
		n.lags = append(n.lags, lags)
	}
	for t := range Task(g.Topology.Len()) {
		if g.Topology.Stateful(t) {
			n.tasks = append(n.tasks, t)
		}
	}
	n.target()
	n.movement()
	n.stateless()
	return n
}

func (n *naiveHA) count(i int) int        { return len(n.a[i]) + len(n.b[i]) }
func (n *naiveHA) load(i int) float64     { return float64(n.count(i)) / float64(n.caps[i]) }
func (n *naiveHA) has(i int, t Task) bool { return n.a[i][t] || n.b[i][t] }
func (n *naiveHA) before(i, j int) bool   { return cmp.Or(cmp.Compare(n.load(i), n.load(j)), i-j) < 0 }
func (n *naiveHA) least(ok func(i int) bool) int {
	best := -1
	for i := range n.ids {
		if ok(i) && (best < 0 || n.before(i, best)) {
			best = i
		}
	}
	return best
}

func (n *naiveHA) balance(kind []map[Task]bool, ok func(a, b int) bool) {
	should := func(a, b int) bool {
		skew := n.load(a) - n.load(b)
		if skew <= 0 {
			return false
		}
		proposed := (float64(n.count(a))-1)/float64(n.caps[a]) - (float64(n.count(b))+1)/float64(n.caps[b])
		return !(proposed < 0) && proposed < skew
	}
	for moved := true; moved; {
		moved = false
		for a := range n.ids {
			for b := range n.ids {
				if a == b {
					continue
				}
				for _, t := range ascending(kind[a]) {
					if !should(a, b) {
						break
					}
					if !n.has(b, t) && ok(a, b) {
						delete(kind[a], t)
						kind[b][t] = true
						moved = true
					}
				}
			}
		}
	}
}

func (n *naiveHA) target() {
	for k, t := range n.tasks {
		n.a[k%len(n.ids)][t] = true
	}
	n.balance(n.a, func(_, _ int) bool { return true })
	if s := n.g.Settings; s.Standbys > 0 {
		ok := func(_, _ int) bool { return true }
		if len(s.StandbyTags) > 0 {
			n.apart()
			ok = func(a, b int) bool {
				for k, v := range n.tags[a] {
					if w, there := n.tags[b][k]; !there || w != v {
						return false
					}
				}
				return true
			}
		} else {
			for _, t := range n.tasks {
				n.fill(t, s.Standbys)
			}
		}
		n.balance(n.b, ok)
	}
	for i := range n.ids {
		n.targetA, n.targetB = append(n.targetA, clone(n.a[i])), append(n.targetB, clone(n.b[i]))
	}
}

func (n *naiveHA) fill(t Task, copies int) {
	for range copies {
		if i := n.least(func(i int) bool { return !n.has(i, t) }); i >= 0 {
			n.b[i][t] = true
		}
	}
}

// apart places standbys by tags.
func (n *naiveHA) apart() {
	type entry struct{ key, value string }
	values := map[string]map[string]bool{}
	for _, tags := range n.tags {
		for k, v := range tags {
			if values[k] == nil {
				values[k] = map[string]bool{}
			}
			values[k][v] = true
		}
	}
	missing := map[Task]int{}
	order := javaorder.NewHashMap(javaorder.DefaultCapacity)
	for _, t := range n.tasks {
		order.Put(n.g.Topology.hash(t))
		left, copies, used, taken := n.g.Settings.Standbys, 1, map[entry]bool{}, map[int]bool{}
		last := slices.IndexFunc(n.a, func(set map[Task]bool) bool { return set[t] })
		for left > 0 {
			for k, v := range n.tags[last] {
				if !slices.Contains(n.g.Settings.StandbyTags, k) {
					continue
				}
				if len(values[k]) <= copies {
					for w := range values[k] {
						delete(used, entry{k, w})
					}
				} else {
					used[entry{k, v}] = true
				}
			}
			i := n.least(func(i int) bool {
				for e := range used {
					if v, there := n.tags[i][e.key]; there && v == e.value {
						return false
					}
				}
				return !taken[i] && !n.has(i, t)
			})
			if i < 0 {
				break
			}
			n.b[i][t], taken[i], last = true, true, i
			copies++
			left--
		}
		missing[t] = left
	}
	for _, e := range order.Order() {
		n.fill(n.tasks[e], missing[n.tasks[e]])
	}
}

func (n *naiveHA) movement() {
	limit := n.g.Settings.AcceptableLag
	caught := func(t Task, i int) bool {
		l := n.lags[i][t]
		return l == SumRunning || limit == unlimitedLag || 0 <= l && l <= limit
	}
	caughtUp := func(t Task) (c int) {
		for i := range n.ids {
			if caught(t, i) {
				c++
			}
		}
		return c
	}
	byLag := func(t Task) []int {
		out := make([]int, len(n.ids))
		for i := range out {
			out[i] = i
		}
		slices.SortFunc(out, func(i, j int) int { return cmp.Or(cmp.Compare(n.lags[i][t], n.lags[j][t]), i-j) })
		return out
	}
	behind := func(t Task, i int) bool { return !caught(t, i) && n.lags[byLag(t)[0]][t] < n.lags[i][t] }
	var moves []haMove
	for i := range n.ids {
		for t := range n.a[i] {
			if behind(t, i) {
				moves = append(moves, haMove{caughtUp(t), t, int32(i)})
			}
		}
	}
	slices.SortFunc(moves, haMove.compare)
	n.movedA = len(moves)
	budget := n.g.Settings.MaxWarmups
	for _, m := range moves {
		t, d := m.task, int(m.client)
		s := n.least(func(i int) bool { return caught(t, i) && n.b[i][t] })
		if s < 0 {
			s = n.least(func(i int) bool { return caught(t, i) })
		}
		if s < 0 {
			s = byLag(t)[0]
		}
		swap := n.b[s][t]
		delete(n.b[s], t)
		delete(n.a[d], t)
		n.a[s][t] = true
		if swap || budget > 0 {
			n.b[d][t] = true
		}
		if !swap {
			n.warm[d][t] = budget > 0
			budget--
		}
	}
	queue := javaorder.NewPriorityQueue(func(a, b haMove) bool { return a.compare(b) < 0 }, nil)
	for i := range n.ids {
		for _, t := range ascending(n.b[i]) {
			if !n.warm[i][t] && behind(t, i) {
				queue.Offer(haMove{caughtUp(t), t, int32(i)})
			}
		}
	}
	for m, ok := queue.Poll(); ok; m, ok = queue.Poll() {
		t, d := m.task, int(m.client)
		s := n.least(func(i int) bool { return caught(t, i) && !n.has(i, t) })
		for _, i := range byLag(t) {
			if s >= 0 || i == d {
				break
			}
			if !n.has(i, t) {
				s = i
			}
		}
		if s < 0 {
			continue
		}
		n.b[s][t] = true
		if budget <= 0 {
			delete(n.b[d], t)
		}
		budget--
		n.movedB++
	}
}

func (n *naiveHA) stateless() {
	for t := range Task(n.g.Topology.Len()) {
		if n.g.Topology.Stateful(t) {
			continue
		}
		load := func(i int) float64 { return float64(len(n.a[i])) / float64(n.caps[i]) }
		best := 0
		for i := range n.ids {
			if load(i) < load(best) {
				best = i
			}
		}
		n.a[best][t] = true
	}
}

// ascending lists the tasks whose value is true.
func ascending(set map[Task]bool) []Task {
	out := []Task{}
	for t, in := range set {
		if in {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}

func clone(set map[Task]bool) map[Task]bool {
	out := map[Task]bool{}
	for t := range set {
		out[t] = true
	}
	return out
}
