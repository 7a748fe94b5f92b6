package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// Rules about numbers kept from step to step, and about rows without a number.

// average is an average in half precision that the step changes.
type average struct {
	values []float64 // after its last change
	decays bool      // it has been multiplied, and not been added to since
}

// mostAverages is the number of averages, or of products that may be the decay of one, that are watched.
const mostAverages = 64

// averageInHalf finds averages d·a + (1-d)·p in half precision that stay as they are although p is another number: lerp, mul_ and add_ in
// place, or a sum of products.
func averageInHalf(w *watch, e *tensor.Event) string {
	if e.Backward || e.InCast || !half(e.Out.DType) || e.Result.Numel() > largest || w.optimizing || len(e.Operands) == 0 || e.Operands[0].RequiresGrad() && tensor.IsGradEnabled() {
		return ""
	}
	id, last := e.Operands[0].ID(), e.Operands[len(e.Operands)-1]
	switch name := e.Op.Name; {
	case name == "mul_" && last.ID() == id: // by a number
		a := w.averages[id]
		a.decays = true
		w.average(id, a)
	case name == "lerp_", name == "add_" && w.averages[id].decays && last.ID() != id:
		before, now := w.averages[id].values, e.Result.Float64s()
		w.average(id, average{values: now})
		return unmoved(before, now, last, e)
	case name == "lerp":
		return unmoved(e.Operands[0].Float64s(), e.Result.Float64s(), e.Operands[1], e)
	case name == "mul_scalar" && !e.Result.RequiresGrad():
		w.average(-e.Out.ID, average{values: e.Operands[0].Float64s()}) // of the factor
	case name == "add" && len(e.Operands) == 2:
		for i, t := range e.Operands {
			if a, decays := w.averages[-t.ID()]; decays {
				if what := unmoved(a.values, e.Result.Float64s(), e.Operands[1-i], e); what != "" {
					return what
				}
			}
		}
	}
	return ""
}

// average notes an average.
func (w *watch) average(id int, a average) {
	if len(w.averages) >= mostAverages {
		clear(w.averages)
	}
	w.averages[id] = a
}

// unmoved reports that an average stays the same in nine of ten places although p, what is averaged, or a multiple of it, is not the average
// there; "" if it moves. A place where the average has moved by a unit in the last place moves.
func unmoved(before, now []float64, p *tensor.Tensor, e *tensor.Event) string {
	if len(before) != len(now) || p.Numel() != len(now) {
		return ""
	}
	to := p.Float64s()
	var ratios []float64
	for i, x := range before {
		if x != 0 && to[i]/x-to[i]/x == 0 {
			ratios = append(ratios, to[i]/x)
		}
	}
	if len(ratios) < 2 {
		return ""
	}
	slices.Sort(ratios)
	usual := ratios[len(ratios)/2] // 1, or the share of p that is added, where p is the average
	stays, apart := 0, 0
	at := -1
	for i, x := range before {
		if math.Abs(to[i]-usual*x) <= 4*math.Abs(usual)*spacing(e.Out.DType, x) {
			continue
		}
		if apart++; now[i] == x {
			if stays++; at < 0 {
				at = i
			}
		}
	}
	if apart < 2 || 10*stays < 9*apart {
		return ""
	}
	return text.Sprintf("an average %v in %v stays the same in %s of %s places where it should move: %s stays %s", e.Out.Shape, e.Out.DType, text.Thousands(stays), text.Thousands(apart), exact(before[at]), exact(now[at]))
}

// halfState finds an optimizer's averages in half precision.
func halfState(w *watch, m *call) string {
	opt, ok := m.By.(*optim.Optimizer)
	if !ok || m.Name != "optimizer.step" {
		return ""
	}
	params := opt.Params()
	state := opt.StateDict()
	for i, p := range params {
		prefix := fmt.Sprintf("state.%d.", i)
		var names []string
		for name, value := range state {
			if t, ok := value.(*tensor.Tensor); ok && strings.HasPrefix(name, prefix) && half(t.DType()) && t.Numel() > 1 {
				names = append(names, strings.TrimPrefix(name, prefix))
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			return fmt.Sprintf("the optimizer keeps %s of %s in half precision", strings.Join(names, " and "), w.named(p))
		}
	}
	return ""
}

// maskedRow finds rows of softmax without a finite number.
func maskedRow(w *watch, e *tensor.Event) string {
	if e.Backward || e.Op.Name != "softmax" && e.Op.Name != "log_softmax" || e.Result.Counts().NaNs == 0 {
		return ""
	}
	shape := e.Out.Shape
	x, y := e.Operands[0].Float64s(), e.Result.Float64s()
	for dim := len(shape) - 1; dim >= 0; dim-- {
		step := size(shape[dim+1:])
		rows, first := 0, -1
		for i := range x {
			if i/step%shape[dim] > 0 {
				continue // not the first of a row
			}
			masked := true
			for k := i; k < i+shape[dim]*step; k += step {
				masked = masked && math.IsInf(x[k], -1) && y[k] != y[k]
			}
			if masked {
				if rows++; first < 0 {
					first = i
				}
			}
		}
		if rows > 0 {
			more := ""
			if rows > 1 {
				more = ", and so are those of " + counted(rows-1, "other row", "other rows")
			}
			return text.Sprintf("all %d elements of row %s of the operand of %s, %v, are -inf%s: the result is NaN", shape[dim], rowAt(shape, dim, first), e.Op.Name, shape, more)
		}
	}
	return ""
}

// rowAt writes the place of a row along dim that begins at element i: "[1, 0, :]".
func rowAt(shape []int, dim, i int) string {
	parts := make([]string, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		if parts[k] = fmt.Sprint(i % shape[k]); k == dim {
			parts[k] = ":"
		}
		i /= shape[k]
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
