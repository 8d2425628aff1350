package javaorder

// HashMap is the order in which a java.util.HashMap of distinct keys iterates.
// It holds no keys: an entry is the number of its insertion, from 0. Of keys
// with one hashCode the one entered first must be the lesser one (a TextMap
// compares them); that matters only in buckets so full that Java makes trees of
// them.
type HashMap struct {
	table []int32 // first entry of each bucket, -1 when empty
	next  []int32 // by entry: the one after it in its bucket, -1 for none
	hash  []uint32
	limit int       // the table doubles when the size passes it
	trees *treeBins // nil as long as no bucket was a tree

	lesser func(a, b int32) bool // compares the keys of two entries with one hashCode; nil: as they were entered
}

// DefaultCapacity is the table size of new HashMap() and new HashSet().
const DefaultCapacity = 16

const (
	crowded  = 8  // a bucket that would pass this becomes a tree
	sparse   = 6  // a tree of at most so many entries becomes a list when the table doubles
	treeable = 64 // smallest table that has trees; smaller ones double instead
)

// NewHashMap returns an empty map whose table starts with the next power of
// two from capacity on.
func NewHashMap(capacity int) *HashMap {
	n := 1
	for n < capacity {
		n <<= 1
	}
	m := &HashMap{}
	m.allocate(n)
	return m
}

func (m *HashMap) allocate(n int) {
	m.table = make([]int32, n)
	for i := range m.table {
		m.table[i] = -1
	}
	m.limit = n * 3 / 4
}

// Put enters a key that is not there yet, by its hashCode, at the end of its
// bucket; it is put and putIfAbsent.
func (m *HashMap) Put(hash uint32) {
	e := m.entry(hash)
	b := m.bucket(e)
	if m.trees.has(m.table[b]) {
		m.trees.insert(m, e)
	} else {
		before := 0
		if last := m.table[b]; last < 0 {
			m.table[b] = e
		} else {
			for before = 1; m.next[last] >= 0; before++ {
				last = m.next[last]
			}
			m.next[last] = e
		}
		if before >= crowded {
			m.relieve(b)
		}
	}
	if len(m.next) > m.limit {
		m.grow()
	}
}

// ComputeIfAbsent enters a key that is not there yet at the head of its
// bucket; the table doubles before, not after.
func (m *HashMap) ComputeIfAbsent(hash uint32) {
	m.ComputePresent()
	e := m.entry(hash)
	b := m.bucket(e)
	if m.trees.has(m.table[b]) {
		m.trees.insert(m, e)
		return
	}
	before := 0
	for i := m.table[b]; i >= 0; i = m.next[i] {
		before++
	}
	m.next[e], m.table[b] = m.table[b], e
	if before >= crowded-1 {
		m.relieve(b)
	}
}

// relieve makes a tree of a crowded bucket, or doubles a small table.
func (m *HashMap) relieve(b int) {
	if len(m.table) < treeable {
		m.grow()
		return
	}
	if m.trees == nil {
		m.trees = &treeBins{}
	}
	m.trees.build(m, b)
}

// ComputePresent is computeIfAbsent of a key that is there: it enters nothing,
// but the table may double.
func (m *HashMap) ComputePresent() {
	if len(m.next) > m.limit {
		m.grow()
	}
}

// Order gives the entries as the map iterates over them.
func (m *HashMap) Order() []int32 {
	out := make([]int32, 0, len(m.next))
	for _, e := range m.table {
		for ; e >= 0; e = m.next[e] {
			out = append(out, e)
		}
	}
	return out
}

func (m *HashMap) entry(hash uint32) int32 {
	m.next = append(m.next, -1)
	m.hash = append(m.hash, hash^hash>>16)
	return int32(len(m.next) - 1)
}

func (m *HashMap) bucket(e int32) int { return int(m.hash[e]) & (len(m.table) - 1) }

// grow doubles the table; the entries of a bucket keep their order.
func (m *HashMap) grow() {
	old := m.table
	m.allocate(2 * len(old))
	for i, e := range old {
		tree := m.trees.has(e)
		low, high := int32(-1), int32(-1) // last entries of the two new buckets
		lows, highs := 0, 0
		for e >= 0 {
			after := m.next[e]
			m.next[e] = -1
			last, b, n := &low, i, &lows
			if m.bucket(e) != i {
				last, b, n = &high, i+len(old), &highs
			}
			if *last < 0 {
				m.table[b] = e
			} else {
				m.next[*last] = e
			}
			*last = e
			*n++
			e = after
		}
		if tree {
			m.trees.split(m, i, lows, highs)
			m.trees.split(m, i+len(old), highs, lows)
		}
	}
}
