package assign

import "math"

// leastTree answers which of some numbered things has the least key; of equals
// the lowest number wins. A change costs the logarithm of their number.
type leastTree struct {
	base int // leaves begin here
	key  []float64
	win  []int32 // the least below each node, -1 for none
}

func newLeastTree(n int, key func(int32) float64) *leastTree {
	base := 1
	for base < n {
		base *= 2
	}
	t := &leastTree{base: base, key: make([]float64, n), win: make([]int32, 2*base)}
	for i := range base {
		t.win[base+i] = -1
		if i < n {
			t.win[base+i], t.key[i] = int32(i), key(int32(i))
		}
	}
	for p := base - 1; p > 0; p-- {
		t.win[p] = t.lesser(t.win[2*p], t.win[2*p+1])
	}
	return t
}

// lesser compares two winners, a of lower numbers than b.
func (t *leastTree) lesser(a, b int32) int32 {
	if a < 0 || b >= 0 && t.key[b] < t.key[a] {
		return b
	}
	return a
}

func (t *leastTree) set(i int32, key float64) {
	if t.key[i] == key {
		return
	}
	t.key[i] = key
	for p := (t.base + int(i)) / 2; p > 0; p /= 2 {
		t.win[p] = t.lesser(t.win[2*p], t.win[2*p+1])
	}
}

// best is the least of those whose mark is not the given one, -1 for none. It
// looks into a part of the tree only where its winner has the mark.
func (t *leastTree) best(marked []int32, mark int32) int32 { return t.bestBelow(1, marked, mark) }

func (t *leastTree) bestBelow(p int, marked []int32, mark int32) int32 {
	w := t.win[p]
	if w < 0 || marked[w] != mark {
		return w
	}
	if p >= t.base {
		return -1
	}
	return t.lesser(t.bestBelow(2*p, marked, mark), t.bestBelow(2*p+1, marked, mark))
}

// firstTree answers which is the first of some numbered things, from a given
// one on, whose key is at most x.
type firstTree struct {
	base int
	low  []float64 // the least key below each node
}

func newFirstTree(n int, key func(int32) float64) *firstTree {
	base := 1
	for base < n {
		base *= 2
	}
	t := &firstTree{base: base, low: make([]float64, 2*base)}
	for i := range base {
		t.low[base+i] = math.Inf(1)
		if i < n {
			t.low[base+i] = key(int32(i))
		}
	}
	for p := base - 1; p > 0; p-- {
		t.low[p] = min(t.low[2*p], t.low[2*p+1])
	}
	return t
}

func (t *firstTree) set(i int32, key float64) {
	p := t.base + int(i)
	t.low[p] = key
	for p /= 2; p > 0; p /= 2 {
		t.low[p] = min(t.low[2*p], t.low[2*p+1])
	}
}

// from is the first one that is not before i, -1 for none.
func (t *firstTree) from(i int32, x float64) int32 {
	if int(i) >= t.base {
		return -1
	}
	p := t.base + int(i)
	for t.low[p] > x {
		for p&1 == 1 { // up, as long as there is nothing to the right
			p /= 2
		}
		if p == 0 {
			return -1
		}
		p++
	}
	for p < t.base {
		if p *= 2; t.low[p] > x {
			p++
		}
	}
	return int32(p - t.base)
}
