package diagnose

import (
	"slices"
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
	bad      string                  // parameter whose gradient made the last one skip
	shrunk   int                     // updates in a row that lowered the scale
	verdicts int                     // gradients unscaled, and updates
	byHand   bool                    // a loss was multiplied without a scaler

	steps     int            // of optimizers, skipped ones too
	taken     map[int]int    // steps of optimizers, by the ID of their first parameter
	passed    map[int]int    // of which skipped
	seen      map[any][2]int // both when a scheduler last moved
	used      map[int]use    // gradients that a step has used, by the parameter's ID
	over      *spot          // a backward pass that no step has used yet
	items     []spot         // values read one by one
	outside   []spot         // layers that ran outside regions
	trains    []spot         // backward passes
	casts     map[cast]int
	products  []product
	inference []suspicion // what ran as in training under NoGrad
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

// suspicion is something that may be a finding.
type suspicion struct {
	at   spot
	text string
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
