package amp

import "halfnote/tensor"

// FusedOptimizer is an optimizer that unscales gradients and skips bad steps within its
// step, so that nobody need wait for the device in between: as those of package optim
// with the option Fused. A skipped step leaves the gradients scaled, where Unscale would
// have divided them. It is torch's contract of _step_supports_amp_scaling.
type FusedOptimizer interface {
	Optimizer
	// Fused reports whether StepScaled is to be called in place of Step.
	Fused() bool
	// StepScaled is a step with gradients that carry scale, a float32 scalar; nil is 1.
	// It divides them by it in place. If found, a float32 scalar of the CPU, is not 0,
	// gradients, parameters and what the optimizer remembers stay as they are. It keeps
	// neither.
	StepScaled(scale, found *tensor.Tensor)
}

// stepFused hands opt its gradients as they are, unless Unscale has been called, with a
// scale and a verdict, for which the device is waited for before the step, not after it,
// since the result of Step has it. Gradients may be float16. Without any gradient there is no error,
// as in torch: Update will say it.
func (s *GradScaler) stepFused(opt FusedOptimizer, st *stage) {
	var scale *tensor.Tensor
	if !st.unscaled {
		st.found = s.check(opt, looked, true)
		scale = tensor.Scalar(float64(s.scale)).ToDevice(s.device)
	}
	opt.StepScaled(scale, st.found.tensor())
}
