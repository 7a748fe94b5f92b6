package display

import (
	"math"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ns", 1: "1 ns", 999: "999 ns", 1500: "1.5 µs", 509_200: "509 µs", 999_700: "1 ms", 2_392_800: "2.39 ms", 12_900 * time.Millisecond: "12.9 s",
		99_940 * time.Millisecond: "99.9 s", 99_950 * time.Millisecond: "1 min 40 s", time.Hour - time.Second: "59 min 59 s", 90 * time.Minute: "1 h 30 min",
		-time.Millisecond: "−1 ms", math.MaxInt64: "2562047 h 47 min", math.MinInt64: "−2562047 h 47 min",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d ns: got %q, want %q", d, got, want)
		}
	}
}
