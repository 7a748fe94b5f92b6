package optim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/tensor"
)

// LBFGSOptions are the options of NewLBFGS. The zero value holds torch's defaults.
type LBFGSOptions struct {
	Iterations int     // largest number of iterations in a step; 20 by default
	Calls      int     // largest number of closure calls in a step; 5/4 of Iterations by default
	Gradient   float64 // largest element of the gradient at which to stop; 1e-7 by default
	Change     float64 // change of loss or parameters at which to stop; 1e-9 by default
	History    int     // number of steps that estimate the curvature; 100 by default
	// StrongWolfe searches each direction for a step that meets the strong Wolfe
	// conditions; the default step is the learning rate. It is line_search_fn
	// "strong_wolfe".
	StrongWolfe bool
	Maximize    bool // ascend instead of descending
}

// LBFGS is the limited-memory quasi-Newton method of J. Nocedal and S. Wright, "Numerical
// Optimization", algorithm 7.4, with or without a line search. It calls the closure several
// times per step. It is torch.optim.LBFGS.
type LBFGS struct {
	params []*tensor.Tensor
	lr     float64
	o      LBFGSOptions

	iterations, calls int            // totals since the start
	direction, last   *tensor.Tensor // direction and gradient of the last iteration
	length, scale     float64
	steps, changes    []*tensor.Tensor // differences of the parameters and of the gradient
	weights           []float64
}

// NewLBFGS returns an LBFGS of params with learning rate lr, 1 in torch by default. It
// panics like [NewSGD].
func NewLBFGS(params []*tensor.Tensor, lr float64, o LBFGSOptions) *LBFGS {
	NewSGD(params, lr) // checks them
	o.Iterations = cmp.Or(o.Iterations, 20)
	o.Calls = cmp.Or(o.Calls, o.Iterations*5/4)
	o.Gradient, o.Change = cmp.Or(o.Gradient, 1e-7), cmp.Or(o.Change, 1e-9)
	o.History = cmp.Or(o.History, 100)
	return &LBFGS{params: params, lr: lr, o: o, scale: 1}
}

// Params returns the parameters.
func (o *LBFGS) Params() []*tensor.Tensor { return slices.Clone(o.params) }

// LR returns the learning rate.
func (o *LBFGS) LR() float64 { return o.lr }

// SetLR sets the learning rate from the next StepWith on.
func (o *LBFGS) SetLR(lr float64) { o.lr = lr }

// ZeroGrad drops the gradients.
func (o *LBFGS) ZeroGrad() {
	for _, p := range o.params {
		p.ZeroGrad()
	}
}

// StepWith moves the parameters to reduce the loss that closure computes, and returns the
// first loss. closure drops the gradients, computes the loss and its gradients, and returns
// the loss.
func (o *LBFGS) StepWith(closure func() *tensor.Tensor) (first *tensor.Tensor) {
	check(closure != nil, "lbfgs", "the closure is nil; want a function that returns the loss")
	tensor.NoGrad(func() {
		evaluate := func() float64 {
			o.calls++
			var loss *tensor.Tensor
			tensor.EnableGrad(func() { loss = closure() })
			if first == nil {
				first = loss
			}
			if o.o.Maximize {
				return -loss.Item()
			}
			return loss.Item()
		}
		loss, g := evaluate(), o.gradient()
		calls := 1
		for i := 1; i <= o.o.Iterations && !(largest(g) <= o.o.Gradient); i++ { // NaN goes on and reaches its parameters, as in torch
			o.iterations++
			o.turn(g)
			o.last = g
			o.length = o.lr
			if o.iterations == 1 {
				o.length /= larger(1, g.Abs().Sum().Item())
			}
			slope := dot(g, o.direction)
			if slope > -o.o.Change {
				return
			}
			before := loss
			switch {
			case o.o.StrongWolfe:
				var n int
				loss, g, n = o.search(evaluate, loss, slope, g, o.o.Calls-calls)
				calls += n
			case i == o.o.Iterations:
				o.move(o.length)
				return
			default:
				o.move(o.length)
				loss, g = evaluate(), o.gradient()
				calls++
			}
			if i == o.o.Iterations || calls >= o.o.Calls || largest(g) <= o.o.Gradient ||
				largest(o.direction)*math.Abs(o.length) <= o.o.Change || math.Abs(loss-before) < o.o.Change {
				return
			}
		}
	})
	return first
}

func dot(x, y *tensor.Tensor) float64 { return x.Mul(y).Sum().Item() }

