package quant

import (
	"fmt"
	"math"
)

// Int stores integers of 8 or 4 bits, with a float32 scale for each group of the last dimension and, if Asymmetric is set, a zero point:
// x is about (q - zero) * scale. The formulas are those of torchao's quantisation-aware training (Int8DynActInt4WeightQATLinear): symmetric
// for weights, asymmetric for activations.
type Int struct {
	Bits       int  // 8 or 4
	Group      int  // numbers of the last dimension that share a scale; 0 means all
	Asymmetric bool // range from the smallest to the largest number, instead of one symmetric about 0
}

// String returns the format, group and range: "int4 (groups of 32, symmetric)".
func (n Int) String() string {
	group, symmetry := "rows", "symmetric"
	if n.Group > 0 {
		group = fmt.Sprintf("groups of %d", n.Group)
	}
	if n.Asymmetric {
		symmetry = "asymmetric"
	}
	return fmt.Sprintf("int%d (%s, %s)", n.Bits, group, symmetry)
}

func (n Int) plan() (plan, error) {
	p := plan{rows: 1, cols: n.Group, whole: n.Group > 0, scales: floatScale, zeros: true}
	switch n.Bits {
	case 8:
		p.element = Int8
	case 4:
		p.element = Int4
	default:
		return p, fmt.Errorf("Int with %d bits; want 8 or 4", n.Bits)
	}
	if n.Group < 0 {
		return p, fmt.Errorf("Int with groups of %d; want a positive number, or 0 for whole rows", n.Group)
	}
	p.rule = affineRule{lowest: -float32(int(1) << (n.Bits - 1)), asymmetric: n.Asymmetric}
	return p, nil
}

// affineRule maps a range to the integers from lowest to -lowest-1. All of it is float32 arithmetic.
type affineRule struct {
	lowest     float32
	asymmetric bool
}

func (r affineRule) choose(out *blocks, of spans, _ float32) {
	for i, a := range of.amax {
		scale, zero := float32(0), float32(0)
		if r.asymmetric {
			const eps = 0x1p-23 // torch.finfo(torch.float32).eps
			scale = max((of.hi[i]-of.lo[i])/(-2*r.lowest-1), eps)
			zero = min(max(r.lowest-roundEven(of.lo[i]/scale), r.lowest), -r.lowest-1)
		} else {
			const tiny = 0x1p-126 // torch.finfo(torch.float32).smallest_normal
			scale = max(math.Float32frombits(a)/(-r.lowest-0.5), tiny)
		}
		out.scales[i], out.zeros[i], out.factors[i] = scale, int32(zero), 1/scale
	}
}

// roundEven rounds to the nearest integer.
func roundEven(x float32) float32 { return float32(math.RoundToEven(float64(x))) }
