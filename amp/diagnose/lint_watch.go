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

// watch is what a linter knows of a run. The checks of rules read it before it takes in
// what they look at.
type watch struct {
	mu       sync.Mutex // of findings
	findings []Finding

	run  sync.Mutex // held while something is looked at
	net  any
	cut  bool // a call was refused
	here spot // of what is looked at

	names      *trace.Names
	params     map[int]string // names of the model's parameters, by ID
	leaves     map[int]bool   // tensors that collect gradients, by ID
	nodes      map[int]node   // results of operations, by ID
	operations int
	backwards  int
	lower      map[tensor.DType]bool // dtypes that operations ran in under autocast
	halfNet    bool                  // parameters are float16
	optimizing bool                  // the last mark was an optimizer's step

	scalers  map[*amp.GradScaler]int // steps of each
	losses   map[int]bool            // that were scaled, by ID: whether by 1, which gives the loss itself
	scaling  bool                    // by something else than 1
	penalty  bool                    // Grad was called last, of a scaled loss
	carries  map[int]bool            // gradients that it gave, and what they were made of, by ID
	scale    float64
	scaled   bool                    // gradients carry a scale, but for those that are
	unscaled map[*tensor.Tensor]bool // parameters whose gradients were unscaled since the last update
	waiting  map[*tensor.Tensor]bool // those of them that no step has used
	before   map[*tensor.Tensor]use  // the gradients of those before a backward pass
	passAt   spot                    // of that pass
	plain    []spot                  // backward passes without a scale since the last step
	direct   *spot                   // an optimizer's step on scaled gradients, which a scaler may own up to
	due      *spot                   // a scaler's step without an update since
	skipped  int                     // steps of scalers
	shrunk   int                     // updates in a row that lowered the scale
	verdicts int                     // gradients unscaled, and updates
	byHand   bool                    // a loss was multiplied without a scaler

	steps    int            // of optimizers, skipped ones too
	taken    map[int]int    // steps of optimizers, by the ID of their first parameter
	passed   map[int]int    // of which skipped
	seen     map[any][2]int // both when a scheduler last moved
	used     map[int]use    // gradients that a step has used, by the parameter's ID
	over     *spot          // a backward pass that no step has used yet
	items    []spot         // values read one by one
	outside  []spot         // layers that ran outside regions
	trains   []spot         // backward passes
	casts    map[cast]int
	products []product
}

// spot is where something happened.
type spot struct{ module, source string }

// node is the result of an operation forward.
type node struct {
	op    string
	in    []int
	at    spot
	pass  int     // how many backward passes there had been
	same  bool    // it holds what its operand holds: a view, a cast
	graph bool    // it is recorded
	spent bool    // a backward pass has freed it
	gain  float64 // of a scalar that is a product: what its first operand was multiplied by
}

// use is a gradient when a step used it.
type use struct{ id, version int }

// cast is one of a weight: it should happen once in a region.
type cast struct {
	region  tensor.Caster
	id      int
	to      tensor.DType
	version int
}

func newWatch(net any) *watch {
	var models []any
	if net != nil {
		models = append(models, net)
	}
	w := &watch{
		net: net, names: trace.NewNames(models...), params: map[int]string{}, leaves: map[int]bool{}, nodes: map[int]node{}, lower: map[tensor.DType]bool{},
		scalers: map[*amp.GradScaler]int{}, losses: map[int]bool{}, unscaled: map[*tensor.Tensor]bool{}, waiting: map[*tensor.Tensor]bool{},
		taken: map[int]int{}, passed: map[int]int{}, seen: map[any][2]int{}, used: map[int]use{}, casts: map[cast]int{}, carries: map[int]bool{},
	}
	if net != nil {
		for _, p := range nn.NamedParameters(net) {
			w.params[p.Tensor.ID()] = p.Name
			w.halfNet = w.halfNet || p.Tensor.DType() == tensor.Float16
		}
	}
	return w
}

// operation takes in an operation.
func (w *watch) operation(e tensor.Event) {
	w.run.Lock()
	defer w.run.Unlock()
	w.here = spot{w.names.Find(e).Module, e.Source}
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
	w.nodes[e.Out.ID] = n
}

