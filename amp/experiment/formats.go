package experiment

import (
	"fmt"
	"math"

	"halfnote/display/chart"
	"halfnote/tensor"
)

// shownFormats are the floating-point dtypes of the experiments on formats.
var shownFormats = []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float8E4M3, tensor.Float8E5M2}

// numberFormat returns the description of a dtype for charts.
func numberFormat(f tensor.FloatInfo) chart.NumberFormat {
	return chart.NumberFormat{Name: f.DType.String(), Eps: f.Eps, Tiny: f.Tiny, Subnormal: f.Subnormal, Max: f.Max}
}

// gapAt returns the distance from x to the next number of larger magnitude: a unit in the last place.
func gapAt(x float64, f chart.NumberFormat) float64 {
	if a := math.Abs(x); a >= f.Tiny {
		return math.Ldexp(f.Eps, math.Ilogb(min(a, f.Max)))
	}
	return f.Subnormal
}

// SpacingRow holds the gaps between the numbers of a dtype.
type SpacingRow struct {
	DType    tensor.DType
	From, To float64 // gaps at the two ends
}

// SpacingReport is the result of [Spacing].
type SpacingReport struct {
	Report
	DTypes []SpacingRow
}

// Spacing shows the numbers that dtypes have between two values, and the gaps between them: float16's are
// 2^-10 apart from 1 to 2 and 1 apart from 1024 to 2048. Without dtypes it shows float32, bfloat16, float16
// and the two formats of 8 bits. It panics unless from is less than to, and for a dtype that is not a
// floating-point one.
func Spacing(from, to float64, dtypes ...tensor.DType) *SpacingReport {
	if !(from < to) || math.IsInf(to-from, 0) {
		panic(fmt.Sprintf("experiment: Spacing: from %g to %g; want a finite range that ascends", from, to))
	}
	if len(dtypes) == 0 {
		dtypes = shownFormats
	}
	r := &SpacingReport{}
	r.Header = []string{"dtype", fmt.Sprintf("gap at %g", from), fmt.Sprintf("gap at %g", to)}
	var formats []chart.NumberFormat
	for _, d := range dtypes {
		f := numberFormat(tensor.FInfo(d))
		row := SpacingRow{d, gapAt(from, f), gapAt(to, f)}
		r.DTypes, formats = append(r.DTypes, row), append(formats, f)
		r.row(d, row.From, row.To)
	}
	r.Figure = chart.NumberLine(from, to, formats...)
	r.Says = r.Figure.String() + "."
	return r
}

// StoredValue is a number as a format stores it.
type StoredValue struct {
	Format string // dtype, or "tf32"
	Bits   uint64 // bit pattern; the sign is the highest of its bits
	Value  float64
	ULP    float64 // error in units in the last place: Value minus the number, by the gap at the number
}

// BitsReport is the result of [Bits].
type BitsReport struct {
	Report
	Number float64
	Stored []StoredValue
}

// Bits shows how float32, TF32, bfloat16, float16 and the two formats of 8 bits store x: sign, exponent
// and mantissa, the stored value, and its error. TF32, the format of float32 operands in tensor cores, has
// float32's exponent and 10 bits of mantissa; here x is rounded to float32 and then to the nearest TF32
// number, ties to even.
func Bits(x float64) *BitsReport {
	r := &BitsReport{Number: x}
	r.Header = []string{"format", "bits", "value", "error in ulp"}
	var shown []chart.StoredBits
	add := func(f chart.NumberFormat, width int, pattern uint64, value float64) {
		mantissa := -math.Ilogb(f.Eps)
		s := chart.StoredBits{Name: f.Name, Exponent: width - 1 - mantissa, Mantissa: mantissa, Bits: pattern, Value: value, ULP: (value - x) / gapAt(x, f)}
		shown, r.Stored = append(shown, s), append(r.Stored, StoredValue{s.Name, s.Bits, s.Value, s.ULP})
		r.row(s.Name, fmt.Sprintf("%0*b", width, pattern), s.Value, fmt.Sprintf("%.3g", s.ULP))
	}
	for _, d := range shownFormats {
		t, info := tensor.NewAs(d, []float64{x}), tensor.FInfo(d)
		pattern := t.Bits()[0]
		add(numberFormat(info), info.Bits, pattern, t.At(0))
		if d != tensor.Float32 {
			continue
		}
		const dropped = 13 // of float32's 23 bits of mantissa
		wide := uint32(pattern)
		if wide&(1<<31-1) < 0xff<<23 { // finite
			wide += 1<<(dropped-1) - 1 + wide>>dropped&1
		} else if wide<<9 != 0 { // a NaN stays one
			wide |= 1 << 22
		}
		tf32 := numberFormat(info)
		tf32.Name, tf32.Eps, tf32.Subnormal = "tf32", math.Ldexp(info.Eps, dropped), math.Ldexp(info.Subnormal, dropped)
		tf32.Max = float64(math.Float32frombits(math.Float32bits(float32(info.Max)) >> dropped << dropped))
		add(tf32, info.Bits-dropped, uint64(wide>>dropped), float64(math.Float32frombits(wide>>dropped<<dropped)))
	}
	r.Figure = chart.BitFields(x, shown)
	r.Says = r.Figure.String() + "."
	return r
}
