package cpu

import (
	"math"

	"halfnote/tensor/internal/asm"
)

// fusedSums is sums for float32 with fused multiply-adds: each product and addition
// rounds once.
func fusedSums(x, y []float32) (s [tileRows * tileCols]float32) {
	for len(y) >= tileCols && len(x) >= tileRows {
		a, b := (*[tileRows]float32)(x), (*[tileCols]float32)(y)
		for i, v := range a {
			s[2*i] = asm.FMA(v, b[0], s[2*i])
			s[2*i+1] = asm.FMA(v, b[1], s[2*i+1])
		}
		x, y = x[tileRows:], y[tileCols:]
	}
	return s
}

// blockLen is the number of bfloat16 products in a block.
const blockLen = 32

// blockSums adds products of bfloat16 to the sums c, which are 0 for the first block, in the order of
// AMX's instruction TDPBF16PS. x and y are read in blocks of blockLen elements of k. Each block has two
// sums, which begin with 0: one of the products of even elements, one of odd elements. The two are
// added, and their sum is added to c. Numbers below 2^-126 are flushed to zero everywhere. The last
// block is padded with zeros, which turn a sum of -0 into 0.
func blockSums(c []float32, ld int, first bool, x, y []float32) {
	var total [tileRows * tileCols]float32
	if !first {
		for i := range tileRows {
			total[2*i], total[2*i+1] = c[i*ld], c[i*ld+1]
		}
	}
	for len(y) > 0 {
		var sums [2][tileRows * tileCols]float32
		k := min(blockLen, len(y)/tileCols)
		for p := range k {
			a, b, s := (*[tileRows]float32)(x[p*tileRows:]), (*[tileCols]float32)(y[p*tileCols:]), &sums[p&1]
			b0, b1 := flush(b[0]), flush(b[1])
			for i, v := range a {
				v = flush(v)
				s[2*i] = flushedFMA(v, b0, s[2*i])
				s[2*i+1] = flushedFMA(v, b1, s[2*i+1])
			}
		}
		for i := range total {
			odd := sums[1][i]
			if k < blockLen {
				odd += 0
			}
			total[i] = flush(total[i] + flush(sums[0][i]+odd))
		}
		x, y = x[k*tileRows:], y[k*tileCols:]
	}
	tile(c, ld, total)
}

// flush returns x, or 0 with x's sign if |x| is below 2^-126.
func flush(x float32) float32 {
	if b := math.Float32bits(x); b&0x7f800000 == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return x
}

// flushedSmallFMA returns a*b + c rounded once, or 0 with its sign if the result, rounded to 24
// bits, is below 2^-126. Processors in flush-to-zero mode do the same. A result just below
// 2^-126, which rounding to the 23 bits of a subnormal number would raise to 2^-126, is
// therefore also 0.
func flushedSmallFMA(a, b, c float32) float32 {
	s := asm.FMA(a, b, c)
	bits := math.Float32bits(s) &^ (1 << 31)
	if bits > 0x00800000 {
		return s
	}
	if bits == 0x00800000 { // in float64 the product is exact, and so is the sum near the limit
		if e := float64(a)*float64(b) + float64(c); math.Abs(e) >= 0x1p-126-0x1p-151 {
			return s
		}
	}
	return math.Float32frombits(math.Float32bits(s) & (1 << 31))
}
