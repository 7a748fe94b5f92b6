package fp8

import (
	"math"

	"halfnote/tensor"
)

// Recipe is a choice of 8-bit formats for [Scaler] and of a way to scale tensors for them:
// [DelayedScaling], [CurrentScaling] or [UnitScaling].
type Recipe interface {
	// format returns the format of operands, or of gradients.
	format(gradient bool) tensor.DType
	// now returns the scale for a tensor whose largest magnitude is amax and whose previous
	// scale was last.
	now(format tensor.DType, amax, last float32) float32
	// length returns the length of the history of largest magnitudes.
	length() int
	// next returns the scale for the next step; history holds the largest magnitudes, newest
	// first.
	next(format tensor.DType, history []float32, last float32) float32
}

// DelayedScaling scales a tensor by its largest magnitude in earlier steps, which needs only one
// pass over the tensor: the scale is 2^-Margin times the format's largest number divided by that
// magnitude, initially 1. A tensor that has grown saturates for a step. It is
// transformer_engine.common.recipe.DelayedScaling.
type DelayedScaling struct {
	Margin     int
	HistoryLen int  // length of the history in steps; 0 is 1024
	MostRecent bool // use the last step's magnitude, not the largest of the history
	E4M3       bool // use E4M3 for gradients too, instead of E5M2
}

func (r DelayedScaling) format(gradient bool) tensor.DType { return hybrid(gradient && !r.E4M3) }
func (r DelayedScaling) now(_ tensor.DType, _, last float32) float32 {
	return last
}
func (r DelayedScaling) length() int {
	if r.HistoryLen < 1 {
		return 1024
	}
	return r.HistoryLen
}
func (r DelayedScaling) next(format tensor.DType, history []float32, last float32) float32 {
	amax := history[0]
	for _, a := range history {
		if !r.MostRecent && !(a <= amax) {
			amax = a
		}
	}
	return scaleFor(format, amax, r.Margin, last)
}

// CurrentScaling scales a tensor by its own largest magnitude, which takes an extra pass before
// the conversion. It is transformer_engine.common.recipe.Float8CurrentScaling.
type CurrentScaling struct {
	E4M3 bool // use E4M3 for gradients too, instead of E5M2
}

func (r CurrentScaling) format(gradient bool) tensor.DType { return hybrid(gradient && !r.E4M3) }
func (CurrentScaling) now(format tensor.DType, amax, _ float32) float32 {
	return scaleFor(format, amax, 0, 1)
}
func (CurrentScaling) length() int { return 1 }
func (CurrentScaling) next(_ tensor.DType, _ []float32, last float32) float32 {
	return last
}

// UnitScaling does not scale. It shows why scaling is needed: small gradients become 0.
type UnitScaling struct {
	E4M3 bool // use E4M3 for gradients too, instead of E5M2
}

func (r UnitScaling) format(gradient bool) tensor.DType                 { return hybrid(gradient && !r.E4M3) }
func (UnitScaling) now(tensor.DType, float32, float32) float32          { return 1 }
func (UnitScaling) length() int                                         { return 1 }
func (UnitScaling) next(_ tensor.DType, _ []float32, _ float32) float32 { return 1 }

// hybrid returns E5M2, which has the range that gradients need, if wide, else E4M3.
func hybrid(wide bool) tensor.DType {
	if wide {
		return tensor.Float8E5M2
	}
	return tensor.Float8E4M3
}

// scaleFor returns 2^-margin times the format's largest number divided by amax, last if
// amax is 0 or not finite: delayed_scaling.cu of Transformer Engine, in float32.
func scaleFor(format tensor.DType, amax float32, margin int, last float32) float32 {
	if !(amax > 0) || math.IsInf(float64(amax), 0) {
		return last
	}
	scale := float32(math.Ldexp(tensor.FInfo(format).Max, -margin)) / amax
	if math.IsInf(float64(scale), 0) {
		return math.MaxFloat32
	}
	return scale
}
