package quant

import "math"

// Rounding is a way to round a number that lies between two numbers of a format. The zero value is Nearest.
type Rounding uint64

const (
	// Nearest rounds to the nearer number, and to the one with an even code if both are equally near. It is IEEE 754's
	// roundTiesToEven.
	Nearest Rounding = 0
	// TowardZero rounds to the number of smaller magnitude.
	TowardZero Rounding = 1 << 62

	stochastic Rounding = 2 << 62
	dithered   Rounding = 3 << 62
	kinds      Rounding = 3 << 62
)

// Stochastic rounds away from zero with a probability equal to the distance from the number of smaller magnitude, in units of the gap: the
// mean over many draws is the number itself. A draw is a hash of the seed, of which 62 bits count, and of the element's position in
// row-major order. It is the same for any number of workers.
func Stochastic(seed uint64) Rounding { return stochastic | Rounding(seed)&^kinds }

// Dithered is Stochastic with draws that are hashes of the seed and of the element's value, not of its position: equal numbers round
// alike, in every place and order.
func Dithered(seed uint64) Rounding { return dithered | Rounding(seed)&^kinds }

// String returns the name of the rounding.
func (r Rounding) String() string {
	return [...]string{"nearest", "toward zero", "stochastic", "dithered"}[r>>62]
}

// key returns what draw needs of r.
func (r Rounding) key() uint64 { return mix(uint64(r)) }

// draw returns the draw for x at position i, in units of 2^-53.
func (r Rounding) draw(key uint64, i int, x float64) uint64 {
	n := uint64(i)
	if r&kinds == dithered {
		n = math.Float64bits(x)
	}
	return mix(key+(n+1)*0x9e3779b97f4a7c15) >> 11
}

// mix is the hash of G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators" (2014), with the constants of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// up reports whether n + fraction, with 0 <= fraction < 1, rounds to n + 1 for x at position i. odd is whether the code of n is odd.
func (r Rounding) up(odd bool, fraction float64, i int, x float64) bool {
	switch r & kinds {
	case Nearest:
		return fraction > 0.5 || fraction == 0.5 && odd
	case TowardZero:
		return false
	}
	return float64(r.draw(r.key(), i, x))*0x1p-53 < fraction
}
