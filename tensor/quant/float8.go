package quant

import (
	"fmt"
	"math"
)

// Granularity is the size of the blocks that [Float8] scales.
type Granularity uint8

const (
	PerTensor     Granularity = iota // one scale
	PerRow                           // a scale for each row of the last dimension
	Per1x128                         // a scale for 128 numbers of the last dimension, as DeepSeek-V3 has for activations
	Per128x128                       // a scale for 128 x 128 numbers, as DeepSeek-V3 has for weights
	granularities                    // their number
)

// String returns the size: "1x128".
func (g Granularity) String() string { return [...]string{"tensor", "row", "1x128", "128x128"}[g] }

// Float8 stores numbers of 8 bits with scales in float32 that map the largest magnitude of a block to the largest number of the format.
// Blocks at the end of a dimension may be smaller. It is torchao.float8 with dynamic scaling, and the block scaling of DeepSeek-V3 as torchao's
// blockwise_fp8_training computes it.
type Float8 struct {
	Element     Format // E4M3FN by default
	Granularity Granularity
	PowerOfTwo  bool     // round the factor down to a power of two
	Rounding    Rounding // of elements, Nearest by default
}

// String returns the format and the granularity: "float8_e4m3fn (1x128)".
func (f Float8) String() string {
	two := ""
	if f.PowerOfTwo {
		two = ", power of two"
	}
	return fmt.Sprintf("%v (%v%s%s)", f.format(), f.Granularity, two, roundingSuffix(f.Rounding))
}

func (f Float8) format() Format {
	if f.Element == 0 {
		return E4M3FN
	}
	return f.Element
}

func (f Float8) plan() (plan, error) {
	e := f.format()
	if e.Bits() != 8 || e.spec().kind > fnuz {
		return plan{}, fmt.Errorf("Float8 with elements of %v; want a floating-point format of 8 bits, such as E4M3FN or E5M2", e)
	}
	if f.Granularity >= granularities {
		return plan{}, fmt.Errorf("Float8 with granularity %d; want PerTensor, PerRow, Per1x128 or Per128x128", uint8(f.Granularity))
	}
	size := [...][2]int{PerTensor: {0, 0}, PerRow: {1, 0}, Per1x128: {1, 128}, Per128x128: {128, 128}}[f.Granularity]
	return plan{element: e, rounding: f.Rounding, rows: size[0], cols: size[1], scales: floatScale, rule: amaxRule{e.Max(), f.PowerOfTwo}}, nil
}

// amaxRule maps the largest magnitude to most: torchao.float8.float8_utils.tensor_to_scale.
type amaxRule struct {
	most       float64
	powerOfTwo bool
}

func (r amaxRule) choose(out *blocks, of spans, _ float32) {
	const least = 1e-12 // torchao's EPS
	for i, a := range of.amax {
		factor := float32(r.most / max(float64(math.Float32frombits(a)), least))
		if r.powerOfTwo {
			_, e := math.Frexp(float64(factor))
			factor = powerOf(max(e-1, -127))
		}
		out.scales[i], out.factors[i], out.limits[i] = 1/factor, factor, float32(r.most)
	}
}
