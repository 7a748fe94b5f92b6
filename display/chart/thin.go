package chart

import (
	"fmt"
	"math"
	"slices"
)

// some returns about most indices of rows: the extremes, and others that are evenly spread, but not at equal
// distances, which could agree with a pattern of the rows: multiples of the golden ratio.
func (l layer) some(most int) (kept []int) {
	if len(l.rows) <= most {
		for i := range l.rows {
			kept = append(kept, i)
		}
		return kept
	}
	var xs, ys []float64
	for _, r := range l.rows {
		xs, ys = append(xs, r.x), append(ys, r.y)
	}
	for i := range max(most-4, 0) {
		_, at := math.Modf(float64(i) / math.Phi)
		kept = append(kept, int(at*float64(len(l.rows))))
	}
	for _, list := range [][]float64{xs, ys} {
		at := spanOf(list)
		kept = append(kept, max(slices.Index(list, at.lo), 0), max(slices.Index(list, at.hi), 0))
	}
	kept = append(kept, max(slices.IndexFunc(ys, func(y float64) bool { return !finite(y) }), 0))
	slices.Sort(kept)
	return slices.Compact(kept)
}

// decimate returns at most most indices of y, in order: of each stretch the lowest, the highest and
// the first non-finite value, and always the first and the last of all.
func decimate(y []float64, most int) (kept []int) {
	if len(y) <= most {
		for i := range y {
			kept = append(kept, i)
		}
		return kept
	}
	stretches := max((most-2)/3, 1)
	keep := make([]bool, len(y))
	keep[0], keep[len(y)-1] = true, true
	for s := range stretches {
		lo, hi, bad := -1, -1, -1
		for i := s * len(y) / stretches; i < (s+1)*len(y)/stretches; i++ {
			switch {
			case !finite(y[i]):
				if bad < 0 {
					bad = i
				}
				continue
			case lo < 0:
				lo, hi = i, i
			}
			if y[i] < y[lo] {
				lo = i
			}
			if y[i] > y[hi] {
				hi = i
			}
		}
		for _, i := range []int{lo, hi, bad} {
			if i >= 0 {
				keep[i] = true
			}
		}
	}
	for i, k := range keep {
		if k {
			kept = append(kept, i)
		}
	}
	return kept
}

// evenly returns at most most elements of a list, at equal distances.
func evenly(list []int, most int) (some []int) {
	if len(list) <= most {
		return list
	}
	for i := range most {
		some = append(some, list[i*len(list)/most])
	}
	return some
}

// fewer returns the subtitle of a figure that shows some of its points, "" if it shows all.
func fewer(shown, all int) string {
	if shown >= all {
		return ""
	}
	return fmt.Sprintf(words.fewer, shown, all)
}
