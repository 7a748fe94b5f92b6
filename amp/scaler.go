package amp

import (
	"fmt"
	"reflect"

	"halfnote/tensor"
)

// GradScaler multiplies losses by a scale, so that gradients that float16 would
// flush to zero survive, and skips steps whose gradients are not finite. It is
// torch.amp.GradScaler. Use one scaler for a whole run; it is not safe for use by
// several goroutines at once.
type GradScaler struct {
	enabled  bool
	scale    float32
	growth   float64
	backoff  float64
	interval int

	// Not torch's.
	static      bool
	least, most float32
	abort       bool // Update panics at the least scale
	hysteresis  int  // the overflow that makes the scale back off
	models      []any

	ready     bool // a loss has been scaled
	device    tensor.Device
	held      *tensor.Tensor  // the scale and what it depends on where the device has it, and the fields above and below are of when they were asked for
	tracker   int             // steps in a row without overflow
	overflows int             // since the scale grew
	steps     int             // steps asked for, of all optimizers
	stages    map[any]*stage  // by identity of the optimizer, since the last Update
	streaks   map[any]*streak // likewise, since the last step that was taken
	badLoss   bool            // a loss was not finite, since the last Update; looked at in a streak alone
}

// Optimizer is what a GradScaler needs of one.
type Optimizer interface {
	// Params returns the parameters, those without a gradient too.
	Params() []*tensor.Tensor
	// Step updates the parameters from their gradients.
	Step()
	// ZeroGrad drops the gradients.
	ZeroGrad()
}

// stage is what has happened to an optimizer's gradients since the last Update.
type stage struct {
	unscaled, stepped bool
	found             verdict
}

// Scale returns loss times the scale, differentiably, in the dtype that loss and
// a 0-dim float32 tensor promote to: float32 for a 0-dim float16 loss, float16
// for one with dimensions, which may overflow. It is GradScaler.scale.
func (s *GradScaler) Scale(loss *tensor.Tensor) *tensor.Tensor {
	if !s.enabled {
		return loss
	}
	if loss == nil {
		panic(&Error{Code: "bad_outputs", Call: "Scale", Why: "the loss is nil", Cure: "pass the loss tensor"})
	}
	if !s.ready {
		s.ready, s.device = true, loss.Device()
	}
	if len(s.streaks) > 0 {
		x := loss.Stats()
		s.badLoss = s.badLoss || x.NaNs+x.Infs > 0
	}
	scaled := loss.Mul(s.factor(loss.Device()))
	s.tell(Event{Kind: Scaled, Step: s.steps, Loss: loss})
	return scaled
}

// ScaleAll is Scale on each of several outputs.
func (s *GradScaler) ScaleAll(outputs []*tensor.Tensor) []*tensor.Tensor {
	scaled := make([]*tensor.Tensor, len(outputs))
	for i, t := range outputs {
		scaled[i] = s.Scale(t)
	}
	return scaled
}

// Unscale divides the gradients of opt's parameters by the scale, in place, and
// notes whether one was not finite, without waiting for the device. Call it to clip or
// look at gradients; Step does it otherwise. It panics with an *[Error] if nothing was
// scaled, if opt's gradients have been unscaled or stepped on since the last Update, or
// if one is float16: in each case no gradient has changed. It is GradScaler.unscale_.
func (s *GradScaler) Unscale(opt Optimizer) {
	if !s.enabled {
		return
	}
	s.mustBeReady("Unscale")
	st := s.stage(opt)
	switch {
	case st.stepped:
		panic(&Error{Code: "unscale_after_step", Call: "Unscale", Why: "Step has used these gradients", Cure: "call Unscale before Step"})
	case st.unscaled:
		panic(&Error{Code: "already_unscaled", Call: "Unscale", Why: "this optimizer's gradients have already been unscaled since the last Update", Cure: "call Unscale once between two calls of Update"})
	}
	s.unscaled(opt, st, false)
}

// unscaled moves opt on to the stage after Unscale, which Step does itself if need
// be.
func (s *GradScaler) unscaled(opt Optimizer, st *stage, implicit bool) {
	st.found = s.check(opt, s.divided, false)
	st.unscaled = true
	if len(st.found.owners) > 0 && observed() {
		s.tell(Event{Kind: Unscaled, Step: s.steps, Optimizer: opt, Key: identity(opt), Implicit: implicit, Result: s.result(opt, st, s.steps)})
	}
}

