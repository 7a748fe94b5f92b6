package diagnose

import (
	"math"
	"slices"
	"strings"
	"sync"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// tracker tracks non-finite values through a run.
type tracker struct {
	mu     sync.Mutex
	names  *trace.Places
	params []nn.Named

	results map[int]*result      // results of operations, by ID
	given   map[int]*NonFinite   // origins from before the run, by ID
	grads   map[int][]*NonFinite // origins in gradients, by the parameter's ID
	origins []*NonFinite
	looked  int
	exact   exactResults

	scale     float64
	weighed   bool // the loss of the next backward pass has been compared, before it was scaled
	steps     []amp.StepResult
	backwards int
}

// result is the result of an operation.
type result struct {
	Occurrence
	place    trace.Place
	in       []int        // IDs of the operands
	roots    []*NonFinite // origins of its inf and NaN
	behind   []*NonFinite // origins that it depends on
	gradient bool         // a scaled gradient, or computed from one
	combined bool         // computed from gradients by operations other than the loss's derivatives
	view     *result
}

func newTracker(net any) *tracker {
	a := &tracker{
		results: map[int]*result{}, given: map[int]*NonFinite{}, grads: map[int][]*NonFinite{}, scale: 1, exact: exactResults{of: map[int]*tensor.Tensor{}},
	}
	var models []any
	if net != nil {
		models = append(models, net)
		a.params = nn.NamedParameters(net)
		for _, p := range a.params {
			a.before(p.Tensor, "parameter", p.Name)
			if g := p.Tensor.Grad(); g != nil {
				a.before(g, "stale-gradient", p.Name)
			}
		}
		for _, b := range nn.NamedBuffers(net) {
			a.before(b.Tensor, "buffer", b.Name)
		}
	}
	a.names = trace.NewPlaces(models...)
	return a
}

// before records a tensor of the model that is not finite when the run begins.
func (a *tracker) before(t *tensor.Tensor, cause, name string) {
	if t.DType().IsFloat() {
		if c := t.Counts(); nonFinite(c) {
			b := &NonFinite{Place: trace.Place{Module: parent(name), Param: name}, In: t.DType(), Out: t.DType(), Shape: t.Shape(), counts: c, Infs: c.Infs, NaNs: c.NaNs, Largest: math.NaN(), Scale: 1, Cause: cause, Change: unchanged}
			a.given[t.ID()] = b
		}
	}
}

func parent(name string) string { return name[:max(strings.LastIndexByte(name, '.'), 0)] }

func nonFinite(c tensor.Counts) bool { return c.Infs+c.NaNs > 0 }

// watch starts observing and returns a function that stops.
func (a *tracker) watch() (stop func()) {
	list := []func(){observer{operation: a.operation, call: a.call, scaler: a.scaler}.watch()}
	for _, p := range a.params {
		id, name := p.Tensor.ID(), p.Name
		list = append(list, p.Tensor.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor {
			a.reached(id, name, g)
			return nil
		}))
	}
	return func() {
		for _, f := range list {
			f()
		}
	}
}

// operation observes an operation.
func (a *tracker) operation(e tensor.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	place := a.names.Find(e)
	if len(e.Operands) == 0 || !e.Out.DType.IsFloat() && !a.depends(e.Operands) {
		return
	}
	if !e.View && e.Out.DType.IsFloat() {
		a.looked++
	}
	r := &result{
		Occurrence: Occurrence{e.Op.Name, e.Of, e.Backward, place.Module, e.Source, e.Out.DType, e.Result.Counts()},
		place:      place, gradient: e.Backward,
	}
	var reached []*NonFinite // origins of inf and NaN in the operands
	for _, t := range e.Operands {
		r.in = append(r.in, t.ID())
		if of := a.results[t.ID()]; of != nil {
			reached, r.behind = union(reached, of.roots), union(r.behind, of.behind)
			r.gradient = r.gradient || of.gradient && !a.unscales(&e, of)
			r.combined = r.combined || of.combined || of.gradient && r.gradient && !e.Backward
			if e.View {
				r.view = of
			}
		}
	}
	if nonFinite(r.Counts) {
		r.roots = a.roots(&e, r)
		for _, b := range r.roots {
			if b.order < a.looked || b.Op == "" {
				b.spread(r.Occurrence)
			}
			b.updated = b.updated || e.InPlace && slices.ContainsFunc(a.params, func(p nn.Named) bool { return p.Tensor.ID() == e.Out.ID })
		}
	}
	if r.behind = union(r.behind, r.roots); len(r.behind) > 0 {
		a.exact.follow(&e, func(id int) bool { return a.results[id] != nil && len(a.results[id].behind) > 0 })
	}
	if len(reached) > 0 && len(r.roots) == 0 && !e.View {
		a.absorb(&e, r, reached)
	}
	a.results[e.Out.ID] = r
	forget(a.results, e.Out.ID)
	forget(a.exact.of, e.Out.ID)
	a.purpose(&e)
}

