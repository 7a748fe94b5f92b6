package amp

import (
	"fmt"
	"math"
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

	ready   bool           // a loss has been scaled
	quiet   bool           // it reports no events
	tracker int            // steps in a row without overflow
	steps   int            // steps asked for, of all optimizers
	stages  map[any]*stage // by identity of the optimizer
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

// ScalerOption configures a GradScaler.
type ScalerOption func(*GradScaler)

// InitScale sets the scale to start with; 65536 by default.
func InitScale(scale float64) ScalerOption { return func(s *GradScaler) { s.scale = float32(scale) } }

// GrowthFactor sets what the scale is multiplied by after GrowthInterval clean
// steps; 2 by default. It must exceed 1.
func GrowthFactor(f float64) ScalerOption { return func(s *GradScaler) { s.growth = f } }

// BackoffFactor sets what the scale is multiplied by after an overflow; 0.5 by
// default. It must be below 1.
func BackoffFactor(f float64) ScalerOption { return func(s *GradScaler) { s.backoff = f } }

// GrowthInterval sets how many clean steps in a row make the scale grow; 2000 by
// default.
func GrowthInterval(steps int) ScalerOption { return func(s *GradScaler) { s.interval = steps } }

// Enabled switches a scaler off when on is false: Scale then returns the loss
// itself, Step is the optimizer's own and Update does nothing.
func Enabled(on bool) ScalerOption { return func(s *GradScaler) { s.enabled = on } }

// NewGradScaler returns a scaler. It panics with an *[Error] if an enabled one has
// a growth factor of at most 1 or a backoff factor of at least 1.
func NewGradScaler(options ...ScalerOption) *GradScaler {
	s := &GradScaler{enabled: true, scale: 65536, growth: 2, backoff: 0.5, interval: 2000, stages: map[any]*stage{}}
	for _, option := range options {
		option(s)
	}
	if s.enabled && !(s.growth > 1) {
		panic(&Error{Code: "growth_factor", Call: "NewGradScaler", Why: fmt.Sprintf("the growth factor is %v", s.growth), Cure: "give one above 1, as 2"})
	}
	if s.enabled && !(s.backoff < 1) {
		panic(&Error{Code: "backoff_factor", Call: "NewGradScaler", Why: fmt.Sprintf("the backoff factor is %v", s.backoff), Cure: "give one below 1, as 0.5"})
	}
	return s
}

// Scale returns loss times the scale, differentiably, in the dtype that loss and
// a 0-dim float32 tensor promote to: float32 for a 0-dim float16 loss, float16
// for one with dimensions, which may overflow.
func (s *GradScaler) Scale(loss *tensor.Tensor) *tensor.Tensor {
	if !s.enabled {
		return loss
	}
	if loss == nil {
		panic(&Error{Code: "bad_outputs", Call: "Scale", Why: "the loss is nil", Cure: "give the loss's tensor"})
	}
	s.ready = true
	scaled := loss.Mul(tensor.Scalar(float64(s.scale)))
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
// notes whether one was not finite. Call it to clip or look at gradients; Step
// does it otherwise. It panics with an *[Error] if nothing was scaled, if opt's
// gradients have been unscaled or stepped on since the last Update, or if one is
// float16: in each case no gradient has changed.
func (s *GradScaler) Unscale(opt Optimizer) {
	if !s.enabled {
		return
	}
	s.mustBeReady("Unscale")
	st := s.stage(opt)
	switch {
	case st.unscaled && !st.stepped:
		panic(&Error{Code: "already_unscaled", Call: "Unscale", Why: "this optimizer's gradients are in true units since the last Update", Cure: "call Unscale once between two Updates"})
	case st.stepped:
		panic(&Error{Code: "unscale_after_step", Call: "Unscale", Why: "Step has used these gradients", Cure: "call Unscale before Step"})
	}
	s.unscaled(opt, st, false)
}

// unscaled moves opt on to the stage after Unscale, which Step does itself if need
// be.
func (s *GradScaler) unscaled(opt Optimizer, st *stage, implicit bool) {
	st.found = s.unscale(opt)
	st.unscaled = true
	if st.found.checked > 0 {
		s.tell(Event{Kind: Unscaled, Step: s.steps, Optimizer: opt, Key: identity(opt), Implicit: implicit, Result: st.found.result(s.steps, float64(s.scale))})
	}
}

// Step unscales opt's gradients, unless Unscale has, and steps opt if all of them
// are finite. It panics with an *[Error] if nothing was scaled, if opt has no
// gradient at all, or if it was stepped since the last Update.
func (s *GradScaler) Step(opt Optimizer) StepResult {
	if !s.enabled {
		opt.Step()
		return StepResult{Step: s.count(), Scale: 1}
	}
	s.mustBeReady("Step")
	st := s.stage(opt)
	if st.stepped {
		panic(&Error{Code: "already_stepped", Call: "Step", Why: "this optimizer has stepped since the last Update", Cure: "call Update after each Step"})
	}
	if !st.unscaled {
		s.unscaled(opt, st, true)
	}
	if st.found.checked == 0 {
		st.unscaled = false // so that Step can be called again, after Backward
		panic(&Error{Code: "no_grads", Call: "Step", Why: "no parameter of this optimizer has a gradient", Cure: "call Backward on the scaled loss first, with parameters that it depends on"})
	}
	result := st.found.result(s.count(), float64(s.scale))
	if !result.Skipped {
		opt.Step()
	}
	st.stepped = true
	s.tell(Event{Kind: Stepped, Step: result.Step, Optimizer: opt, Key: identity(opt), Result: result})
	return result
}

// Update sets the scale for the next step: times the backoff factor if a gradient
// of any optimizer was not finite since the last Update, else times the growth
// factor after GrowthInterval clean steps in a row, as long as it stays finite.
// It panics with an *[Error] if no gradients have been checked since the last
// Update.
func (s *GradScaler) Update() {
	if !s.enabled {
		return
	}
	s.mustBeReady("Update")
	checked, found := false, false
	for _, st := range s.stages {
		checked = checked || st.found.checked > 0
		found = found || st.found.bad
	}
	if !checked {
		panic(&Error{Code: "no_checks", Call: "Update", Why: "no gradients have been checked since the last Update", Cure: "call Step, or Unscale, first"})
	}
	before := s.scale
	if found {
		s.scale = float32(float64(s.scale) * s.backoff)
		s.tracker = 0
	} else if s.tracker++; s.tracker == s.interval {
		if grown := float32(float64(s.scale) * s.growth); !math.IsInf(float64(grown), 0) {
			s.scale = grown
		}
		s.tracker = 0
	}
	s.updated(before)
}

// UpdateTo sets the scale by hand, GradScaler.update's argument new_scale. The
// growth tracker stays.
func (s *GradScaler) UpdateTo(scale float64) {
	if !s.enabled {
		return
	}
	s.mustBeReady("UpdateTo")
	before := s.scale
	s.scale = float32(scale)
	s.updated(before)
}

func (s *GradScaler) updated(before float32) {
	clear(s.stages)
	notify(Event{Kind: Updated, Scaler: s, Step: s.steps - 1, Before: float64(before), After: float64(s.scale), Tracker: s.tracker})
}

// tell notifies of an event that leaves the scale as it is.
func (s *GradScaler) tell(e Event) {
	e.Scaler, e.Before, e.After, e.Tracker = s, float64(s.scale), float64(s.scale), s.tracker
	notify(e)
}

// CurrentScale returns the scale, 1 for a disabled scaler. It is
// GradScaler.get_scale.
func (s *GradScaler) CurrentScale() float64 {
	if !s.enabled {
		return 1
	}
	return float64(s.scale)
}

// GrowthTracker returns how many steps in a row have been clean.
func (s *GradScaler) GrowthTracker() int { return s.tracker }

// IsEnabled reports whether the scaler does anything.
func (s *GradScaler) IsEnabled() bool { return s.enabled }

func (s *GradScaler) String() string {
	if !s.enabled {
		return "GradScaler(disabled)"
	}
	return fmt.Sprintf("GradScaler(scale=%v, growth %v every %d steps, backoff %v, %d clean)", s.scale, s.growth, s.interval, s.backoff, s.tracker)
}

func (s *GradScaler) mustBeReady(call string) {
	if !s.ready {
		panic(&Error{Code: "not_initialised", Call: call, Why: "no loss has been scaled", Cure: "call scaler.Scale(loss).Backward() first"})
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
