package javaorder

// treeBins are the buckets of a HashMap that Java keeps as red-black trees of
// (hash, key). The iteration still follows the list of the bucket; what a tree
// changes is where a new entry goes in it (behind its parent) and that the root
// is always first.
type treeBins struct{ nodes []treeNode }

// treeNode is an entry as part of a tree; -1 stands for no node.
type treeNode struct {
	left, right, parent int32
	red, in             bool // in: the entry is in a tree
}

// has says whether an entry is in a tree.
func (t *treeBins) has(e int32) bool {
	return t != nil && e >= 0 && int(e) < len(t.nodes) && t.nodes[e].in
}

func (t *treeBins) node(e int32) *treeNode {
	for int(e) >= len(t.nodes) {
		t.nodes = append(t.nodes, treeNode{left: -1, right: -1, parent: -1})
	}
	return &t.nodes[e]
}

// build makes a tree of the list of a bucket.
func (t *treeBins) build(m *HashMap, b int) {
	root := int32(-1)
	for e := m.table[b]; e >= 0; e = m.next[e] {
		*t.node(e) = treeNode{left: -1, right: -1, parent: -1, in: true}
		if root < 0 {
			root = e
			continue
		}
		t.link(m, root, e)
		root = t.balance(root, e)
	}
	t.front(m, b, root)
}

// insert enters an entry into the tree of its bucket, in the list behind its
// parent.
func (t *treeBins) insert(m *HashMap, e int32) {
	b := m.bucket(e)
	root := m.table[b]
	*t.node(e) = treeNode{left: -1, right: -1, parent: -1, in: true}
	parent := t.link(m, root, e)
	m.next[e], m.next[parent] = m.next[parent], e
	t.front(m, b, t.balance(root, e))
}

// split looks after one of the two buckets that a tree was parted into, with
// its number of entries and that of the other.
func (t *treeBins) split(m *HashMap, b, n, other int) {
	switch {
	case n == 0:
	case n <= sparse:
		for e := m.table[b]; e >= 0; e = m.next[e] {
			t.nodes[e].in = false
		}
	case other > 0:
		t.build(m, b)
	}
}

// link hangs a leaf into the tree below root and returns its parent.
func (t *treeBins) link(m *HashMap, root, e int32) int32 {
	for p := root; ; {
		child := &t.nodes[p].right
		if h, ph := int32(m.hash[e]), int32(m.hash[p]); h < ph || h == ph && m.less(e, p) {
			child = &t.nodes[p].left
		}
		if *child < 0 {
			*child = e
			t.nodes[e].parent = p
			return p
		}
		p = *child
	}
}

// less compares the keys of two entries with one hashCode.
func (m *HashMap) less(a, b int32) bool {
	if m.lesser == nil {
		return a < b
	}
	return m.lesser(a, b)
}

// front moves the root to the head of the list.
func (t *treeBins) front(m *HashMap, b int, root int32) {
	if m.table[b] == root {
		return
	}
	before := m.table[b]
	for m.next[before] != root {
		before = m.next[before]
	}
	m.next[before] = m.next[root]
	m.next[root], m.table[b] = m.table[b], root
}

// balance restores the colours after x was hung in and returns the new root.
func (t *treeBins) balance(root, x int32) int32 {
	t.nodes[x].red = true
	for {
		p := t.nodes[x].parent
		if p < 0 {
			t.nodes[x].red = false
			return x
		}
		g := t.nodes[p].parent
		if !t.nodes[p].red || g < 0 {
			return root
		}
		left := t.nodes[g].left == p
		uncle, inner := t.nodes[g].right, t.nodes[p].right
		if !left {
			uncle, inner = t.nodes[g].left, t.nodes[p].left
		}
		if uncle >= 0 && t.nodes[uncle].red {
			t.nodes[uncle].red, t.nodes[p].red, t.nodes[g].red = false, false, true
			x = g
			continue
		}
		if x == inner {
			root = t.rotate(root, p, left)
			x, p = p, x
		}
		t.nodes[p].red, t.nodes[g].red = false, true
		root = t.rotate(root, g, !left)
	}
}

// rotate turns the tree at p, to the left or to the right, and returns the
// root.
func (t *treeBins) rotate(root, p int32, left bool) int32 {
	down, inner := &t.nodes[p].right, int32(-1)
	if !left {
		down = &t.nodes[p].left
	}
	up := *down
	if left {
		inner, t.nodes[up].left = t.nodes[up].left, p
	} else {
		inner, t.nodes[up].right = t.nodes[up].right, p
	}
	*down = inner
	if inner >= 0 {
		t.nodes[inner].parent = p
	}
	above := t.nodes[p].parent
	t.nodes[up].parent, t.nodes[p].parent = above, up
	switch {
	case above < 0:
		t.nodes[up].red = false
		return up
	case t.nodes[above].left == p:
		t.nodes[above].left = up
	default:
		t.nodes[above].right = up
	}
	return root
}