// depends reports whether one of the operands depends on an origin.
func (a *tracker) depends(operands []*tensor.Tensor) bool {
	return slices.ContainsFunc(operands, func(t *tensor.Tensor) bool { r := a.results[t.ID()]; return r != nil && len(r.behind) > 0 })
}

// union adds the origins of b to a.
func union(a, b []*NonFinite) []*NonFinite {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a[:len(a):len(a)], x)
		}
	}
	return a
}

// unscales reports whether a multiplication divides a gradient by the loss scale.
func (a *tracker) unscales(e *tensor.Event, of *result) bool {
	if a.scale == 1 || e.Backward || !strings.HasPrefix(e.Op.Name, "mul") && !strings.HasPrefix(e.Op.Name, "div") {
		return false
	}
	ratio := e.Result.Counts().AbsMax / of.Counts.AbsMax * a.scale
	return ratio > 0.99 && ratio < 1.01
}

// roots returns the origins behind a non-finite result: those of its operands, or a new one.
func (a *tracker) roots(e *tensor.Event, r *result) (roots []*NonFinite) {
	for i, t := range e.Operands {
		if !t.DType().IsFloat() {
			continue
		}
		of := a.results[t.ID()]
		if of == nil {
			of = a.outside(e, r, t, e.InPlace && i == 0)
		}
		for _, b := range of.roots {
			if !slices.Contains(roots, b) {
				roots = append(roots, b)
			}
		}
	}
	if len(roots) == 0 {
		b := a.origin(e, r)
		b.Before = a.lineage(r)
		a.classify(b, e, r)
		if b.Cause == "cast" {
			b.Grew = a.grew(a.results[e.Operands[0].ID()], b.limit)
		}
		a.add(b)
		roots = []*NonFinite{b}
	}
	return roots
}

// outside checks an operand that no operation of the run computed. An operand changed in place
// already holds the result.
func (a *tracker) outside(e *tensor.Event, r *result, t *tensor.Tensor, changed bool) *result {
	c := t.Counts()
	of := &result{Occurrence: Occurrence{DType: t.DType(), Counts: c}}
	if !nonFinite(c) {
		return of
	}
	of.roots = a.unseen(t)
	if of.roots == nil && e.InPlace && !changed {
		of.roots = a.grads[e.Out.ID] // an optimizer's own view of the gradient
	}
	for _, b := range a.given { // computed from a buffer, unobserved
		if of.roots == nil && !e.Backward && b.Cause == "buffer" && b.Module == r.Module {
			of.roots = []*NonFinite{b}
		}
	}
	if of.roots == nil && !changed {
		b := a.origin(e, r)
		b.counts, b.Infs, b.NaNs, b.Shape, b.Out = c, c.Infs, c.NaNs, t.Shape(), t.DType()
		if b.Cause = "data"; e.Backward { // a value recomputed by the derivative
			b.Cause = "derivative"
		}
		of.roots = []*NonFinite{b}
	}
	for _, b := range of.roots {
		if b.order == 0 {
			a.add(b)
		}
	}
	if of.behind = of.roots; !changed {
		a.results[t.ID()] = of
	}
	return of
}