// turn sets the search direction from the gradient g.
func (o *LBFGS) turn(g *tensor.Tensor) {
	if o.iterations == 1 {
		o.direction = g.Neg()
		return
	}
	change, step := g.Sub(o.last), o.direction.MulScalar(o.length)
	if curvature := dot(change, step); curvature > 1e-10 {
		if len(o.steps) == o.o.History {
			o.steps, o.changes, o.weights = o.steps[1:], o.changes[1:], o.weights[1:]
		}
		o.steps, o.changes, o.weights = append(o.steps, step), append(o.changes, change), append(o.weights, 1/curvature)
		o.scale = curvature / dot(change, change)
	}
	d := g.Neg()
	share := make([]float64, len(o.steps))
	for i := len(o.steps) - 1; i >= 0; i-- {
		share[i] = dot(o.steps[i], d) * o.weights[i]
		d.AddScaledAssign(o.changes[i], -share[i])
	}
	d.MulScalarAssign(o.scale)
	for i, step := range o.steps {
		d.AddScaledAssign(step, share[i]-float64(dot(o.changes[i], d)*o.weights[i]))
	}
	o.direction = d
}

// gradient returns all gradients as one vector, with 0 for missing ones, negated to ascend.
func (o *LBFGS) gradient() *tensor.Tensor {
	var all []*tensor.Tensor
	for _, p := range o.params {
		g := p.Grad()
		if g == nil {
			g = tensor.ZerosLike(p)
		}
		all = append(all, g.Detach().Reshape(-1))
	}
	g := tensor.Cat(0, all...)
	if o.o.Maximize {
		return g.Neg()
	}
	return g
}

// move moves the parameters by length times the direction.
func (o *LBFGS) move(length float64) {
	at := 0
	for _, p := range o.params {
		n := p.Numel()
		p.AddScaledAssign(o.direction.Slice(0, at, at+n).Reshape(p.Shape()...), length)
		at += n
	}
}

func largest(x *tensor.Tensor) float64 {
	if x.Numel() == 0 {
		return 0
	}
	return x.Abs().Amax().Item()
}

// StateDict returns the state for a checkpoint, like [Optimizer.StateDict]: float64 numbers
// and tensors. d and prev_flat_grad are torch's names; old_stps and old_dirs have one entry
// for each remembered step.
func (o *LBFGS) StateDict() map[string]any {
	state := map[string]any{"lr": o.lr, "n_iter": float64(o.iterations), "func_evals": float64(o.calls), "t": o.length, "H_diag": o.scale}
	if o.direction != nil {
		state["d"], state["prev_flat_grad"] = o.direction, o.last
	}
	for i := range o.steps {
		state[fmt.Sprintf("old_stps.%d", i)], state[fmt.Sprintf("old_dirs.%d", i)] = o.steps[i], o.changes[i]
		state[fmt.Sprintf("ro.%d", i)] = o.weights[i]
	}
	return state
}

// LoadStateDict restores the result of StateDict, or PyTorch's state_dict. If a name is missing, it returns an error
// and changes nothing.
func (o *LBFGS) LoadStateDict(state map[string]any) error {
	if isNested(state) {
		state = o.flattened(state)
	}
	n := *o
	var missing []string
	number := func(name string) float64 {
		x, ok := state[name].(float64)
		if !ok {
			missing = append(missing, name)
		}
		return x
	}
	vector := func(name string) *tensor.Tensor {
		t, ok := state[name].(*tensor.Tensor)
		if !ok {
			missing = append(missing, name)
			return nil
		}
		return t.Clone()
	}
	n.lr, n.length, n.scale = number("lr"), number("t"), number("H_diag")
	n.iterations, n.calls = int(number("n_iter")), int(number("func_evals"))
	n.direction, n.last, n.steps, n.changes, n.weights = nil, nil, nil, nil, nil
	if n.iterations > 0 {
		n.direction, n.last = vector("d"), vector("prev_flat_grad")
	}
	for i := 0; state[fmt.Sprintf("ro.%d", i)] != nil; i++ {
		n.steps = append(n.steps, vector(fmt.Sprintf("old_stps.%d", i)))
		n.changes = append(n.changes, vector(fmt.Sprintf("old_dirs.%d", i)))
		n.weights = append(n.weights, number(fmt.Sprintf("ro.%d", i)))
	}
	if len(missing) > 0 {
		return fmt.Errorf("optim: load state dict of LBFGS: %s missing", strings.Join(missing, ", "))
	}
	*o = n
	return nil
}

// String returns the settings.
func (o *LBFGS) String() string {
	search := "None"
	if o.o.StrongWolfe {
		search = "strong_wolfe"
	}
	return fmt.Sprintf("LBFGS(lr=%v, max_iter=%d, max_eval=%d, history_size=%d, line_search_fn=%s, maximize=%s)", o.lr, o.o.Iterations, o.o.Calls, o.o.History, search, truth(o.o.Maximize))
}
