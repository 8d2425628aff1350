package render

import (
	"math"
	"strconv"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// None is shown for what is not known or does not apply.
const None = "-"

// Int writes a number with thousands separators, for example "49,936".
func Int(n int64) string { return model.Thousands(n) }

// OptInt is Int, or None for nil.
func OptInt(n *int64) string {
	if n == nil {
		return None
	}
	return Int(*n)
}

// Bytes writes a size with one decimal in KiB, MiB, GiB or TiB.
func Bytes(n int64) string {
	const unit = 1024
	if n > -unit && n < unit {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, u := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for math.Abs(v) >= unit-0.05 && u < len(units)-1 {
		v /= unit
		u++
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + units[u]
}

// Duration writes a length of time in its two largest units: "4m12s", "1h40m",
// "2d3h", "45s"; below ten seconds with tenths, "1.5s", below one in "850ms".
func Duration(d time.Duration) string {
	if d < 0 {
		if d == math.MinInt64 {
			d++
		}
		return "-" + Duration(-d)
	}
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second && d%time.Second >= 50*time.Millisecond:
		return strconv.FormatFloat(math.Floor(d.Seconds()*10)/10, 'f', -1, 64) + "s"
	}
	s := int64(d / time.Second)
	parts := []struct {
		n    int64
		unit string
	}{{s / 86400, "d"}, {s / 3600 % 24, "h"}, {s / 60 % 60, "m"}, {s % 60, "s"}}
	for i, p := range parts {
		if p.n == 0 {
			continue
		}
		out := strconv.FormatInt(p.n, 10) + p.unit
		if i+1 < len(parts) && parts[i+1].n > 0 {
			out += strconv.FormatInt(parts[i+1].n, 10) + parts[i+1].unit
		}
		return out
	}
	return "0s"
}

// Millis is Duration of a number of milliseconds.
func Millis(ms int64) string {
	if ms > math.MaxInt64/int64(time.Millisecond) || ms < math.MinInt64/int64(time.Millisecond) {
		return Int(ms/86_400_000) + "d"
	}
	return Duration(time.Duration(ms) * time.Millisecond)
}

// Clock writes a time of day in UTC, with the day when it is not that of ref.
func Clock(t time.Time, ref *time.Time) string {
	t = t.UTC()
	if ref != nil && ref.UTC().Format(time.DateOnly) == t.Format(time.DateOnly) {
		return t.Format("15:04:05 UTC")
	}
	return t.Format("2006-01-02 15:04:05 UTC")
}

// Ratio writes a number with at most two decimals, for example "1.67" or "6".
func Ratio(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return None
	}
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
}

// Count writes a number and its noun: "1 task", "2 tasks", "1,024 tasks".
func Count(n int, noun string) string { return model.Count(n, noun) }