// unseen returns the origins of a tensor that no operation of the run computed.
func (a *tracker) unseen(t *tensor.Tensor) []*NonFinite {
	if b := a.given[t.ID()]; b != nil {
		return []*NonFinite{b}
	}
	for _, p := range a.params {
		if g := p.Tensor.Grad(); g != nil && g.ID() == t.ID() {
			return a.grads[p.Tensor.ID()]
		}
	}
	return nil
}

func (a *tracker) origin(e *tensor.Event, r *result) *NonFinite {
	return &NonFinite{
		Op: e.Op.Name, Of: e.Of, Backward: e.Backward, Place: r.place, Source: e.Source, In: e.Computed, Out: e.Out.DType,
		Shape: e.Out.Shape, from: e.Operands[0].ID(), counts: r.Counts, Infs: r.Counts.Infs, NaNs: r.Counts.NaNs, Largest: math.NaN(), Scale: 1, Change: unchanged,
	}
}

func (a *tracker) add(b *NonFinite) {
	b.order = a.looked
	a.origins = append(a.origins, b)
}

// purpose records the operation for which autocast made a cast with an origin: the next one.
func (a *tracker) purpose(e *tensor.Event) {
	if e.InCast || len(a.origins) == 0 {
		return
	}
	b := a.origins[len(a.origins)-1]
	if b.Op != "cast" || b.For != "" || b.Backward {
		return
	}
	for _, c := range e.Casts {
		if of := a.results[e.Operands[c.Operand].ID()]; of != nil && slices.Contains(of.roots, b) {
			b.For = e.Op.Name
			if b.Module == "" {
				b.Module = a.results[e.Out.ID].Module
			}
		}
	}
}

// reached records the origins in a parameter's gradient.
func (a *tracker) reached(id int, name string, g *tensor.Tensor) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.results[g.ID()]
	if r == nil {
		return
	}
	a.compare(g, r, name)
	for _, b := range r.roots {
		if !slices.Contains(b.Params, name) {
			b.Params = append(b.Params, name)
		}
		if !slices.Contains(a.grads[id], b) {
			a.grads[id] = append(a.grads[id], b)
		}
	}
}

// call observes a call.
func (a *tracker) call(m call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch m.Name {
	case "backward":
		a.backwards++
		for _, t := range m.Tensors {
			if !a.weighed {
				a.weigh(t)
			}
			if r := a.results[t.ID()]; r != nil {
				for _, b := range r.roots {
					b.Loss = true
				}
			}
		}
		a.weighed = false
	case "zero_grad":
		for _, t := range m.Tensors {
			delete(a.grads, t.ID())
		}
	case "optimizer.step":
		a.exact = exactResults{of: map[int]*tensor.Tensor{}} // nothing of this step is compared any more
		for _, t := range m.Tensors {
			if g := t.Grad(); g != nil && a.given[g.ID()] != nil {
				a.reachedStale(a.given[g.ID()])
			}
		}
	}
}

// reachedStale records that a gradient of an earlier step is used.
func (a *tracker) reachedStale(b *NonFinite) {
	if b.order == 0 {
		a.add(b)
	}
	if !slices.Contains(b.Params, b.Param) {
		b.Params = append(b.Params, b.Param)
	}
}

// scaler observes a scaler event.
func (a *tracker) scaler(e amp.ScalerEvent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e.Kind {
	case amp.EventScale:
		a.scale, a.weighed = e.Before, true
		a.weigh(e.Loss)
		for _, b := range a.origins { // they arose in the product with the scale, or in its cast
			if len(e.Loss.Shape()) > 0 && (b.from == e.Loss.ID() || b.Op == "cast" && b.For == "mul" && b.order >= a.looked-1) {
				b.Scale, b.Cause = a.scale, "scaled-output"
			}
		}
	case amp.EventStep:
		if r := e.Result; r.FirstBadParam >= 0 {
			bad := e.Optimizer.Params()[r.FirstBadParam]
			for _, p := range a.params {
				if p.Tensor == bad {
					e.Result.Param = p.Name
				}
			}
		}
		a.steps = append(a.steps, e.Result)
	case amp.EventUnscale:
		for _, p := range e.Optimizer.Params() {
			if g := p.Grad(); g != nil && a.given[g.ID()] != nil {
				a.reachedStale(a.given[g.ID()])
			}
		}
	}
}
