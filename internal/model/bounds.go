package model

import (
	"math"
	"math/bits"
)

// Range is the number of active tasks an instance may have while it is
// balanced, both ends included.
type Range struct{ Low, High int }

// Has reports whether n is within the range.
func (r Range) Has(n int) bool { return r.Low <= n && n <= r.High }

// DefaultFactor is r where nobody gave one (stream.worker.balancing.factor).
const DefaultFactor = 2.0

// FactorThousandths gives r in whole thousandths, the unit in which bounds are
// reckoned: in floating point 14 tasks, 3 of 5 workers and r = 1.2 give a low
// of 8 where 7 is right. An r that is no number or below 1 counts as 1.
func FactorThousandths(r float64) int64 {
	if !(r > 1) {
		return 1000
	}
	return int64(math.Round(min(r, 1e6) * 1000))
}

// Bounds gives the bounds of each staying instance on its active tasks
// (stream-protocol.md, Bounds): workers[i] is the number of its workers,
// tasks are all tasks of the group, stateless ones too, thousandths is the
// balancing factor r in thousandths (FactorThousandths). The result runs
// parallel to workers.
//
// With e = tasks × workers[i] ÷ all workers, low is ⌈e÷r⌉ and high ⌊e×r⌋; an
// instance with low > high takes ⌊e⌋ and ⌈e⌉. If then the lows add up to more
// than all tasks, or the highs to less, every instance takes ⌊e⌋ and ⌈e⌉.
func Bounds(tasks int, workers []int, thousandths int64) []Range {
	out := make([]Range, len(workers))
	whole := make([]Range, len(workers))
	all := 0
	for _, w := range workers {
		all += w
	}
	if all == 0 || tasks == 0 {
		return out
	}
	lows, highs := 0, 0
	for i, w := range workers {
		share := uint64(tasks) * uint64(w)
		floor, ceil := mulDiv(share, 1, uint64(all))
		whole[i] = Range{int(floor), int(ceil)}
		_, low := mulDiv(share, 1000, uint64(all)*uint64(thousandths))
		high, _ := mulDiv(share, uint64(thousandths), uint64(all)*1000)
		out[i] = Range{clampInt(low), clampInt(high)}
		if out[i].Low > out[i].High {
			out[i] = whole[i]
		}
		lows, highs = lows+out[i].Low, highs+min(out[i].High, tasks)
	}
	if lows > tasks || highs < tasks {
		return whole
	}
	return out
}

// mulDiv gives a×b÷c rounded down and up, exact even where a×b is beyond 64
// bits; a result beyond 64 bits is the largest number.
func mulDiv(a, b, c uint64) (floor, ceil uint64) {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxUint64, math.MaxUint64
	}
	floor, rest := bits.Div64(hi, lo, c)
	if rest > 0 {
		return floor, floor + 1
	}
	return floor, floor
}

func clampInt(n uint64) int { return int(min(n, math.MaxInt32)) }

// Proportion gives the part of whole that n is of all, rounded up: the bytes
// of n of all records, for example. It is whole where n is all or more, and 0
// where one of them is 0.
func Proportion(whole, n, all int64) int64 {
	switch {
	case whole <= 0 || n <= 0 || all <= 0:
		return 0
	case n >= all:
		return whole
	}
	_, up := mulDiv(uint64(whole), uint64(n), uint64(all))
	return int64(up)
}
