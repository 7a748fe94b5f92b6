package quant_test

import (
	"fmt"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// Quantise and de-quantise, next to a copy of the float32 numbers.
func BenchmarkQuantize(b *testing.B) {
	x := sample(2048, 4096)
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(x.Bytes()))
		for b.Loop() {
			x.Clone()
		}
	})
	for _, s := range []quant.Scheme{
		quant.MXFP8, quant.MXFP6, quant.MXFP4, quant.MXINT8, quant.NVFP4{}, quant.NVFP4{TwoDimensional: true}, quant.Float8{},
		quant.Float8{Granularity: quant.Per1x128}, quant.Float8{Granularity: quant.Per128x128}, quant.Int{Bits: 4, Group: 32}, quant.Int{Bits: 8, Asymmetric: true},
		quant.NVFP4{Rounding: quant.Stochastic(1)},
	} {
		b.Run(fmt.Sprint("quantise ", s), func(b *testing.B) {
			b.SetBytes(int64(x.Bytes()))
			for b.Loop() {
				quant.Quantize(x, s)
			}
		})
		b.Run(fmt.Sprint("de-quantise ", s), func(b *testing.B) {
			b.SetBytes(int64(x.Bytes()))
			q := quant.Quantize(x, s)
			for b.Loop() {
				q.Dequantize(tensor.Float32)
			}
		})
	}
}
