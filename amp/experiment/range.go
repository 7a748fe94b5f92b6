package experiment

import (
	"fmt"
	"math"

	"halfnote/amp"
	"halfnote/display/chart"
	"halfnote/tensor"
)

// RangeRow holds the range and precision of a dtype.
type RangeRow struct {
	tensor.FloatInfo
	Misprint float64 // 655504 in that dtype; a README misprints it as the largest float16
}

// RangesReport is the result of [Ranges].
type RangesReport struct {
	Report
	DTypes []RangeRow
}

// Ranges returns the range and the precision of the floating-point dtypes; those of float16 end at
// 65504 and 2^-24. It is torch.finfo as a table.
func Ranges() *RangesReport {
	r := &RangesReport{Report: Report{Header: []string{"dtype", "largest", "gap after 1", "smallest normal", "smallest", "655504 becomes"}}}
	var formats []chart.NumberFormat
	for _, d := range shownFormats {
		row := RangeRow{tensor.FInfo(d), tensor.Scalar(655504).To(d).Item()}
		r.DTypes, formats = append(r.DTypes, row), append(formats, numberFormat(row.FloatInfo))
		r.row(d, row.Max, row.Eps, row.Tiny, row.Subnormal, row.Misprint)
	}
	r.Figure = chart.NumberLine(0, tensor.FInfo(tensor.Float32).Max, formats...).LogX()
	r.Says = "float16 ends at 65504 and at 2^-24, 5.96e-8; a README's 655504 is a misprint and infinite there. bfloat16 has float32's range with 8 bits of precision."
	return r
}

// SumOfOnesReport is the result of [SumOfOnes].
type SumOfOnesReport struct {
	Report
	Half     float64 // sum of float16 ones
	Autocast float64 // sum of float16 ones in an autocast region
	Float32  float64 // sum of float32 ones
}

// SumOfOnes adds up n ones. In float16 the sum of 65536 is infinite, although it runs in float32 and is
// rounded once. Autocast has sum on its float32 list.
func SumOfOnes(n int) *SumOfOnesReport {
	ones := tensor.OnesAs(tensor.Float16, n)
	r := &SumOfOnesReport{Half: ones.Sum().Item(), Float32: tensor.Ones(n).Sum().Item()}
	amp.Autocast(amp.Float16, func() { r.Autocast = ones.Sum().Item() })
	r.Header = []string{"sum of ones", "result"}
	r.row("float16", r.Half)
	r.row("float16 under autocast", r.Autocast)
	r.row("float32", r.Float32)
	r.Says = fmt.Sprintf("%d ones add up to %g in float16, and to %g under autocast, which runs sum in float32.", n, r.Half, r.Autocast)
	return r
}

// OnePlusReport is the result of [OnePlus].
type OnePlusReport struct {
	Report
	Float16, BFloat16, Float32 float64
}

// OnePlus returns 1 + x in each dtype; in float16 an x below 2^-11 is lost.
func OnePlus(x float64) *OnePlusReport {
	plus := func(d tensor.DType) float64 { return tensor.Scalar(1).To(d).AddScalar(x).Item() }
	r := &OnePlusReport{Float16: plus(tensor.Float16), BFloat16: plus(tensor.BFloat16), Float32: plus(tensor.Float32)}
	r.Header = []string{"dtype", fmt.Sprintf("1 + %g", x), "distance to the next number"}
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32} {
		r.row(d, plus(d), tensor.FInfo(d).Eps)
	}
	r.Says = fmt.Sprintf("1 + %g is %g in float16, %g in bfloat16 and %.8g in float32.", x, r.Float16, r.BFloat16, r.Float32)
	return r
}

// DotProductReport is the result of [DotProduct].
type DotProductReport struct {
	Report
	Half   float64 // sum of float16 products in float16
	Mixed  float64 // sum in float32, rounded once to float16, as tensor cores and this library do
	Float  float64 // sum in float64, for the float16 operands
	Errors [2]float64
}

// DotProduct returns the dot product of two float16 vectors of n uniform numbers from 0
// to 1, summed in float16 and in float32. For n = 4096 a float16 sum is too small by several percent:
// section 3.3 of the paper.
func DotProduct(n int, seed int64) *DotProductReport {
	g := tensor.NewGenerator(seed)
	a, b := g.Rand(n).Half(), g.Rand(n).Half()
	r := &DotProductReport{Mixed: a.Dot(b).Item(), Float: a.Double().Dot(b.Double()).Item()}
	sum := tensor.ZerosAs(tensor.Float16, 1)
	for i := range n {
		sum.AddAssign(a.Slice(0, i, i+1).Mul(b.Slice(0, i, i+1)))
	}
	r.Half = sum.Item()
	r.Errors = [2]float64{math.Abs(r.Half/r.Float - 1), math.Abs(r.Mixed/r.Float - 1)}
	r.Header = []string{"accumulated in", "dot product", "off by"}
	r.row("float16", r.Half, percent(r.Errors[0]))
	r.row("float32, then rounded to float16", r.Mixed, percent(r.Errors[1]))
	r.row("float64", r.Float, percent(0))
	r.Says = fmt.Sprintf("The dot product of %d numbers is %.1f; added in float16 it comes to %.1f, added in float32 and rounded once to %.1f.", n, r.Float, r.Half, r.Mixed)
	return r
}
