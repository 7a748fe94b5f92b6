package amp

import (
	"slices"

	"halfnote/tensor"
)

// GuardedOptimizer is an optimizer that reads from the device whether to step, without a host
// synchronisation. The optimizers of package optim are guarded. It is torch's argument
// found_inf of fused optimizers.
type GuardedOptimizer interface {
	Optimizer
	// StepUnless is Step if all elements of found are 0; otherwise it changes nothing. found is a
	// float32 vector on the parameters' device.
	StepUnless(found *tensor.Tensor)
}

// StepNonBlocking is Step without a host synchronisation: the GPU decides whether to skip the
// step, so there is no result. From then on the scale lives on the GPU: Update does not wait
// either, and reading the scale does. It waits, as Step does, if the losses are on the CPU, if
// there are observers, with [AbortAtMin], or if opt is not a [GuardedOptimizer]. It panics as
// Step does.
func (s *GradScaler) StepNonBlocking(opt Optimizer) {
	guarded, ok := opt.(GuardedOptimizer)
	if !s.enabled || !ok || s.abort || s.share != nil || observed() || !s.ready || s.device == tensor.CPU || !s.onDevice(opt) {
		s.Step(opt)
		return
	}
	st := s.stage(opt)
	if err := st.stepsTwice(); err != nil {
		panic(err)
	}
	if s.held == nil {
		s.hold()
	}
	if !st.unscaled {
		s.unscaled(opt, st, true)
	}
	st.mustHaveGrads()
	guarded.StepUnless(st.found.flags)
	st.stepped = true
	s.count()
}

// onDevice reports whether all of opt's gradients are float32 or wider, and on the device
// of the losses.
func (s *GradScaler) onDevice(opt Optimizer) bool {
	return !slices.ContainsFunc(opt.Params(), func(p *tensor.Tensor) bool {
		g := gradients.Peek(p)
		return g != nil && (g.Device() != s.device || g.DType().Size() < 4)
	})
}

// Elements of held.
const (
	heldScale = iota
	heldInverse
	heldTracker
	heldOverflows
	heldSize
)

// hold copies the state of the scale to the device.
func (s *GradScaler) hold() {
	state := make([]float64, heldSize)
	state[heldScale], state[heldInverse] = float64(s.scale), s.inverse()
	state[heldTracker], state[heldOverflows] = float64(s.tracker), float64(s.overflows)
	if s.held == nil {
		s.held = fused.Lasting(string(s.device), state...)
	} else {
		s.held.Assign(tensor.New(state).ToDevice(s.device)) // keep the address, which captured graphs use
	}
}

// factor returns the scale as a scalar on a device.
func (s *GradScaler) factor(d tensor.Device) *tensor.Tensor {
	if s.held == nil && d == s.device && capture.Capturing() {
		s.hold() // replays read the current scale
	}
	if s.held != nil && d == s.device {
		return s.held.Select(0, heldScale)
	}
	s.pull()
	return tensor.Scalar(float64(s.scale)).ToDevice(d)
}

// pull reads the state of the scale back from the device.
func (s *GradScaler) pull() {
	if s.held != nil {
		state := s.held.Float64s()
		s.scale, s.tracker, s.overflows = float32(state[heldScale]), int(state[heldTracker]), int(state[heldOverflows])
	}
}

// push copies the scale to the device after a change on the host, if the device holds it.
func (s *GradScaler) push() {
	if s.held != nil {
		s.hold()
	}
}

// updateOnDevice is Update on the device. It reports whether this was possible, which requires
// that the flags of non-finite gradients have not been read.
func (s *GradScaler) updateOnDevice() bool {
	var flags []*tensor.Tensor
	for _, st := range s.stages {
		if st.found.asked {
			return false
		}
		if st.found.flags != nil {
			flags = append(flags, st.found.flags)
		}
	}
	if s.held == nil || len(flags) == 0 || observed() {
		return false
	}
	found := flags[0]
	if len(flags) > 1 {
		found = tensor.Cat(0, flags...)
	}
	fused.UpdateScale(s.held, found, s.rule())
	clear(s.stages)
	s.badLoss = false
	return true
}
