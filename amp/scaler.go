package amp

import (
	"fmt"
	"reflect"

	"halfnote/tensor"
)

// GradScaler multiplies losses by a scale, so that float16 does not flush small gradients to
// zero, and skips steps whose gradients are not finite. Use one scaler for a whole run; it is not
// safe for use by several goroutines at once. It is torch.amp.GradScaler.
type GradScaler struct {
	enabled  bool
	scale    float32
	growth   float64
	backoff  float64
	interval int

	// Options that torch lacks.
	static      bool
	least, most float32
	abort       bool // AbortAtMin
	hysteresis  int  // number of overflows before the scale backs off
	models      []any
	share       func(found bool) bool // SyncFoundInf

	ready     bool // a loss has been scaled
	device    tensor.Device
	held      *tensor.Tensor  // device copy of scale, 1/scale, tracker and overflows; if non-nil it is authoritative, and the host fields are the last values read back
	tracker   int             // consecutive steps without overflow
	overflows int             // overflows since the scale last grew
	steps     int             // calls of Step, for all optimizers
	stages    map[any]*stage  // state since the last Update, by identity of the optimizer
	streaks   map[any]*streak // skips since the last step taken, by identity of the optimizer
	badLoss   bool            // a loss since the last Update was non-finite; checked only during a run of skipped steps
}

// Optimizer is an optimizer that a GradScaler can step.
type Optimizer interface {
	// Params returns the parameters, including those without a gradient.
	Params() []*tensor.Tensor
	// Step updates the parameters from their gradients.
	Step()
	// ZeroGrad drops the gradients.
	ZeroGrad()
}

// stage is the state of an optimizer's gradients since the last Update.
type stage struct {
	unscaled, stepped bool
	found             verdict
}

// Scale returns loss times the scale, differentiably, in the promoted dtype of loss and a 0-dim
// float32 tensor: float32 for a 0-dim float16 loss, float16 for one with dimensions, which may
// overflow. It is GradScaler.scale.
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
	s.tell(ScalerEvent{Kind: EventScale, Step: s.steps, Loss: loss})
	return scaled
}

// ScaleAll applies Scale to each of several outputs.
func (s *GradScaler) ScaleAll(outputs []*tensor.Tensor) []*tensor.Tensor {
	scaled := make([]*tensor.Tensor, len(outputs))
	for i, t := range outputs {
		scaled[i] = s.Scale(t)
	}
	return scaled
}

// Unscale divides the gradients of opt's parameters by the scale, in place, and records whether
// one was not finite, without a host synchronisation. Call it before clipping or inspecting
// gradients; otherwise Step does it. It panics with an *[Error] if nothing was scaled, if opt's
// gradients were unscaled or used by Step since the last Update, or if one is float16; it then
// changes no gradient. It is GradScaler.unscale_.
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

// unscaled moves opt to the stage after Unscale; implicit if Step does so itself.
func (s *GradScaler) unscaled(opt Optimizer, st *stage, implicit bool) {
	st.found = s.check(opt, s.divided, false)
	st.unscaled = true
	if len(st.found.owners) > 0 && observed() {
		s.tell(ScalerEvent{Kind: EventUnscale, Step: s.steps, Optimizer: opt, Key: identity(opt), Implicit: implicit, Result: s.result(opt, st, s.steps)})
	}
}

// Step unscales opt's gradients, unless Unscale has done so, and steps opt if all of them are
// finite. A [FusedOptimizer] does both itself. Step panics with an *[Error] if nothing was
// scaled, if opt has no gradients, or if it was stepped since the last Update. It is
// GradScaler.step.
func (s *GradScaler) Step(opt Optimizer) StepResult {
	if !s.enabled {
		opt.Step()
		return StepResult{Step: s.count(), Scale: 1, FirstBadParam: -1}
	}
	s.mustBeReady("Step")
	s.pull()
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
	s.tell(ScalerEvent{Kind: EventStep, Step: result.Step, Optimizer: opt, Key: identity(opt), Result: result})
	return result
}

func (s *GradScaler) stepPlain(opt Optimizer, st *stage) {
	if !st.unscaled {
		s.unscaled(opt, st, true)
	}
	if s.share == nil {
		st.mustHaveGrads() // a process may have an empty shard
	}
	if _, bad := st.found.first(); !bad {
		opt.Step()
	}
}

// StepWith steps an optimizer that evaluates the model itself by calling closure, and returns
// opt's result. A scaler cannot guard such a step: StepWith panics with an *[Error] unless the
// scaler is disabled.
func (s *GradScaler) StepWith(opt ClosureOptimizer, closure func() *tensor.Tensor) *tensor.Tensor {
	if s.enabled {
		panic(&Error{Code: "closure", Call: "StepWith", Why: "the optimizer evaluates the model again within its step, where the loss is not scaled and the gradients are not checked", Cure: "call Step, or disable the scaler with amp.ScalerEnabled(false)"})
	}
	return opt.StepWith(closure)
}

// ClosureOptimizer is an optimizer that evaluates the model itself, such as LBFGS.
type ClosureOptimizer interface {
	StepWith(closure func() *tensor.Tensor) *tensor.Tensor
}

// CurrentScale returns the scale, 1 for a disabled scaler. It is
// GradScaler.get_scale.
func (s *GradScaler) CurrentScale() float64 {
	if !s.enabled {
		return 1
	}
	s.pull()
	return float64(s.scale)
}

// IsEnabled reports whether the scaler is enabled.
func (s *GradScaler) IsEnabled() bool { return s.enabled }

func (s *GradScaler) String() string {
	s.pull()
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

// stepsTwice returns an error if the optimizer has already stepped.
func (st *stage) stepsTwice() *Error {
	if !st.stepped {
		return nil
	}
	return &Error{Code: "already_stepped", Call: "Step", Why: "this optimizer has stepped since the last Update", Cure: "call Update after each Step"}
}

// mustHaveGrads panics if the optimizer has no gradients.
func (st *stage) mustHaveGrads() {
	if len(st.found.owners) == 0 {
		st.unscaled = false // torch keeps it set, and so rejects gradients that arrive later
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

// identity returns a key for an optimizer. An optimizer defined in a cell arrives in a new
// wrapper at each call, so its first parameter serves as the key.
func identity(opt Optimizer) any {
	if reflect.ValueOf(opt).Comparable() {
		return opt
	}
	if params := opt.Params(); len(params) > 0 {
		return params[0]
	}
	return nil
}

// count returns the number of this step and increments the counter.
func (s *GradScaler) count() int {
	s.steps++
	return s.steps - 1
}

// tell emits an event that does not change the scale.
func (s *GradScaler) tell(e ScalerEvent) {
	if !observed() {
		return
	}
	s.pull()
	e.Scaler, e.Before, e.After, e.Tracker = s, float64(s.scale), float64(s.scale), s.tracker
	notify(e)
}
