// Package quant stores tensors in 4 to 8 bits a number, and rounds as the hardware and the packages that train with such numbers do. Everything
// is computed on the CPU, exactly: the codes are those of ml_dtypes, torch, torchao and Transformer Engine, and docs/formats.md lists the
// cases in which these disagree, whom this package follows, and why.
//
// # Formats
//
// A [Format] is a format of single numbers: [E4M3FN] and [E5M2], the formats FNUZ of AMD, six and four bits of floating point, powers of two,
// and integers. Encode and Decode convert one number:
//
//	quant.E2M1.Encode(2.6, quant.Nearest, quant.Saturate) // 5
//	quant.E2M1.Decode(5)                                  // 3
//
// A [Rounding] decides about a number between two others: [Nearest], [TowardZero], [Stochastic], [Dithered]. Draws are hashes of a seed
// and a position, so that results do not depend on the number of workers.
//
// # Schemes
//
// A [Scheme] is a way to store a tensor: [Cast], which has no scales, [MX] with blocks of 32 and a power of two for each, [NVFP4] with blocks of 16
// and two levels of scales, [Float8] with a scale of a tensor, of rows or of blocks of 128, and [Int] with scales of groups and zero points.
// Schemes are values; a changed copy is another scheme:
//
//	q := quant.Quantize(x, quant.MXFP4)
//	e := quant.Quantize(x, quant.MX{Element: quant.E2M1, Mode: quant.Even, Rounding: quant.Stochastic(1)})
//	y := q.Dequantize(tensor.Float32)
//
// A [Tensor] holds packed codes and the scales of blocks. It is shown, indexed, sliced and joined, and saved under the names that checkpoints use.
// [FakeQuantize] rounds the numbers of a tensor and keeps its dtype; gradients pass.
//
// Blocks run along the last dimension, over which products sum. There is no arithmetic on codes: hardware multiplies them exactly and
// sums in float32, and so does a float32 product of what Dequantize returns, but for the order of the sum.
package quant
