package model

import (
	"math"
	"testing"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 49936: "49,936", 1234567: "1,234,567", -1: "-1", -999: "-999", -1000: "-1,000", -123456: "-123,456",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n          int
		noun, want string
	}{{0, "task", "0 tasks"}, {1, "task", "1 task"}, {2, "task", "2 tasks"}, {1024, "record", "1,024 records"}, {1, "copy", "1 copy"}, {2, "new standby", "2 new standbys"}, {2, "copy", "2 copies"}} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("%d %s: %s, want %s", c.n, c.noun, got, c.want)
		}
	}
}
