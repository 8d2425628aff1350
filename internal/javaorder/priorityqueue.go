package javaorder

// PriorityQueue keeps its elements in the array a java.util.PriorityQueue
// would keep them in, so that ties leave it in the same order.
type PriorityQueue[T any] struct {
	items []T
	less  func(a, b T) bool
	track func(x T, i int)
}

// NewPriorityQueue returns an empty queue. less says whether a is strictly
// smaller than b. track, unless nil, is told the index of every element that
// was placed and -1 for one that left.
func NewPriorityQueue[T any](less func(a, b T) bool, track func(x T, i int)) *PriorityQueue[T] {
	return &PriorityQueue[T]{less: less, track: track}
}

// Fill replaces the elements by those of a collection in its order: what
// Java's constructor from a collection does. It takes the slice over.
func (q *PriorityQueue[T]) Fill(items []T) {
	q.items = items
	for i, x := range items {
		q.place(i, x)
	}
	for i := len(items)/2 - 1; i >= 0; i-- {
		q.down(i, items[i])
	}
}

// Len is the number of elements.
func (q *PriorityQueue[T]) Len() int { return len(q.items) }

// Items is the array itself, in index order; it holds until the next change.
func (q *PriorityQueue[T]) Items() []T { return q.items }

// Reset empties the queue and keeps its memory; nothing is tracked.
func (q *PriorityQueue[T]) Reset() { q.items = q.items[:0] }

// Offer adds x.
func (q *PriorityQueue[T]) Offer(x T) {
	q.items = append(q.items, x)
	q.up(len(q.items)-1, x)
}

// Poll takes the least element out; of an empty queue it gives false.
func (q *PriorityQueue[T]) Poll() (T, bool) {
	var zero T
	if len(q.items) == 0 {
		return zero, false
	}
	first, n := q.items[0], len(q.items)-1
	last := q.items[n]
	q.items[n] = zero
	q.items = q.items[:n]
	if n > 0 {
		q.down(0, last)
	}
	if q.track != nil {
		q.track(first, -1)
	}
	return first, true
}

// RemoveAt takes out the element at an index of Items, as Java's remove does
// with the one it found.
func (q *PriorityQueue[T]) RemoveAt(i int) {
	var zero T
	gone, n := q.items[i], len(q.items)-1
	last := q.items[n]
	q.items[n] = zero
	q.items = q.items[:n]
	if i < n {
		if !q.down(i, last) {
			q.up(i, last)
		}
	}
	if q.track != nil {
		q.track(gone, -1)
	}
}

func (q *PriorityQueue[T]) place(i int, x T) {
	q.items[i] = x
	if q.track != nil {
		q.track(x, i)
	}
}

func (q *PriorityQueue[T]) up(i int, x T) {
	for i > 0 {
		p := (i - 1) >> 1
		if !q.less(x, q.items[p]) {
			break
		}
		q.place(i, q.items[p])
		i = p
	}
	q.place(i, x)
}

// down says whether x ended below i.
func (q *PriorityQueue[T]) down(i int, x T) bool {
	start, half := i, len(q.items)>>1
	for i < half {
		c := 2*i + 1
		if c+1 < len(q.items) && q.less(q.items[c+1], q.items[c]) {
			c++
		}
		if !q.less(q.items[c], x) {
			break
		}
		q.place(i, q.items[c])
		i = c
	}
	q.place(i, x)
	return i != start
}
