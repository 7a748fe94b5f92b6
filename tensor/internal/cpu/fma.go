package cpu

import (
	"math"

	"halfnote/tensor/internal/asm"
)

// blockLen is the number of bfloat16 products in a block.
const blockLen = 32

// blockSums adds products of bfloat16 to the sums c, which are 0 for the first block, in the order of
// AMX's instruction TDPBF16PS. x and y, which [flushAll] has flushed, are read in blocks of blockLen elements of k. Each block has two
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
		k := min(blockLen, len(y)/tileCols)
		evens, odds := flushedSums(x[:k*tileRows], y[:k*tileCols]), [tileRows * tileCols]float32{}
		if k > 1 {
			odds = flushedSums(x[tileRows:k*tileRows], y[tileCols:k*tileCols])
		}
		for i := range total {
			odd := odds[i]
			if k < blockLen {
				odd += 0
			}
			total[i] = flush(total[i] + flush(evens[i]+odd))
		}
		x, y = x[k*tileRows:], y[k*tileCols:]
	}
	tile(c, ld, total)
}

// flushAll flushes the elements of a packed operand.
func flushAll[T number](x []T) {
	f, _ := any(x).([]float32)
	for i, v := range f {
		f[i] = flush(v)
	}
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
