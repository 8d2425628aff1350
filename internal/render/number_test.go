package render

import (
	"math"
	"testing"
	"time"
)

func TestInt(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 49936: "49,936", -1: "-1", -999: "-999", -1000: "-1,000", 1234567: "1,234,567",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Int(in); got != want {
			t.Errorf("Int(%d) = %q, want %q", in, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 3_250_585: "3.1 MiB", 5 << 30: "5.0 GiB",
		1<<20 - 1: "1.0 MiB", math.MaxInt64: "8.0 EiB", -2048: "-2.0 KiB",
	} {
		if got := Bytes(in); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", in, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0ms", 850 * time.Millisecond: "850ms", time.Second: "1s", 1500 * time.Millisecond: "1.5s", 9999 * time.Millisecond: "9.9s",
		45 * time.Second: "45s", 252 * time.Second: "4m12s", 4 * time.Minute: "4m", 100 * time.Minute: "1h40m", time.Hour + time.Second: "1h",
		51 * time.Hour: "2d3h", -90 * time.Second: "-1m30s", math.MinInt64: "-106751d23h",
	} {
		if got := Duration(in); got != want {
			t.Errorf("Duration(%d) = %q, want %q", in, got, want)
		}
	}
	if got := Millis(math.MaxInt64); got != "106,751,991,167d" {
		t.Errorf("Millis of the largest number is %q", got)
	}
}

func TestClockNamesTheDayWhenItIsAnother(t *testing.T) {
	ref := time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)
	if got := Clock(ref.Add(30*time.Second), &ref); got != "23:59:30 UTC" {
		t.Errorf("same day: %q", got)
	}
	if got := Clock(ref.Add(time.Minute), &ref); got != "2026-12-01 00:00:00 UTC" {
		t.Errorf("next day: %q", got)
	}
}

func TestRatio(t *testing.T) {
	for in, want := range map[float64]string{6: "6", 5.333333: "5.33", 0.5: "0.5", math.NaN(): "-", math.Inf(1): "-"} {
		if got := Ratio(in); got != want {
			t.Errorf("Ratio(%v) = %q, want %q", in, got, want)
		}
	}
}
