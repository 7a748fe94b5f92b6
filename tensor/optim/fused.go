package optim

import "halfnote/tensor"

// Fused has the optimizer unscale gradients and skip bad steps itself when an
// amp.GradScaler steps it; off by default. SGD, Adam and AdamW take it. It is the
// argument fused of torch's.
func Fused() Option { return Option{"fused", func(g *Group) { g.fused = true }} }

// Fused reports whether the optimizer was made with the option. It is
// _step_supports_amp_scaling.
func (o *Optimizer) Fused() bool { return o.defaults.fused }

// SetGradScale sets what a fused optimizer's steps divide gradients by, besides a
// scaler's scale; 1 by default, and again after a scaler's step. It panics unless the
// optimizer is fused. It is the attribute grad_scale.
func (o *Optimizer) SetGradScale(scale float64) {
	if !o.Fused() {
		o.fail("a gradient scale is set; expected an optimizer made with optim.Fused()")
	}
	o.carried = scale
}

// StepScaled is Step with gradients that carry scale, a scalar, by which it divides them
// in place; nil is 1. If found, a scalar, is not 0, nothing changes, gradients neither.
// amp.GradScaler calls it.
func (o *Optimizer) StepScaled(scale, found *tensor.Tensor) {
	own := o.carried
	o.carried = 0
	if found.Float64s()[0] != 0 {
		return
	}
	tensor.NoGrad(func() {
		switch {
		case scale != nil && own != 0:
			o.divide(scale.Scale(own))
		case scale != nil:
			o.divide(scale)
		case own != 0:
			o.divide(tensor.Scalar(own))
		}
	})
	o.Step()
}

// divide divides all gradients by a float32 scalar, in float32: it may exceed float16.
func (o *Optimizer) divide(by *tensor.Tensor) {
	for _, p := range o.Params() {
		switch g := p.Grad(); {
		case g == nil:
		case g.DType() != g.DType().Wide():
			g.Assign(g.Float().DivAssign(by))
		default:
			g.DivAssign(by)
		}
	}
}
