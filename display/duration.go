package display

import (
	"math"
	"strconv"
	"time"
)

// Duration formats a time with three significant digits: "2.39 ms", "509 µs", "12.9 s". From 100
// seconds on it counts minutes and hours: "1 min 45 s".
func Duration(d time.Duration) string {
	if d < 0 {
		return "−" + Duration(-max(d, -math.MaxInt64))
	}
	v, unit := float64(d), "ns"
	for _, u := range []struct {
		size float64
		name string
	}{{1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}} {
		if round3(float64(d)/u.size) >= 1 {
			v, unit = float64(d)/u.size, u.name
		}
	}
	if unit != "s" || v < 99.95 {
		return strconv.FormatFloat(round3(v), 'f', -1, 64) + " " + unit
	}
	s := int64(math.Round(v))
	if s < 3600 {
		return strconv.FormatInt(s/60, 10) + " min " + strconv.FormatInt(s%60, 10) + " s"
	}
	m := (s + 30) / 60
	return strconv.FormatInt(m/60, 10) + " h " + strconv.FormatInt(m%60, 10) + " min"
}

// round3 rounds to three significant digits.
func round3(v float64) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return x
}