// mark takes in a call.
func (w *watch) mark(m tensor.Mark) {
	w.run.Lock()
	defer w.run.Unlock()
	w.here = spot{m.Module, m.Source}
	w.settle()
	for i, r := range rules {
		if r.mark != nil {
			if what := r.mark(w, &m); what != "" {
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
		if w.isScaled(root) {
			w.scaled = true
			w.before, w.passAt = map[*tensor.Tensor]use{}, here
			for p := range w.waiting {
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
	case "optimizer.step":
		if w.scaled && !w.anyUnscaled(m.Tensors) {
			w.direct = &here
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

// scaler takes in what a scaler did.
func (w *watch) scaler(e amp.Event) {
	w.run.Lock()
	defer w.run.Unlock()
	w.here = spot{source: e.Source}
	if e.Kind == amp.Stepped {
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
	case amp.Scaled:
		w.losses[e.Loss.ID()] = e.Before == 1
		w.scaling = w.scaling || e.Before != 1
		w.scale = e.Before
	case amp.Unscaled:
		w.verdicts++
		for _, p := range e.Optimizer.Params() {
			w.unscaled[p] = true
			if !e.Implicit {
				w.waiting[p] = true
			}
		}
	case amp.Stepped:
		w.scalers[e.Scaler]++
		w.due = &here
		params := e.Optimizer.Params()
		for _, p := range params {
			delete(w.waiting, p)
		}
		if e.Result.Skipped {
			w.skipped++
			w.passed[first(params)]++
			w.step(params)
		}
		w.over, w.plain = nil, nil
	case amp.Updated:
		w.due = nil
		w.verdicts++
		w.scaled = false
		clear(w.unscaled)
		clear(w.waiting)
		if w.shrunk++; e.After >= e.Before {
			w.shrunk = 0
		}
		w.scale = e.After
	}
}

// step takes in a step, taken or skipped, of an optimizer of params.
func (w *watch) step(params []*tensor.Tensor) {
	w.steps++
	w.over = nil
	for _, p := range params {
		if g := gradientNow(p); g.id != 0 {
			w.used[p.ID()] = g
		}
	}
}

// gradientNow returns which gradient a parameter has, and its version.
func gradientNow(p *tensor.Tensor) use {
	if g := p.Grad(); g != nil {
		return use{g.ID(), g.Version()}
	}
	return use{}
}

// settle looks at what an earlier call has led to by now.
func (w *watch) settle() {
	for i, r := range rules {
		if r.settle != nil {
			r.settle(w, func(at spot, what string) { w.find(&rules[i], at, "%s", what) })
		}
	}
	w.before, w.direct = nil, nil
}

// end looks at the run as a whole, if it is.
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

// origin returns the tensor that a view or a cast was made of.
func (w *watch) origin(id int) int {
	for {
		n, ok := w.nodes[id]
		if !ok || !n.same {
			return id
		}
		id = n.in[0]
	}
}

// maker returns the operation that computed a tensor, views and casts left out.
func (w *watch) maker(id int) node { return w.nodes[w.origin(id)] }

// isScaled reports whether a tensor comes from a loss that a scaler scaled.
func (w *watch) isScaled(t *tensor.Tensor) bool {
	if w.losses[t.ID()] {
		return true
	}
	ids := []int{t.ID()}
	for depth := 0; depth < 16 && len(ids) > 0; depth++ {
		var next []int
		for _, id := range ids {
			for _, in := range w.nodes[id].in {
				if _, ok := w.losses[in]; ok {
					return true
				}
				next = append(next, in)
			}
		}
		ids = next[:min(len(next), 256)]
	}
	return false
}

// spend notes that what a tensor was computed from has been freed.
func (w *watch) spend(id int) {
	ids := []int{id}
	for len(ids) > 0 {
		id, ids = ids[len(ids)-1], ids[:len(ids)-1]
		if n, ok := w.nodes[id]; ok && n.graph && !n.spent {
			n.spent = true
			w.nodes[id] = n
			ids = append(ids, n.in...)
		}
	}
}

// anyUnscaled reports whether a gradient of params was unscaled since the last update.
func (w *watch) anyUnscaled(params []*tensor.Tensor) bool {
	return slices.ContainsFunc(params, func(p *tensor.Tensor) bool { return w.unscaled[p] })
}

func first(params []*tensor.Tensor) int {
	if len(params) == 0 {
		return 0
	}
	return params[0].ID()
}

// on reports whether a policy casts.
func on(p amp.Policy) bool { return p != amp.Off }

// half reports whether d has 16 bits.
func half(d tensor.DType) bool { return d == tensor.Float16 || d == tensor.BFloat16 }