// Step unscales opt's gradients, unless Unscale has, and steps opt if all of them
// are finite. A [FusedOptimizer] does both itself. It panics with an *[Error] if nothing
// was scaled, if opt has no gradient at all, or if it was stepped since the last Update.
// It is GradScaler.step.
func (s *GradScaler) Step(opt Optimizer) StepResult {
	if !s.enabled {
		opt.Step()
		return StepResult{Step: s.count(), Scale: 1, FirstBadParam: -1}
	}
	s.mustBeReady("Step")
	s.asked()
	st := s.stage(opt)
	if err := st.stepsTwice(); err != nil {
		panic(err)
	}
	fused, _ := opt.(FusedOptimizer)
	if fused != nil && fused.Fused() {
		s.stepFused(fused, st)
	} else {
		s.stepPlain(opt, st)
	}
	st.stepped = true
	result := s.result(opt, st, s.count())
	result.Skips, result.Hint = s.judge(opt, st, result)
	s.tell(Event{Kind: Stepped, Step: result.Step, Optimizer: opt, Key: identity(opt), Result: result})
	return result
}

func (s *GradScaler) stepPlain(opt Optimizer, st *stage) {
	if !st.unscaled {
		s.unscaled(opt, st, true)
	}
	st.mustHaveGrads()
	if _, bad := st.found.first(); !bad {
		opt.Step()
	}
}

// StepWith calls closure and steps, for an optimizer that evaluates the model itself; it
// returns what opt returns. A scaler cannot guard such a step: it panics with an *[Error]
// unless the scaler is disabled.
func (s *GradScaler) StepWith(opt ClosureOptimizer, closure func() *tensor.Tensor) *tensor.Tensor {
	if s.enabled {
		panic(&Error{Code: "closure", Call: "StepWith", Why: "the optimizer evaluates the model again within its step, where the loss is not scaled and the gradients are not checked", Cure: "call Step, or disable the scaler with amp.Enabled(false)"})
	}
	return opt.StepWith(closure)
}

// ClosureOptimizer is an optimizer that evaluates the model, as LBFGS.
type ClosureOptimizer interface {
	StepWith(closure func() *tensor.Tensor) *tensor.Tensor
}

// CurrentScale returns the scale, 1 for a disabled scaler. It is
// GradScaler.get_scale.
func (s *GradScaler) CurrentScale() float64 {
	if !s.enabled {
		return 1
	}
	s.asked()
	return float64(s.scale)
}

// IsEnabled reports whether the scaler does anything.
func (s *GradScaler) IsEnabled() bool { return s.enabled }

func (s *GradScaler) String() string {
	s.asked()
	switch {
	case !s.enabled:
		return "GradScaler(disabled)"
	case s.static:
		return fmt.Sprintf("GradScaler(scale=%v, static)", s.scale)
	}
	return fmt.Sprintf("GradScaler(scale=%v, growth %v every %d steps, backoff %v, %d clean)", s.scale, s.growth, s.interval, s.backoff, s.tracker)
}

func (s *GradScaler) mustBeReady(call string) {
	if !s.ready {
		panic(&Error{Code: "not_initialised", Call: call, Why: "no loss has been scaled", Cure: "call scaler.Scale(loss).Backward() first"})
	}
}

// stepsTwice returns what is wrong if the optimizer has stepped.
func (st *stage) stepsTwice() *Error {
	if !st.stepped {
		return nil
	}
	return &Error{Code: "already_stepped", Call: "Step", Why: "this optimizer has stepped since the last Update", Cure: "call Update after each Step"}
}

// mustHaveGrads panics if the optimizer has no gradient.
func (st *stage) mustHaveGrads() {
	if len(st.found.owners) == 0 {
		st.unscaled = false // torch's stays, and refuses gradients that come now
		panic(&Error{Code: "no_grads", Call: "Step", Why: "no parameter of this optimizer has a gradient", Cure: "call Backward on the scaled loss first, with parameters that it depends on"})
	}
}

func (s *GradScaler) stage(opt Optimizer) *stage {
	id := identity(opt)
	if s.stages[id] == nil {
		s.stages[id] = &stage{}
	}
	return s.stages[id]
}

// identity returns what tells one optimizer from another. An optimizer that a cell
// defines arrives in a wrapper made for each call, which cannot be a key: its
// first parameter can.
func identity(opt Optimizer) any {
	if reflect.ValueOf(opt).Comparable() {
		return opt
	}
	if params := opt.Params(); len(params) > 0 {
		return params[0]
	}
	return nil
}

// count returns the number of this step and moves on.
func (s *GradScaler) count() int {
	s.steps++
	return s.steps - 1
}

// tell notifies of an event that leaves the scale as it is.
func (s *GradScaler) tell(e Event) {
	if !observed() {
		return
	}
	s.asked()
	e.Scaler, e.Before, e.After, e.Tracker = s, float64(s.scale), float64(s.scale), s.tracker
	notify(e)
}
