package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/display/widget"
	"halfnote/tensor"
)

// operationOf is an operation on a number that may leave the range of a dtype.
type operationOf struct {
	name  string
	on    func(*tensor.Tensor) *tensor.Tensor
	exact func(float64) float64
}

// terms is the number of terms of a sum in the playground.
const terms = 1000

var operations = []operationOf{
	{"square", func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(x) }, func(x float64) float64 { return x * x }},
	{"exp", (*tensor.Tensor).Exp, math.Exp},
	{"reciprocal", func(x *tensor.Tensor) *tensor.Tensor { return x.Reciprocal() }, func(x float64) float64 { return 1 / x }},
	{"sum of 1000", func(x *tensor.Tensor) *tensor.Tensor { return x.Expand(terms).Sum() }, func(x float64) float64 { return terms * x }},
	{"norm of 1000", func(x *tensor.Tensor) *tensor.Tensor { return x.Expand(terms).Norm() }, func(x float64) float64 { return math.Sqrt(terms) * math.Abs(x) }},
}

// RangeOf is the result of an operation in a dtype.
type RangeOf struct {
	DType   tensor.DType
	Stored  float64 // the operand as the dtype stores it
	Value   float64 // the result
	Outcome string  // "overflows", "becomes 0", "is subnormal", "is not finite" or "is in range"
}

// OverflowReport is the result of [Overflow].
type OverflowReport struct {
	Report
	Exact  float64 // result in float64
	DTypes []RangeOf
}

// Overflow computes an operation on x in float32, bfloat16 and float16, and says where the result leaves the
// range of the dtype. The operations are "square", "exp", "reciprocal", and "sum of 1000" and "norm of 1000",
// whose terms are all x. It panics for other names. [OverflowPlayground] has controls for both.
func Overflow(operation string, x float64) *OverflowReport {
	at := slices.IndexFunc(operations, func(o operationOf) bool { return o.name == operation })
	if at < 0 {
		panic(fmt.Sprintf("experiment: Overflow: %q; want one of %q", operation, operationNames()))
	}
	op := operations[at]
	r := &OverflowReport{Exact: op.exact(x)}
	r.Header = []string{"dtype", "x", operation, "outcome"}
	var out []string
	for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float16} {
		in := tensor.NewAs(d, []float64{x})
		row := RangeOf{DType: d, Stored: in.At(0), Value: op.on(in).Float64s()[0]}
		row.Outcome = outcome(row.Value, r.Exact, tensor.FInfo(d))
		if r.DTypes = append(r.DTypes, row); row.Outcome != inRange {
			out = append(out, fmt.Sprintf("%s in %v", row.Outcome, d))
		}
		r.row(d, row.Stored, row.Value, row.Outcome)
	}
	text := inRange + " in every dtype"
	if len(out) > 0 {
		text = strings.Join(out, ", ")
	}
	r.Says = fmt.Sprintf("%s with x = %.6g is %.6g: it %s.", operation, x, r.Exact, text)
	return r
}

const inRange = "is in range"

func outcome(v, exact float64, f tensor.FloatInfo) string {
	switch {
	case v-v != 0 && exact-exact == 0:
		return "overflows"
	case v-v != 0:
		return "is not finite"
	case v == 0 && exact != 0:
		return "becomes 0"
	case v != 0 && math.Abs(v) < f.Tiny:
		return "is subnormal"
	}
	return inRange
}

func operationNames() (names []string) {
	for _, o := range operations {
		names = append(names, o.name)
	}
	return names
}

// OverflowPlayground returns a slider for a number and a choice of operations, and shows [Overflow] of them. A
// page without a kernel shows the last state.
func OverflowPlayground() *widget.Box {
	names := operationNames()
	operation := widget.NewDropdown(names[0], names, widget.Description("operation"))
	power := widget.NewFloatSlider(8, -30, 30, widget.Description("log2 x"), widget.Step(.25), widget.Layout("width", "70%"))
	return widget.Show(func() []any { return []any{Overflow(operation.Value(), math.Exp2(power.Value()))} }, operation, power)
}
