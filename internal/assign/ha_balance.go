package assign

// haKind is the kind of task that balance moves.
type haKind interface {
	may(from, to int32) bool // moves between these clients are allowed
	move(t Task, from, to int32)
}

// haActives moves actives anywhere.
type haActives struct{ *ha }

func (haActives) may(_, _ int32) bool            { return true }
func (k haActives) move(t Task, _, to int32)     { k.active[t] = to }
func (k haStandbys) move(t Task, from, to int32) { k.dropStandby(t, from); k.addStandby(t, to) }

// haStandbys moves standbys; with tags only to clients that have every tag of
// the source.
type haStandbys struct{ *ha }

func (k haStandbys) may(from, to int32) bool { return k.tagsWithin(from, to) }

// balance evens the loads out (3.1). As prescribed it walks all pairs of
// clients, in order, until nothing moves, and hands the lowest tasks over while
// that narrows the gap. Of the pairs it looks only at those with a gap: a moves
// to b exactly when (count(a)-1)/cap(a) is not below (count(b)+1)/cap(b), so
// the next b is the first whose second term is at most the first of a.
//
// held has by client its tasks of the kind, ascending; balance uses it up.
func (h *ha) balance(held [][]Task, kind haKind) {
	after := newFirstTree(len(h.clients), h.loadWithOneMore)
	var blocked []Task
	for moved := true; moved; {
		moved = false
		for a := range int32(len(h.clients)) {
			if len(held[a]) == 0 {
				continue
			}
			for b := after.from(0, h.loadWithOneLess(a)); b >= 0; b = after.from(b+1, h.loadWithOneLess(a)) {
				if b == a || !kind.may(a, b) {
					continue
				}
				blocked = blocked[:0]
				before := h.count[b]
				for len(held[a]) > 0 && h.narrows(a, b) {
					t := popTask(&held[a])
					if h.has(b, t) {
						blocked = append(blocked, t)
						continue
					}
					kind.move(t, a, b)
					h.count[a]--
					h.count[b]++
					pushTask(&held[b], t)
				}
				for _, t := range blocked {
					pushTask(&held[a], t)
				}
				if h.count[b] != before {
					moved = true
					after.set(b, h.loadWithOneMore(b))
				}
			}
			after.set(a, h.loadWithOneMore(a))
		}
	}
}

func (h *ha) loadWithOneLess(i int32) float64 {
	return (float64(h.count[i]) - 1) / float64(h.clients[i].capacity)
}

func (h *ha) loadWithOneMore(i int32) float64 {
	return (float64(h.count[i]) + 1) / float64(h.clients[i].capacity)
}

// narrows says whether a move from a to b narrows their gap without turning it
// round.
func (h *ha) narrows(a, b int32) bool {
	skew := h.load(a) - h.load(b)
	if skew <= 0 {
		return false
	}
	proposed := h.loadWithOneLess(a) - h.loadWithOneMore(b)
	return proposed >= 0 && proposed < skew
}

// pushTask adds to a heap of tasks, the lowest first. An ascending list is one.
func pushTask(heap *[]Task, t Task) {
	q := append(*heap, t)
	i := len(q) - 1
	for i > 0 {
		p := (i - 1) / 2
		if q[p] <= t {
			break
		}
		q[i], i = q[p], p
	}
	q[i] = t
	*heap = q
}

// popTask takes the lowest task out of a heap that is not empty.
func popTask(heap *[]Task) Task {
	q := *heap
	least, n := q[0], len(q)-1
	last := q[n]
	q = q[:n]
	*heap = q
	if n == 0 {
		return least
	}
	i := 0
	for c := 1; c < n; c = 2*i + 1 {
		if c+1 < n && q[c+1] < q[c] {
			c++
		}
		if last <= q[c] {
			break
		}
		q[i], i = q[c], c
	}
	q[i] = last
	return least
}
