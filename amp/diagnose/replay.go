package diagnose

import (
	"fmt"
	"sync"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/internal/text"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Replay records the gradients of a run as they are without the loss scale, counted by magnitude,
// and computes from these counts the effect of any scale and any format, without another run:
//
//	rp := diagnose.NewReplay(net)
//	… train …
//	rp.Stop()
//	rp.WhatIf(1024, diagnose.Float16) // shares of zeros, subnormals and infinities
//	rp.Band(diagnose.Float16)         // the scales that lose nothing
//	rp.Trajectory(amp.InitScale(4096), amp.GrowthInterval(100))
//	rp.Chart(diagnose.Float16)
//
// Gradients that autocast keeps in float32 stay float32, such as those of a normalisation's
// weights. Gradients of activations are recorded only if the policy runs the activations in low
// precision; for a run in float32, the policy is amp.Float16.
//
// It records automatically when a scaler unscales the gradients of an optimizer, and when an
// optimizer steps without a scaler.
//
// Gradients that a float16 run flushed to 0 at its own scale, or that became infinite, cannot
// be recovered: they count as zero or as non-finite. A run in float32 or bfloat16 has no such
// losses. A what-if answer holds for each step by itself: if another scale had skipped a step,
// later gradients would have differed.
//
// Its methods may be called while it records. It keeps about 2 KiB for each parameter
// and step.
type Replay struct {
	keep bool

	mu      sync.Mutex
	net     any
	names   map[*tensor.Tensor]string
	params  []*tensor.Tensor // of the net, in order
	steps   []*replayed
	scale   float64 // loss scale of the current step
	counter *counter
	watcher *watcher
	stop    []func()
	learned func() // stops the watcher after the first step; then nil
}

// replayed is the record of a step.
type replayed struct {
	gradients []*gradient
	scale     float64 // loss scale, 1 without a scaler
	after     float64 // scale after Update
	skipped   bool

	has    map[*tensor.Tensor]bool // parameters whose gradients are recorded
	plain  bool                    // recorded at the step of an optimizer without a scaler
	closed bool
}

// gradient is one gradient of a step.
type gradient struct {
	*magnitudes
	name       string
	activation bool
	wide       bool      // float32 even under autocast
	rounded    bool      // float16 in the run
	scale      float64   // loss scale of the gradient
	values     []float32 // unscaled values; nil unless kept
}

// ReplayOption is an option of [NewReplay].
type ReplayOption func(r *Replay)

// KeepGradients keeps the gradients themselves, so that results are exact even at scales that are
// not powers of two.
func KeepGradients() ReplayOption { return func(r *Replay) { r.keep = true } }

// WithActivations records the gradients of activations as well as those of parameters.
func WithActivations() ReplayOption { return func(r *Replay) { r.watcher.activations = true } }

// NewReplay starts recording the gradients of net, or of every optimizer's parameters if net is
// nil. It panics with an *[amp.Error] if an option is nil.
func NewReplay(net any, options ...ReplayOption) *Replay {
	needLayers("NewReplay", net, "")
	r := &Replay{net: net, scale: 1, names: map[*tensor.Tensor]string{}, counter: new(counter)}
	models := []any{}
	if net != nil {
		models = append(models, net)
	}
	r.watcher = &watcher{replay: r, names: trace.NewPlaces(models...), used: map[int]bool{}, low: map[int]bool{}, half: map[int]bool{}, made: map[int]string{}}
	for i, o := range options {
		if o == nil {
			panic(&amp.Error{Code: "nil_option", Call: "NewReplay", Why: fmt.Sprintf("option %d is nil", i+1), Cure: "pass an option such as diagnose.KeepGradients()"})
		}
		o(r)
	}
	if net != nil {
		for _, n := range nn.NamedParameters(net) {
			r.names[n.Tensor] = n.Name
			r.params = append(r.params, n.Tensor)
		}
	}
	r.stop = []func(){observer{call: r.call, scaler: r.scaler}.watch()}
	if watch := (observer{operation: r.watcher.op}).watch(); r.watcher.activations {
		r.stop = append(r.stop, watch)
	} else {
		r.learned = watch
	}
	return r
}

// Stop ends the recording and keeps its data. Calling it again does nothing.
func (r *Replay) Stop() {
	r.mu.Lock()
	stop := r.stop
	if r.learned != nil {
		stop = append(stop, r.learned)
	}
	r.stop, r.learned = nil, nil
	r.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// Record records the current gradients of the net's parameters, multiplied by scaler's scale.
// Call it after Backward, before the gradients are changed or dropped, in loops whose optimizer
// Replay cannot observe. scaler may be nil. Gradients already recorded when scaler unscaled
// them are not recorded twice.
func (r *Replay) Record(scaler *amp.GradScaler) {
	if r.net == nil {
		panic(&amp.Error{Code: "no_net", Call: "Replay.Record", Why: "the replay was made without a net", Cure: "pass the net to NewReplay"})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	scale := 1.0
	if scaler != nil {
		scale = scaler.CurrentScale()
	}
	if s := r.now(); s != nil && !s.plain && s.hasAll(r.params) {
		return
	}
	r.capture(r.params, scale, float32(1/scale), false)
}

// scaler listens to gradient scalers.
func (r *Replay) scaler(e amp.ScalerEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case amp.EventScale:
		r.scale = e.Before
	case amp.EventUnscale:
		params := r.own(e.Optimizer.Params())
		if s := r.now(); len(params) > 0 && (s == nil || !s.hasAll(params)) {
			r.capture(params, e.Before, 1, false)
		}
	case amp.EventStep:
		params := r.own(e.Optimizer.Params())
		if len(params) == 0 {
			break
		}
		if s := r.now(); s == nil || !s.hasAll(params) { // a fused optimizer's, unscaled unless it was skipped
			inverse := float32(1)
			if e.Result.Skipped {
				inverse = float32(1 / e.Before)
			}
			r.capture(params, e.Before, inverse, false)
		}
		if e.Result.Skipped {
			r.now().skipped = true
		}
	case amp.EventUpdate:
		r.scale = 1
		if s := r.now(); s != nil && !s.plain {
			s.after, s.closed = e.After, true
		}
	}
}

// call listens to the steps of optimizers that no scaler steps.
func (r *Replay) call(m call) {
	if m.Name != "optimizer.step" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	params := r.own(m.Tensors)
	inverse := float32(1 / r.scale) // a scaler scaled the loss, but does not step
	if fused, ok := m.By.(amp.FusedOptimizer); ok && fused.Fused() && r.scale != 1 {
		return // the scaler's events end the step
	}
	switch s := r.now(); {
	case len(params) == 0:
	case s == nil || s.plain && s.hasAny(params):
		r.capture(params, r.scale, inverse, r.scale == 1)
	case !s.hasAll(params):
		r.capture(params, r.scale, inverse, s.plain)
	}
}

// own returns the members of params that are recorded and have a gradient.
func (r *Replay) own(params []*tensor.Tensor) []*tensor.Tensor {
	var list []*tensor.Tensor
	for _, p := range params {
		if _, ok := r.names[p]; (ok || r.net == nil) && p.Grad() != nil {
			list = append(list, p)
		}
	}
	return list
}

// now returns the open step, or nil.
func (r *Replay) now() *replayed {
	if n := len(r.steps); n > 0 && !r.steps[n-1].closed {
		return r.steps[n-1]
	}
	return nil
}

func (s *replayed) hasAll(params []*tensor.Tensor) bool {
	for _, p := range params {
		if p.Grad() != nil && !s.has[p] {
			return false
		}
	}
	return true
}

func (s *replayed) hasAny(params []*tensor.Tensor) bool {
	for _, p := range params {
		if s.has[p] {
			return true
		}
	}
	return false
}

// capture records gradients after multiplying them by inverse, in a new step if the current one
// already has some of them.
func (r *Replay) capture(params []*tensor.Tensor, scale float64, inverse float32, plain bool) {
	s := r.now()
	if s == nil || s.hasAny(params) {
		s = &replayed{scale: scale, after: scale, has: map[*tensor.Tensor]bool{}, plain: plain}
		r.steps = append(r.steps, s)
	}
	s.gradients = append(s.gradients, r.watcher.step()...)
	for i, p := range params {
		if g := p.Grad(); g != nil {
			s.has[p] = true
			recorded := r.gradient(g, r.name(p, i), scale, inverse)
			recorded.wide = r.watcher.wide(p)
			recorded.rounded = r.watcher.float16 && !recorded.wide
			s.gradients = append(s.gradients, recorded)
		}
	}
	if r.learned != nil {
		r.learned()
		r.learned = nil
	}
}

func (r *Replay) gradient(g *tensor.Tensor, name string, scale float64, inverse float32) *gradient {
	values := g.Float32s()
	if inverse != 1 {
		for i := range values {
			values[i] *= inverse
		}
	}
	out := &gradient{magnitudes: r.counter.count(values), name: name, scale: scale}
	if r.keep {
		out.values = values
	}
	return out
}

func (r *Replay) name(p *tensor.Tensor, i int) string {
	if name, ok := r.names[p]; ok {
		return name
	}
	return fmt.Sprintf("parameter %d %s", i, text.Shape(p.Shape()))
}
