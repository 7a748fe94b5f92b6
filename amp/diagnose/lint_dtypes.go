package diagnose

import (
	"fmt"
	"math"
	"strings"

	"halfnote/amp"
	"halfnote/internal/text"
	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// Rules about values lost in half precision.

// largest is the maximum number of elements checked in an operand.
const largest = 1 << 18

// shown writes a dtype for a reader.
func shown(x float64) string { return fmt.Sprintf("%.4g", x) }

func countInHalf(w *watch, e *tensor.Event) string {
	if e.Backward || e.InPlace || !half(e.Out.DType) || e.Result.Numel() > largest {
		return ""
	}
	limit := 2 / tensor.FInfo(e.Out.DType).Eps
	switch name := e.Op.Name; {
	case name == "cast" && !e.In[0].DType.IsFloat():
		from, to := e.Operands[0].Float64s(), e.Result.Float64s()
		for i, x := range from {
			if x != to[i] {
				return fmt.Sprintf("%s becomes %s as %v, which cannot represent every integer beyond %g", exact(x), exact(to[i]), e.Out.DType, limit)
			}
		}
	case name == "sum" || name == "cumsum" || name == "nansum":
		if e.Operands[0].Numel() > largest || !whole(e.Operands[0].Float64s()) {
			return ""
		}
		want, got := rerun64(e), e.Result.Float64s()
		for i, x := range want {
			if x != got[i] && math.Abs(x) > limit && !math.IsInf(got[i], 0) {
				return fmt.Sprintf("a count of %s is %s as %v", exact(x), exact(got[i]), e.Out.DType)
			}
		}
	}
	return ""
}

func exact(x float64) string { return fmt.Sprintf("%g", x) }

func whole(xs []float64) bool {
	for _, x := range xs {
		if x != math.Trunc(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// rerun64 returns an operation's result recomputed in float64, or nil if that is not possible.
func rerun64(e *tensor.Event) []float64 {
	in := make([]*tensor.Tensor, len(e.Operands))
	for i, t := range e.Operands {
		if in[i] = t; t.DType().IsFloat() {
			in[i] = tensor.NewAs(tensor.Float64, t.Float64s(), t.Shape()...)
		}
	}
	y := e.Rerun(in)
	if y == nil {
		return nil
	}
	return y.Float64s()
}

// lostAddition finds sums in which no element differs from the operand.
func lostAddition(w *watch, e *tensor.Event) string {
	if e.Backward || !half(e.Computed) || !half(e.Out.DType) || e.Result.Numel() == 0 || e.Result.Numel() > largest {
		return ""
	}
	switch name := e.Op.Name; {
	case name == "add" || name == "sub" || name == "add_scalar":
		got, want := e.Result.Float64s(), rerun64(e)
		for k := range e.Operands {
			if x := e.Operands[k].Float64s(); len(x) == len(got) && k < 2 && stuck(x, want, got) {
				return fmt.Sprintf("%s plus %s is %s in %v", exact(x[0]), shown(want[0]-x[0]), exact(got[0]), e.Out.DType)
			}
		}
	case (name == "add_" || name == "sub_") && e.Operands[len(e.Operands)-1].ID() != e.Out.ID && !w.optimizing:
		got, by := e.Operands[0].Float64s(), e.Operands[len(e.Operands)-1].Float64s()
		if len(by) != len(got) && len(by) != 1 {
			return ""
		}
		for i, x := range got {
			if b := math.Abs(by[i%len(by)]); b == 0 || b >= spacing(e.Out.DType, x)/4 {
				return ""
			}
		}
		return fmt.Sprintf("%s stays %s in %v when %s is added in place", exact(got[0]), exact(got[0]), e.Out.DType, shown(by[0]))
	}
	return ""
}

// stuck reports whether got is x though want differs from it everywhere.
func stuck(x, want, got []float64) bool {
	for i := range x {
		if got[i] != x[i] || want[i] == x[i] || math.IsInf(x[i], 0) || x[i] != x[i] {
			return false
		}
	}
	return true
}

// spacing returns the distance from x to the next number in d.
func spacing(d tensor.DType, x float64) float64 {
	f := tensor.FInfo(d)
	_, e := math.Frexp(x)
	return max(math.Ldexp(f.Eps, e-1), f.Subnormal)
}

// maskOverflow finds finite masks that are -inf in float16.
func maskOverflow(w *watch, e *tensor.Event) string {
	if e.Backward || e.InPlace || e.Out.DType != tensor.Float16 || e.Result.Numel() > largest {
		return ""
	}
	switch e.Op.Name {
	case "cast", "where", "add", "add_scalar", "mul", "mul_scalar", "masked_fill":
	default:
		return ""
	}
	out := e.Result.Float64s()
	down := false
	for _, x := range out {
		if math.IsInf(x, 1) || x != x {
			return ""
		}
		down = down || math.IsInf(x, -1)
	}
	if !down {
		return ""
	}
	least := 0.0
	for _, t := range e.Operands {
		for _, x := range t.Float64s() {
			if math.IsInf(x, 0) {
				return ""
			}
			least = min(least, x)
		}
	}
	if e.Op.Name != "cast" {
		for _, x := range rerun64(e) {
			least = min(least, x)
		}
	}
	if math.IsInf(least, -1) { // which is meant
		return ""
	}
	return fmt.Sprintf("%s is -inf in float16, by %s", shown(least), e.Op.Name)
}

// refusedOperation returns a code for an operation's error.
func refusedOperation(e *tensor.Error) string {
	switch {
	case strings.Contains(e.Why, "beyond its range"):
		return "beyond"
	case strings.Contains(e.Why, "has been freed by an earlier Backward"):
		return "freed"
	}
	return ""
}

func halfReduction(w *watch, e *tensor.Event) string {
	if e.Backward || e.InPlace || e.InCast || w.halfNet || amp.Listed(e.Op) != amp.FP32 ||
		e.Computed != tensor.Float16 || e.Out.DType != tensor.Float16 || casting.Active() != nil {
		return ""
	}
	what := e.Op.Name + " ran in float16 outside the region"
	if s := e.Result.Stats(); s.Infs > 0 {
		what += fmt.Sprintf(", and %d of its %d results are infinite", s.Infs, s.Count)
	}
	return what
}

func halfInput(w *watch, e *tensor.Event) string {
	if e.Backward || e.InCast || w.halfNet || !tensor.IsGradEnabled() || e.Op.Name != "cast" || e.In[0].DType != tensor.Float32 || !half(e.Out.DType) || len(e.In[0].Shape) == 0 {
		return ""
	}
	if _, made := w.nodes[w.origin(e.In[0].ID)]; made || w.leaves[e.In[0].ID] || e.Operands[0].RequiresGrad() {
		return ""
	}
	return text.Sprintf("a float32 input %v is cast to %v by hand", e.In[0].Shape, e.Out.DType)
}

func float64Inside(w *watch, e *tensor.Event) string {
	if e.Backward || amp.Listed(e.Op) != amp.LowerPrecision || e.Computed != tensor.Float64 || !on(amp.Active()) {
		return ""
	}
	return fmt.Sprintf("%s ran in float64 in the region of %v", e.Op.Name, amp.Active())
}

// penaltyOfScaled finds operations on gradients that Grad computed from a scaled loss.
// Multiplying or dividing them may be unscaling.
func penaltyOfScaled(w *watch, e *tensor.Event) string {
	if e.Backward || e.View || e.InPlace {
		return ""
	}
	switch e.Op.Name {
	case "cast", "clone", "mul", "mul_scalar", "div", "div_scalar":
		return ""
	}
	for _, m := range e.In {
		if w.carries[w.origin(m.ID)] {
			return fmt.Sprintf("%s of a gradient that carries the scale %g", e.Op.Name, w.scale)
		}
	}
	return ""
}

func epsLost(w *watch, m *call) string {
	opt, ok := m.By.(*optim.Optimizer)
	if !ok || m.Name != "optimizer.step" {
		return ""
	}
	for _, g := range opt.Groups() {
		for _, p := range g.Params() {
			if half(p.DType()) && g.Eps > 0 && g.Eps <= tensor.FInfo(p.DType()).Subnormal/2 {
				return fmt.Sprintf("eps %g is 0 in %v, the dtype of %s", g.Eps, p.DType(), w.named(p))
			}
		}
	}
	return ""
}

// named returns a parameter's name, or its shape.
func (w *watch) named(p *tensor.Tensor) string {
	if name := w.params[p.ID()]; name != "" {
		return name
	}
	return text.Sprintf("a parameter %v", p.Shape())
}

func halfParameters(w *watch, m *call) string {
	if m.Name != "optimizer.step" {
		return ""
	}
	n := 0
	var one *tensor.Tensor
	for _, p := range m.Tensors {
		if half(p.DType()) {
			one, n = p, n+1
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("the optimizer steps %d parameters in %v, such as %s", n, one.DType(), w.named(one))
}

func lossInHalf(w *watch, m *call) string {
	if m.Name != "backward" || !half(m.Tensors[0].DType()) || w.halfNet || w.isScaled(m.Tensors[0]) {
		return ""
	}
	return fmt.Sprintf("the loss that Backward starts from is %v", m.Tensors[0].DType())
}

func scaledHalf(w *watch, e *amp.ScalerEvent) string {
	if e.Kind != amp.EventScale || !half(e.Loss.DType()) || w.halfNet {
		return ""
	}
	what := text.Sprintf("the loss that is scaled is %v %v", e.Loss.DType(), e.Loss.Shape())
	if e.Loss.DType() == tensor.Float16 && e.Loss.Dim() > 0 {
		return what + fmt.Sprintf(": times %g it overflows", e.Before)
	}
	return what
}

func lossNotFinite(w *watch, m *call) string {
	if m.Name != "backward" || w.isScaled(m.Tensors[0]) {
		return ""
	}
	return notFinite(m.Tensors[0])
}

func scaledNotFinite(w *watch, e *amp.ScalerEvent) string {
	if e.Kind != amp.EventScale {
		return ""
	}
	return notFinite(e.Loss)
}

func notFinite(loss *tensor.Tensor) string {
	switch s := loss.Stats(); {
	case s.NaNs > 0:
		return "the loss is NaN"
	case s.Infs > 0:
		return "the loss is infinite"
	}
	return ""
}
