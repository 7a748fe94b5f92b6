package diagnose

import (
	"maps"
	"math"
	"strings"

	"halfnote/amp"
	"halfnote/tensor"
)

// maxNodes is the number of results kept; beyond it, those of earlier backward passes are
// dropped.
const maxNodes = 1 << 18

// operation observes an operation.
func (w *watch) operation(e tensor.Event) {
	w.run.Lock()
	defer w.run.Unlock()
	place := w.names.Find(e)
	w.here = spot{module: place.Module, source: e.Source}
	w.gemms.operation(&e, place)
	if !e.View && !e.InCast {
		w.operations++
	}
	for i, r := range rules {
		if r.op != nil {
			if what := r.op(w, &e); what != "" {
				w.find(&rules[i], w.here, "%s", what)
			}
		}
	}
	w.zeroResult(&e)
	if e.Backward && w.penalty {
		w.carries[e.Out.ID] = true
	}
	if e.Backward || e.InPlace {
		return
	}
	if on(amp.Active()) && !e.View && !e.InCast {
		w.lower[e.Computed] = true
	}
	n := node{op: e.Op.Name, at: w.here, pass: w.backwards, same: e.View || e.Op.Name == "cast" || e.Op.Name == "clone"}
	for i, m := range e.In {
		n.in = append(n.in, m.ID)
		if t := e.Operands[i]; t.RequiresGrad() {
			n.graph = n.graph || tensor.IsGradEnabled()
			if t.IsLeaf() && t.ID() == m.ID {
				w.leaves[m.ID] = true
			}
		}
	}
	if strings.HasPrefix(n.op, "mul") && len(e.Out.Shape) == 0 {
		n.gain = math.Abs(e.Result.Float64s()[0] / e.Operands[0].Float64s()[0])
	}
	if len(w.nodes) >= maxNodes {
		maps.DeleteFunc(w.nodes, func(_ int, n node) bool { return n.pass < w.backwards-1 })
	}
	w.nodes[e.Out.ID] = n
}

// call observes a call.
func (w *watch) call(m call) {
	w.run.Lock()
	defer w.run.Unlock()
	if m.Name == "optimizer.stepped" { // perhaps by a scaler, whose event follows
		w.optimizing = false
		return
	}
	w.here = spot{module: m.Module, source: m.Source}
	w.settle()
	if strings.HasPrefix(m.Name, "clip_grad_") || m.Name == "zero_grad" || m.Name == "optimizer.step" {
		w.know(m.Tensors)
	}
	for i, r := range rules {
		if r.call != nil {
			if what := r.call(w, &m); what != "" {
				w.find(&rules[i], w.here, "%s", what)
			}
		}
	}
	w.optimizing = m.Name == "optimizer.step"
	here := w.here
	switch m.Name {
	case "grad":
		w.penalty = w.scaling && w.isScaled(m.Tensors[0])
	case "backward":
		w.penalty = false
		clear(w.carries)
		w.backwards++
		w.trains = append(w.trains, here)
		w.over = &here
		root := m.Tensors[0]
		if w.scaled = w.isScaled(root); w.scaled {
			w.before, w.passAt = map[*tensor.Tensor]use{}, here
			for p := range w.grads {
				w.before[p] = gradientNow(p)
			}
		} else {
			w.plain = append(w.plain, here)
			w.byHand = w.byHand || w.nodes[root.ID()].gain >= 8
		}
		if m.Number == 0 {
			w.spend(root.ID())
		}
	case "zero_grad":
		w.over = nil
		w.plain = nil
		w.set(m.Tensors, plainly)
	case "optimizer.step":
		if w.carry(m.Tensors) {
			w.direct = &here
		} else {
			w.set(m.Tensors, plainly)
		}
		w.step(m.Tensors)
		w.taken[first(m.Tensors)]++
	case "lr_scheduler.step":
		id := first(m.Tensors)
		w.seen[m.By] = [2]int{w.taken[id], w.passed[id]}
	case "item":
		if !strings.Contains(m.Module, "clip_grad_norm_") {
			w.items = append(w.items, here)
		}
	}
}

// scaler observes a scaler event.
func (w *watch) scaler(e amp.ScalerEvent) {
	w.run.Lock()
	defer w.run.Unlock()
	w.here = spot{source: e.Source}
	if e.Kind == amp.EventStep {
		w.direct = nil
	}
	w.settle()
	for i, r := range rules {
		if r.scaler != nil {
			if what := r.scaler(w, &e); what != "" {
				w.find(&rules[i], w.here, "%s", what)
			}
		}
	}
	here := w.here
	switch e.Kind {
	case amp.EventScale:
		w.losses[e.Loss.ID()] = e.Before == 1
		w.scaling = w.scaling || e.Before != 1
		w.scale = e.Before
	case amp.EventUnscale:
		w.verdicts++
		now := unscaled
		if e.Implicit {
			now = plainly
		}
		w.set(e.Optimizer.Params(), now)
	case amp.EventStep:
		w.scalers[e.Scaler]++
		w.due = &here
		params := e.Optimizer.Params()
		w.set(params, plainly)
		if e.Result.Skipped {
			w.skipped++
			if i := e.Result.FirstBadParam; i >= 0 && i < len(params) {
				w.bad = w.named(params[i])
			}
			w.passed[first(params)]++
			w.step(params)
		}
		w.over, w.plain = nil, nil
	case amp.EventUpdate:
		w.due = nil
		w.verdicts++
		w.scaled = false
		if w.shrunk++; e.After >= e.Before {
			w.shrunk = 0
		}
		w.scale = e.After
	}
}

// set notes what the gradients of params carry.
func (w *watch) set(params []*tensor.Tensor, c carried) {
	for _, p := range params {
		w.grads[p] = c
	}
}

// step observes a step, taken or skipped, of an optimizer of params.
func (w *watch) step(params []*tensor.Tensor) {
	w.steps++
	w.over = nil
	for _, p := range params {
		if g := gradientNow(p); g.id != 0 {
			w.used[p.ID()] = g
		}
	}
}

// gradientNow returns a parameter's gradient and its version.
func gradientNow(p *tensor.Tensor) use {
	if g := p.Grad(); g != nil {
		return use{g.ID(), g.Version()}
	}
	return use{}
}

// settle checks the effects of an earlier call.
func (w *watch) settle() {
	for i, r := range rules {
		if r.settle != nil {
			r.settle(w, func(at spot, what string) { w.find(&rules[i], at, "%s", what) })
		}
	}
	for p, before := range w.before {
		switch {
		case gradientNow(p) == before:
		case w.grads[p] == unscaled: // a mixture, which is a finding
			w.grads[p] = plainly
		default:
			w.grads[p] = byScale
		}
	}
	w.before, w.direct, w.inference = nil, nil, nil
}

// end checks the whole run, if it completed.
func (w *watch) end() {
	w.run.Lock()
	defer w.run.Unlock()
	w.settle()
	for i, r := range rules {
		if r.end != nil && !w.cut {
			r.end(w, func(at spot, what string) { w.find(&rules[i], at, "%s", what) })
		}
	}
}
