package assign

// learnerTree answers which of some numbered things is best while they change:
// a tournament, where each change plays the games of one path again. Of equals
// the lowest number wins.
type learnerTree struct {
	base int     // leaves begin here
	node []int32 // winner below each node; -1: nobody takes part
	less func(a, b int32) bool
}

// newLearnerTree lets those of 0…n−1 take part for which in holds; less says
// that a is better than b.
func newLearnerTree(n int, in func(int32) bool, less func(a, b int32) bool) *learnerTree {
	base := 1
	for base < n {
		base *= 2
	}
	t := &learnerTree{base: base, node: make([]int32, 2*base), less: less}
	for i := range t.node {
		t.node[i] = -1
	}
	for i := range int32(n) {
		if in(i) {
			t.node[base+int(i)] = i
		}
	}
	for p := base - 1; p > 0; p-- {
		t.play(p)
	}
	return t
}

func (t *learnerTree) play(p int) {
	a, b := t.node[2*p], t.node[2*p+1]
	if a < 0 || b >= 0 && t.less(b, a) {
		a = b
	}
	t.node[p] = a
}

// update tells the tree that i has changed and whether it takes part.
func (t *learnerTree) update(i int32, in bool) {
	p := t.base + int(i)
	t.node[p] = -1
	if in {
		t.node[p] = i
	}
	for p /= 2; p > 0; p /= 2 {
		t.play(p)
	}
}

// best is the best of those that take part, -1 when nobody does.
func (t *learnerTree) best() int32 { return t.node[1] }
