package optim

import "halfnote/tensor"

// Fused makes the optimizer itself unscale gradients and skip bad steps when an
// amp.GradScaler steps it; off by default. SGD, Adam and AdamW take it. It is torch's
// argument fused.
func Fused() Option { return Option{"fused", func(g *Group) { g.fused = true }} }

// Fused reports whether the optimizer was made with the option. It is
// _step_supports_amp_scaling.
func (o *Optimizer) Fused() bool { return o.defaults.fused }

// SetGradScale sets the divisor of gradients in a fused optimizer's steps, besides a
// scaler's scale. It is 1 by default, and is reset to 1 by a scaler's step. It panics unless
// the optimizer is fused. It is the attribute grad_scale.
func (o *Optimizer) SetGradScale(scale float64) {
	o.mustBeFused("SetGradScale")
	o.carried = scale
}

func (o *Optimizer) mustBeFused(call string) {
	if !o.Fused() {
		o.fail("%s requires a fused optimizer; make it with optim.Fused()", call)
	}
}

// StepScaled is Step with scaled gradients, which it divides by the scalar scale in place;
// nil means 1. If the scalar found is not 0, neither parameters nor gradients change. It
// panics unless the optimizer is fused. amp.GradScaler calls it.
func (o *Optimizer) StepScaled(scale, found *tensor.Tensor) {
	o.mustBeFused("StepScaled")
	own := o.carried
	o.carried = 0
	if found.Float64s()[0] != 0 {
		return
	}
	switch {
	case own != 0 && scale != nil:
		scale = scale.MulScalar(own)
	case own != 0:
		scale = tensor.Scalar(own)
	}
	o.step(scale)
}

// fused updates p by its gradient g, which it divides by a scalar in place. For float16 and
// bfloat16 it computes in float32 from the unrounded quotient and rounds once at the end, as
// torch's fused kernels do.
func (o *Optimizer) fused(p, g, by *tensor.Tensor, group *Group) {
	r := o.records[p]
	if g.DType() == g.DType().Wide() {
		if by != nil {
			g.DivAssign(by)
		}
		o.move(p, g.Detach(), group, r)
		return
	}
	wide, x, known := g.Float(), p.Detach().Float(), record{}
	if by != nil {
		g.Assign(wide.DivAssign(by))
	}
	for name, value := range r {
		if t, ok := value.(*tensor.Tensor); ok {
			value = t.Float()
		}
		known[name] = value
	}
	o.move(x, wide, group, known)
	group.steps.Run()
	p.Assign(x)
	for name, value := range known {
		if t, ok := value.(*tensor.Tensor); ok {
			r.tensor(name, p).Assign(t)
		} else {
			r[name] = value
		}
	}
}
