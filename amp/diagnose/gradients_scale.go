package diagnose

import (
	"math"
	"slices"

	"halfnote/tensor"
)

// magnitudes64 counts exact gradients by their power of two relative to the limits of their
// dtype.
type magnitudes64 struct {
	above  map[int]int // counts by exponent above the flush limit
	count  int
	margin float64 // factor by which the largest may grow; 0 if there is none
}

func (m *magnitudes64) add(truth []float64, d tensor.DType) {
	f := tensor.FInfo(d)
	if m.above == nil {
		m.above = map[int]int{}
	}
	for _, x := range truth {
		a := math.Abs(x)
		if a == 0 || a-a != 0 {
			continue
		}
		m.above[math.Ilogb(a/(f.Subnormal/2))]++
		m.count++
		if room := f.Max / a; m.margin == 0 || room < m.margin {
			m.margin = room
		}
	}
}

// rescue returns the power of two, at least 1, with which all but one in a thousand survive.
func (m *magnitudes64) rescue() float64 { return max(1, m.enough()) }

// enough returns the smallest power of two with which all but one in a thousand survive, or 1 if there are none.
func (m *magnitudes64) enough() float64 {
	var powers []int
	for e := range m.above {
		powers = append(powers, e)
	}
	slices.Sort(powers)
	few := m.count / 1000
	for _, e := range powers {
		if few -= m.above[e]; few < 0 {
			return math.Exp2(float64(-e))
		}
	}
	return 1
}

// ceiling returns the largest power of two with which none overflows.
func (m *magnitudes64) ceiling() float64 {
	if m.margin == 0 {
		return math.Inf(1)
	}
	return math.Exp2(math.Floor(math.Log2(m.margin)))
}
