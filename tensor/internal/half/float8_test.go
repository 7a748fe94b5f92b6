package half

import (
	"math"
	"testing"
)

// TestFloat8 compares each conversion with a search among all values of the format,
// at the values themselves, halfway between neighbours, and next to both.
func TestFloat8(t *testing.T) {
	for _, f := range []struct {
		name  string
		from  func([]float32, []uint8)
		to    func([]uint8, []float32)
		max   float64
		large uint8 // pattern of numbers that are too large
		end   float64
	}{
		{"E4M3", FromFloat8E4M3, ToFloat8E4M3, 448, 0x7e, 464},
		{"E5M2", FromFloat8E5M2, ToFloat8E5M2, 57344, 0x7c, 61440},
	} {
		var value [256]float32
		var all [256]uint8
		for i := range all {
			all[i] = uint8(i)
		}
		f.from(value[:], all[:])
		for i := 1; value[i] == value[i] && !math.IsInf(float64(value[i]), 0); i++ {
			if value[i] <= value[i-1] {
				t.Errorf("%s: patterns %#x and %#x are %v and %v, not in order", f.name, i-1, i, value[i-1], value[i])
			}
		}
		nearest := func(x float32) uint8 {
			sign := uint8(math.Float32bits(x) >> 24 & 0x80)
			a := math.Abs(float64(x))
			if a != a {
				return sign | 0x7f
			}
			if a >= f.end {
				if a == f.end && f.large == 0x7e { // a tie with 480, which E4M3 lacks
					return sign | 0x7e
				}
				return sign | f.large
			}
			best, distance := uint8(0), math.Inf(1)
			for i := range 128 {
				d := math.Abs(float64(value[i]) - a)
				if d < distance || d == distance && i%2 == 0 {
					best, distance = uint8(i), d
				}
			}
			return sign | best
		}
		var inputs []float32
		for i := range 128 {
			v := value[i]
			if v != v {
				continue
			}
			middle := float32((float64(v) + float64(value[i+1])) / 2)
			for _, x := range []float32{v, middle} {
				inputs = append(inputs, x, math.Nextafter32(x, 0), math.Nextafter32(x, float32(math.Inf(1))))
			}
		}
		inputs = append(inputs, 1e-30, 1e30, float32(math.Inf(1)), float32(math.NaN()))
		for _, x := range inputs {
			for _, x := range []float32{x, -x} {
				var got [1]uint8
				if f.to(got[:], []float32{x}); got[0] != nearest(x) {
					t.Errorf("%s: %v: got %#x, want %#x", f.name, x, got[0], nearest(x))
				}
			}
		}
		var back [256]uint8
		f.to(back[:], value[:])
		for i, b := range back {
			if value[i] == value[i] && b != uint8(i) {
				t.Errorf("%s: pattern %#x there and back: got %#x", f.name, i, b)
			}
		}
	}
}
