package asm

import "math"

// fmaEmulated returns a*b + c rounded once. The product is exact in float64, so that
// only sums that come to lie halfway between two float32, or near the smallest, are
// rounded twice; those are rounded to odd first (S. Boldo and G. Melquiond,
// "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
// odd", IEEE Transactions on Computers 57(4), 2008).
func fmaEmulated(a, b, c float32) float32 {
	p, z := float64(a)*float64(b), float64(c)
	s := p + z
	bits := math.Float64bits(s)
	if bits&(1<<29-1) == 1<<28 || bits&^(1<<63) < 0x381<<52 { // 2^-126
		back := s - p
		e := (p - (s - back)) + (z - back) // s + e is exact
		if e != 0 && bits&1 == 0 {
			if (e > 0) == (s > 0) {
				bits++
			} else {
				bits--
			}
			s = math.Float64frombits(bits)
		}
	}
	return float32(s)
}

// scaled returns y times 2^n for y between 1/4 and 4 and a whole n from -250 to 250, rounded once.
func scaled(y, n float32) float32 {
	k := int32(n)
	h := k >> 1
	return float32(y*power2(h)) * power2(k-h)
}

// power2 returns 2^k for the exponents of normal numbers.
func power2(k int32) float32 { return math.Float32frombits(uint32(k+127) << 23) }
