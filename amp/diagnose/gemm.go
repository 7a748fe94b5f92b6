package diagnose

import (
	"slices"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
)

// Role is one of the three products of a layer in a training step.
type Role string

// The roles. The first is also called fprop, the others dgrad and wgrad.
const (
	Forward        Role = "forward"
	InputGradient  Role = "gradient of the input"
	WeightGradient Role = "gradient of the weight"
)

// gemm is the product of a layer: of an input, its first operand, and a weight, its second.
type gemm struct {
	op       string
	custom   bool // a user's function
	at       spot
	result   int // ID
	operands []*tensor.Tensor
	versions []int
	y        []int          // shape of the result
	dy       *tensor.Tensor // gradient of the result, until the gradients of both operands have arrived
	left     int            // gradients of operands that have not arrived
}

// linear reports whether g is a linear layer, or a user's function with its shapes: x (…, k), w (n, k) and y (…, n).
func (g *gemm) linear() bool {
	if g.op != "linear" && g.op != "quantized_linear" && !g.custom {
		return false
	}
	x, w := g.operands[0].Shape(), g.operands[1].Shape()
	return len(w) == 2 && len(x) > 0 && len(g.y) == len(x) && x[len(x)-1] == w[1] && g.y[len(g.y)-1] == w[0]
}

// matrices reports whether g is a product of matrices: a (…, m, k), b (…, k, n) and y (…, m, n), with the same number of matrices in both.
func (g *gemm) matrices() bool {
	a, b := g.operands[0].Shape(), g.operands[1].Shape()
	switch g.op {
	case "matmul", "mm", "bmm":
		return len(a) >= 2 && len(a) == len(b) && slices.Equal(a[:len(a)-2], b[:len(b)-2])
	}
	return false
}

// unchanged reports whether the operands have their values of the forward pass.
func (g *gemm) unchanged() bool {
	for i, t := range g.operands {
		if t.Version() != g.versions[i] {
			return false
		}
	}
	return true
}

// gemmWatch follows the products of layers to their gradients. Its functions, which may be nil, run on the goroutine of the operation.
type gemmWatch struct {
	begun   func(g *gemm, e *tensor.Event)                  // called after the product
	known   func(g *gemm)                                   // called when dy is known
	arrived func(g *gemm, operand int, grad *tensor.Tensor) // called with the complete gradient of an operand, after that of the result

	pending map[int]*gemm // products whose results no operation has read, by ID
	held    *gemm
	event   tensor.Event // of held
	hooks   []func()
}

// operation observes an operation.
func (w *gemmWatch) operation(e *tensor.Event, place trace.Place) {
	if e.Backward || e.InPlace {
		return
	}
	// A recipe's layer is two products of the same operands: that of rounded operands, which is not recorded, and the layer with its derivatives.
	product := isGemm(e)
	if w.held != nil {
		layer := product && e.Op.Name == "quantized_linear" && e.In[1].ID == w.event.In[1].ID
		used := slices.ContainsFunc(e.Operands, func(t *tensor.Tensor) bool { return t.ID() == w.held.result && t.RequiresGrad() })
		if !layer && (used || product) {
			w.begin()
		}
		if layer || used || product {
			w.held = nil
		}
	}
	w.read(e)
	if !product {
		return
	}
	g := &gemm{op: e.Op.Name, custom: e.Op.Torch == "torch.autograd.Function", at: spot{module: place.Module, source: e.Source}, result: e.Out.ID, y: e.Out.Shape, operands: slices.Clone(e.Operands[:2])}
	for _, t := range g.operands {
		g.versions = append(g.versions, t.Version())
	}
	w.held, w.event = g, *e
	if e.Op.Name != "linear" {
		w.begin()
		w.held = nil
	}
}

// isGemm reports whether an operation is the product of a layer, or a user's function of several operands, which may contain one.
func isGemm(e *tensor.Event) bool {
	if len(e.Operands) < 2 || !e.Operands[0].DType().IsFloat() || !e.Operands[1].DType().IsFloat() || !e.Out.DType.IsFloat() || e.InCast || e.View {
		return false
	}
	return e.Op.Name == "quantized_linear" || amp.Listed(e.Op) == amp.LowerPrecision || e.Op.Torch == "torch.autograd.Function"
}

// begin follows the product that is held.
func (w *gemmWatch) begin() {
	g := w.held
	if w.begun != nil {
		w.begun(g, &w.event)
	}
	if !tensor.IsGradEnabled() || w.known == nil && w.arrived == nil {
		return
	}
	for i, t := range g.operands {
		if !t.RequiresGrad() {
			continue
		}
		if g.left++; w.arrived != nil {
			w.hooks = append(w.hooks, t.RegisterHook(func(grad *tensor.Tensor) *tensor.Tensor {
				if g.dy != nil && g.unchanged() {
					tensor.Unobserved(func() { w.arrived(g, i, grad) })
				}
				if g.left--; g.left == 0 {
					g.dy = nil
				}
				return nil
			}))
		}
	}
	if g.left > 0 {
		if w.pending == nil {
			w.pending = map[int]*gemm{}
		}
		w.pending[g.result] = g
	}
}

// read hooks the result of a product when an operation reads it. It is not on the tape before.
func (w *gemmWatch) read(e *tensor.Event) {
	for _, t := range e.Operands {
		g := w.pending[t.ID()]
		if g == nil || !t.RequiresGrad() {
			continue
		}
		delete(w.pending, t.ID())
		w.hooks = append(w.hooks, t.RegisterHook(func(grad *tensor.Tensor) *tensor.Tensor {
			if g.left > 0 {
				tensor.Unobserved(func() {
					if g.dy = grad.Detach().Clone(); w.known != nil && g.unchanged() {
						w.known(g)
					}
				})
			}
			return nil
		}))
	}
}

// stop removes the hooks.
func (w *gemmWatch) stop() {
	if w.held != nil {
		w.begin()
		w.held = nil
	}
	for _, remove := range w.hooks {
		remove()
	}
	w.hooks, w.pending = nil, nil
}
