package plan

import (
	"fmt"
	"math"
)

// worse says why a plan ends less balanced than it began; "" when it does not.
// What counts are the bounds of the balancing factor: a group that keeps within
// them is as balanced as was asked for, however many instances it has. Only
// where the same instances have the same workers before and after are their
// loads compared more closely.
func worse(before, after *Balance) string {
	switch {
	case after.deserted() && !before.deserted():
		return "no instance is left to balance the tasks over"
	case before.Balanced && !after.Balanced:
		return fmt.Sprintf("an instance ends outside its bounds, none is before; the most loaded has %.2f of what is expected afterwards, %.2f before", after.MaxOverExpected, before.MaxOverExpected)
	case before.outside() < after.outside():
		return fmt.Sprintf("%s outside the bounds afterwards, %d before", count(after.outside(), "task"), before.outside())
	case before.outside() == after.outside() && sameStaying(before, after) && after.furthest() > before.furthest()+0.0005:
		return fmt.Sprintf("the instance furthest from what is expected of it is %.0f%% off afterwards, %.0f%% before", 100*after.furthest(), 100*before.furthest())
	}
	return ""
}

func (b *Balance) deserted() bool { return len(b.Instances) == 0 }

// outside is by how many tasks instances miss their bounds, all together.
func (b *Balance) outside() int {
	n := 0
	for _, c := range b.Instances {
		if c.stays() {
			n += max(0, c.Low-c.Active, c.Active-c.High)
		}
	}
	return n
}

// stays reports whether anything is expected of an instance: of one that leaves
// nothing is.
func (c Counts) stays() bool { return c.Expected > 0 }

// furthest is the largest distance of an instance from what is expected of it,
// as a part of that. Less than a task is none: tasks are whole.
func (b *Balance) furthest() float64 {
	most := 0.0
	for _, c := range b.Instances {
		if c.stays() {
			if off := math.Abs(float64(c.Active) - c.Expected); off >= 1 {
				most = max(most, off/c.Expected)
			}
		}
	}
	return most
}

// sameStaying reports whether the instances that stay are the same before and
// after, with as many workers.
func sameStaying(before, after *Balance) bool {
	n := 0
	for id, c := range before.Instances {
		if c.stays() {
			if now := after.Instances[id]; !now.stays() || now.Workers != c.Workers {
				return false
			}
			n++
		}
	}
	for _, c := range after.Instances {
		if c.stays() {
			n--
		}
	}
	return n == 0
}
