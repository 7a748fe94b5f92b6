package quant

import (
	"fmt"
	"math"

	"halfnote/tensor/internal/asm"
)

// NVFP4 stores blocks of 16 numbers of the last dimension in E2M1. Each block has a scale of format E4M3FN, and the tensor has a scale in
// float32. Scales are those of NVIDIA's Transformer Engine (its reference quantization_ref_nvfp4.py) and of "Pretraining Large Language Models with NVFP4",
// arXiv 2509.25149.
type NVFP4 struct {
	// TwoDimensional gives blocks of 16 x 16 numbers one scale, so that a weight and its transpose are rounded to the same numbers.
	TwoDimensional bool
	Rounding       Rounding // of elements, Nearest by default
}

// nvBlock is the number of elements of a block.
const nvBlock = 16

// String returns "nvfp4", with what differs from the default.
func (n NVFP4) String() string {
	name := "nvfp4"
	if n.TwoDimensional {
		name += " (16x16" + roundingSuffix(n.Rounding) + ")"
	} else if n.Rounding != Nearest {
		name += fmt.Sprintf(" (%v)", n.Rounding)
	}
	return name
}

func (n NVFP4) plan() (plan, error) {
	p := plan{element: E2M1, rounding: n.Rounding, rows: 1, cols: nvBlock, whole: true, scales: e4m3Scale, rule: &nvRule{}}
	if n.TwoDimensional {
		p.rows, p.repeat = nvBlock, true
	}
	return p, nil
}

// scaleEncoder converts scales.
var scaleEncoder = newEncoder(&specs[E4M3FN], asm.Best())

// nvRule chooses the scales. All of it is float32 arithmetic, in this order.
type nvRule struct {
	factors [256]float32 // of blocks, by the code of their scale; global sets them
}

const (
	nvMost  = 6       // the largest number of E2M1
	nvRange = 448 * 6 // of the largest scale, too
)

// global returns the scale by which the stored numbers are multiplied, and its inverse, by which the given ones were.
func (r *nvRule) global(amax float32) (scale, factor float32) {
	factor = 1
	if amax > 0 {
		factor = min(nvRange/amax, math.MaxFloat32)
	}
	if factor == 0 {
		factor = 1
	}
	scale = 1 / factor
	for c, x := range decoding[E4M3FN] {
		r.factors[c] = min(1/float32(x*scale), math.MaxFloat32)
	}
	return scale, factor
}

func (r *nvRule) choose(out *blocks, of spans, global float32) {
	sixth := float32(1) / nvMost
	product := float32(global * sixth)
	codes, scales, factors := out.codes[:len(of.amax)], out.scales[:len(of.amax)], out.factors[:len(of.amax)]
	for i := range out.limits {
		out.limits[i] = nvMost
	}
	for i, a := range of.amax {
		scale := math.Float32frombits(a) * product
		if scale > math.MaxFloat32 {
			scale = math.MaxFloat32
		}
		scales[i] = scale
	}
	scaleEncoder.nearest(codes, scales, 1, 448)
	for i, c := range codes {
		factors[i] = r.factors[c]
	}
}
