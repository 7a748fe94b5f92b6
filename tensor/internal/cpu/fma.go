package cpu

import "math"

// fusedSums is sums for float32 with one rounding of each product and sum together.
func fusedSums(x, y []float32) (s [tileRows * tileCols]float32) {
	for len(y) >= tileCols && len(x) >= tileRows {
		a, b := (*[tileRows]float32)(x), (*[tileCols]float32)(y)
		for i, v := range a {
			s[2*i] = fma(v, b[0], s[2*i])
			s[2*i+1] = fma(v, b[1], s[2*i+1])
		}
		x, y = x[tileRows:], y[tileCols:]
	}
	return s
}

// pairSums is sums for bfloat16 as the instruction VDPBF16PS has it: k is taken in
// pairs, of each the second first, with fused sums and with zero for numbers below
// 2^-126. A k without a partner comes as if after a product of zeros.
func pairSums(x, y []float32) (s [tileRows * tileCols]float32) {
	for len(y) >= tileCols && len(x) >= tileRows {
		at := min(1, len(y)/tileCols-1)
		if at == 0 {
			for i := range s {
				s[i] += 0 // which makes 0 of -0
			}
		}
		for ; at >= 0; at-- {
			a, b := (*[tileRows]float32)(x[at*tileRows:]), (*[tileCols]float32)(y[at*tileCols:])
			b0, b1 := flush(b[0]), flush(b[1])
			for i, v := range a {
				v = flush(v)
				s[2*i] = flush(fma(v, b0, s[2*i]))
				s[2*i+1] = flush(fma(v, b1, s[2*i+1]))
			}
		}
		x, y = x[min(2*tileRows, len(x)):], y[min(2*tileCols, len(y)):]
	}
	return s
}

// flush returns 0 of x's sign for numbers below 2^-126, else x.
func flush(x float32) float32 {
	if b := math.Float32bits(x); b&0x7f800000 == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return x
}

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
