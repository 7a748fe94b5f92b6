package bench

import (
	"fmt"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// schemes are the formats of the subject "formats", by the names that both sides know.
var schemes = []struct {
	name   string
	scheme quant.Scheme
}{
	{"mxfp8", quant.MX{Element: quant.E4M3FN, Mode: quant.RCeil}},
	{"mxfp6", quant.MXFP6},
	{"mxfp4", quant.MXFP4},
	{"mxint8", quant.MXINT8},
	{"nvfp4", quant.NVFP4{}},
	{"nvfp4 16x16", quant.NVFP4{TwoDimensional: true}},
	{"nvfp4 stochastic", quant.NVFP4{Rounding: quant.Stochastic(1)}},
	{"float8 tensor", quant.Float8{}},
	{"float8 row", quant.Float8{Granularity: quant.PerRow}},
	{"float8 1x128", quant.Float8{Granularity: quant.Per1x128}},
	{"float8 128x128", quant.Float8{Granularity: quant.Per128x128}},
	{"int8", quant.Int{Bits: 8, Asymmetric: true}},
	{"int4", quant.Int{Bits: 4, Group: 32}},
}

// formats lists quantising and de-quantising a matrix, compared with copying its float32 numbers and with torchao. A rate is that of float32
// numbers read and written, as if the codes were as large.
func formats(full bool) (list []task) {
	shape := []int{2048, 4096}
	if full {
		shape = []int{8192, 4096}
	}
	bytes := 8 * shape[0] * shape[1]
	for _, s := range schemes {
		for _, what := range []string{"quantise", "de-quantise"} {
			list = append(list, task{
				name: what + " " + s.name, spec: Spec{Work: "format", DType: "float32", Op: what + " " + s.name, Shape: shape}, unit: "GB/s", amount: float64(bytes), peers: []string{"torch"},
				own: []rival{{"copy", Spec{Work: "copy", Shape: []int{bytes}}, float64(bytes)}},
			})
		}
	}
	return list
}

// format returns a function that quantises or de-quantises normal random numbers.
func format(s Spec) func() {
	tensor.ManualSeed(1)
	x := tensor.Randn(s.Shape...)
	what, name, _ := strings.Cut(s.Op, " ")
	for _, known := range schemes {
		switch {
		case known.name != name:
		case what == "quantise":
			return func() { quant.Quantize(x, known.scheme) }
		default:
			q := quant.Quantize(x, known.scheme)
			return drop(func() *tensor.Tensor { return q.Dequantize(tensor.Float32) })
		}
	}
	panic(&tensor.Error{Op: "bench", Why: fmt.Sprintf("unknown format in %q", s.Op)})
}
