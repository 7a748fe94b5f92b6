package diagnose

import (
	"fmt"
	"strings"
	"sync"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Replay records the gradients of a run as they are without the loss scale, counted
// by magnitude, and answers from that what any scale and any format would have done
// to them, without running again:
//
//	rp := diagnose.NewReplay(net)
//	… train …
//	rp.Stop()
//	rp.WhatIf(1024, diagnose.Float16) // shares of zeros, subnormals and infinities
//	rp.Band(diagnose.Float16)         // the scales that lose nothing
//	rp.Trajectory(amp.InitScale(4096), amp.GrowthInterval(100))
//	rp.Chart(diagnose.Float16)
//
// What autocast keeps in float32 stays so: the gradients of a normalisation's weights
// are float32 in any format, and gradients of activations are recorded only where the
// policy has the activations in the low precision; of a run in float32 those count that
// the policy amp.Float16 would have there.
//
// It records by itself: where a scaler unscales the gradients of an optimizer, and
// where an optimizer steps without one.
//
// What a run in float16 has flushed to 0 at its own scale, and what has become
// infinite, is not known afterwards: it counts as zero, or as not finite. A run in
// float32 or bfloat16 tells the whole truth. And what-if has its limit at the next
// step: had the scale been another one and a step been skipped, the gradients after
// it would have been others.
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
	scale   float64 // that the loss of the step under way was multiplied by
	counter *counter
	watcher *watcher
	stop    []func()
	learned func() // stops the watcher, after the first step; nil then
}

// replayed is what is known of a step.
type replayed struct {
	gradients []*gradient
	scale     float64 // of the scaler, 1 without one
	after     float64 // the scale that Update left
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
	wide       bool      // it is float32 under autocast too
	scale      float64   // that it carried
	values     []float32 // unscaled; nil unless kept
}

// ReplayOption is what a Replay may be asked to do more.
type ReplayOption uint8

// The options.
const (
	// KeepGradients keeps the gradients themselves, so that answers are exact at
	// scales that are no powers of two too.
	KeepGradients ReplayOption = iota
	// WithActivations records the gradients of activations beside those of
	// parameters.
	WithActivations
)

// NewReplay begins to record the gradients of net, or of whatever is trained if net is
// nil.
func NewReplay(net any, options ...ReplayOption) *Replay {
	r := &Replay{net: net, scale: 1, names: map[*tensor.Tensor]string{}, counter: new(counter)}
	models := []any{}
	if net != nil {
		models = append(models, net)
	}
	r.watcher = &watcher{replay: r, names: trace.NewNames(models...), used: map[int]bool{}, low: map[int]bool{}, half: map[int]bool{}, made: map[int]string{}}
	for _, o := range options {
		switch o {
		case KeepGradients:
			r.keep = true
		case WithActivations:
			r.watcher.activations = true
		}
	}
	if net != nil {
		for _, n := range nn.NamedParameters(net) {
			r.names[n.Tensor] = n.Name
			r.params = append(r.params, n.Tensor)
		}
	}
	r.stop = []func(){amp.Observe(r.scaler), tensor.ObserveMarks(r.mark)}
	if watch := tensor.Observe(r.watcher.op); r.watcher.activations {
		r.stop = append(r.stop, watch)
	} else {
		r.learned = watch
	}
	return r
}

// Stop ends the recording; what has been recorded stays. Stopping twice does nothing.
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

// Record records the gradients that the net's parameters have now, after Backward and
// before they are changed or dropped, which carry scaler's scale: for loops whose
// optimizer is none that Replay sees step by itself. scaler may be nil. What is
// recorded already, because scaler has unscaled it, is not recorded twice.
func (r *Replay) Record(scaler *amp.GradScaler) {
	if r.net == nil {
		panic(&amp.Error{Code: "no_net", Call: "Replay.Record", Why: "the replay was made without a net", Cure: "give NewReplay the net whose gradients to record"})
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
func (r *Replay) scaler(e amp.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case amp.Scaled:
		r.scale = e.Before
	case amp.Unscaled:
		params := r.own(e.Optimizer.Params())
		if s := r.now(); len(params) > 0 && (s == nil || !s.hasAll(params)) {
			r.capture(params, e.Before, 1, false)
		}
	case amp.Stepped:
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
	case amp.Updated:
		r.scale = 1
		if s := r.now(); s != nil && !s.plain {
			s.after, s.closed = e.After, true
		}
	}
}

// mark listens to the steps of optimizers that no scaler steps.
func (r *Replay) mark(m tensor.Mark) {
	if m.Name != "optimizer.step" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	params := r.own(m.Tensors)
	inverse := float32(1 / r.scale) // someone has scaled, and steps without the scaler
	if fused, ok := m.By.(amp.FusedOptimizer); ok && fused.Fused() && r.scale != 1 {
		return // the scaler says when it is over
	}
	switch s := r.now(); {
	case len(params) == 0:
	case s == nil || s.plain && s.hasAny(params):
		r.capture(params, r.scale, inverse, r.scale == 1)
	case !s.hasAll(params):
		r.capture(params, r.scale, inverse, s.plain)
	}
}

// own returns those of params that are recorded and have a gradient.
func (r *Replay) own(params []*tensor.Tensor) []*tensor.Tensor {
	var list []*tensor.Tensor
	for _, p := range params {
		if _, ok := r.names[p]; (ok || r.net == nil) && p.Grad() != nil {
			list = append(list, p)
		}
	}
	return list
}

// now returns the step that is not closed, or nil.
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

// capture records gradients that inverse makes true ones, in a step of their own if
// the one under way has some of them.
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
	return fmt.Sprintf("parameter %d %s", i, strings.ReplaceAll(fmt.Sprint(p.Shape()), " ", ", "))
}
