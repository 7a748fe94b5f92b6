package amp

import "halfnote/tensor"

// FusedOptimizer is an optimizer that unscales gradients and skips non-finite steps within its
// step, without a synchronisation in between. The optimizers of package optim are fused with
// the option Fused. A skipped step leaves the gradients scaled, where Unscale would have
// divided them. It is torch's contract of _step_supports_amp_scaling.
type FusedOptimizer interface {
	Optimizer
	// Fused reports whether StepScaled is to be called in place of Step.
	Fused() bool
	// StepScaled is a step with gradients multiplied by scale, a float32 scalar; nil is 1. It
	// divides them by scale in place. If found, a float32 scalar on the CPU, is not 0,
	// gradients, parameters and optimizer state are unchanged. It retains neither argument.
	StepScaled(scale, found *tensor.Tensor)
}

// stepFused passes opt the scale and the verdict with its gradients, still scaled unless
// Unscale has been called. It waits for the verdict before the step, because the result of Step
// contains it. Gradients may be float16. As in torch, having no gradients at all is not an
// error here; Update reports it.
func (s *GradScaler) stepFused(opt FusedOptimizer, st *stage) {
	var scale *tensor.Tensor
	if !st.unscaled {
		st.found = s.check(opt, looked, true)
		scale = tensor.Scalar(float64(s.scale)).ToDevice(s.device)
	}
	opt.StepScaled(scale, st.found.tensor())
}
