package diagnose

import (
	"slices"
	"sync"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// watch is the linter's state for a run. Rules check an event before it is added to the state.
type watch struct {
	mu       sync.Mutex // guards findings
	findings []Finding

	run  sync.Mutex // held while an event is processed
	net  any
	cut  bool // a call was rejected
	here spot // place of the current event

	names      *trace.Places
	params     map[int]string // names of the model's parameters, by ID
	leaves     map[int]bool   // tensors that collect gradients, by ID
	nodes      map[int]node   // results of operations, by ID
	operations int
	backwards  int
	lower      map[tensor.DType]bool // dtypes that operations ran in under autocast
	halfNet    bool                  // parameters are float16
	optimizing bool                  // an optimizer is stepping

	scalers  map[*amp.GradScaler]int // number of steps of each scaler
	losses   map[int]bool            // scaled losses by ID: true if scaled by 1, which returns the loss itself
	scaling  bool                    // a loss was scaled by a factor other than 1
	penalty  bool                    // the last derivative call was Grad on a scaled loss
	carries  map[int]bool            // gradients that Grad returned, and their sources, by ID
	scale    float64
	scaled   bool                       // the last backward pass began at a scaled loss, and no Update followed
	grads    map[*tensor.Tensor]carried // what the gradients of known parameters carry
	before   map[*tensor.Tensor]use     // gradients of those before a backward pass from a scaled loss
	passAt   spot                       // place of that pass
	plain    []spot                     // unscaled backward passes since the last step
	direct   *spot                      // an optimizer's step on scaled gradients, possibly made by a scaler
	due      *spot                      // a scaler's step that is not yet followed by Update
	skipped  int                        // skipped steps of scalers
	bad      string                     // parameter whose gradient made the last one skip
	shrunk   int                        // consecutive updates that lowered the scale
	verdicts int                        // number of unscales and updates
	byHand   bool                       // a loss was multiplied without a scaler

	steps     int            // optimizer steps, including skipped ones
	taken     map[int]int    // steps of optimizers, by the ID of their first parameter
	passed    map[int]int    // skipped steps, by the same ID
	seen      map[any][2]int // both counts at a scheduler's last step
	used      map[int]use    // gradients used by a step, by the parameter's ID
	over      *spot          // a backward pass that no step has used yet
	items     []spot         // reads of single values
	outside   []spot         // layers that ran outside regions
	trains    []spot         // backward passes
	casts     map[cast]int
	products  []product
	epochs    map[any]int     // last epoch of each distributed sampler
	flooded   bool            // a reduction has overflowed
	skips     []float64       // steps that each rank skipped; nil for one rank
	scales    []float64       // loss scales of the ranks
	inference []suspicion     // operations in training mode under NoGrad
	gemms     gemmWatch       // products of layers, with their gradients
	averages  map[int]average // averages in half precision, by ID, and products that may decay one, by the negative ID of the result
}

// spot is the place of an event.
type spot struct {
	module, source string
	role           Role
}

// node is the result of a forward operation.
type node struct {
	op    string
	in    []int
	at    spot
	pass  int     // number of backward passes before it
	same  bool    // a view or a cast, with the values of its operand
	graph bool    // it is recorded in the graph
	spent bool    // a backward pass has freed it
	gain  float64 // for a scalar product, the factor of its first operand
}

// suspicion is a possible finding.
type suspicion struct {
	at   spot
	text string
}

// carried is what the gradient of a parameter carries.
type carried uint8

const (
	plainly  carried = iota // no loss scale
	byScale                 // the loss scale
	unscaled                // no loss scale, because Unscale divided it, and no step has used it
)

// use identifies a gradient at the time a step used it.
type use struct{ id, version int }

// cast is a cast of a weight, which should happen once in a region.
type cast struct {
	region  plumbing.Caster[tensor.Info, *tensor.Tensor]
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
		net: net, names: trace.NewPlaces(models...), params: map[int]string{}, leaves: map[int]bool{}, nodes: map[int]node{}, lower: map[tensor.DType]bool{},
		scalers: map[*amp.GradScaler]int{}, losses: map[int]bool{}, grads: map[*tensor.Tensor]carried{},
		taken: map[int]int{}, passed: map[int]int{}, seen: map[any][2]int{}, used: map[int]use{}, casts: map[cast]int{}, carries: map[int]bool{}, epochs: map[any]int{}, averages: map[int]average{},
	}
	w.gemms.arrived = w.gradientArrived
	if net != nil {
		for _, p := range nn.NamedParameters(net) {
			w.params[p.Tensor.ID()] = p.Name
			w.grads[p.Tensor] = plainly
			w.halfNet = w.halfNet || p.Tensor.DType() == tensor.Float16
		}
	}
	return w
}

// origin returns the source tensor of a view or a cast.
func (w *watch) origin(id int) int {
	for {
		n, ok := w.nodes[id]
		if !ok || !n.same {
			return id
		}
		id = n.in[0]
	}
}

// maker returns the operation that computed a tensor, ignoring views and casts.
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

// spend records that the graph of a tensor has been freed.
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

// carry reports whether the gradient of one of params carries the loss scale. Those of parameters that no call has had yet do if the
// last backward pass began at a scaled loss.
func (w *watch) carry(params []*tensor.Tensor) bool {
	return slices.ContainsFunc(params, func(p *tensor.Tensor) bool {
		c, known := w.grads[p]
		return p.Grad() != nil && (c == byScale || !known && w.scaled)
	})
}

// know notes parameters, before the next backward pass.
func (w *watch) know(params []*tensor.Tensor) {
	for _, p := range params {
		if _, known := w.grads[p]; known {
			continue
		}
		w.grads[p] = plainly
		if w.scaled && p.Grad() != nil {
			w.grads[p] = byScale
		}
	}
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
