package fp8

import (
	"fmt"
	"math"
	"strings"

	"halfnote/amp"
	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/nn"
)

// Scaler runs regions in FP8 and keeps the scales of tensors from step to step: use one for a
// whole run, on one goroutine. It is transformer_engine.pytorch.autocast with the state of its
// modules.
type Scaler struct {
	// Policy applies to operations other than products; BFloat16 by default.
	Policy amp.Policy

	recipe Recipe
	names  map[*tensor.Tensor]string // names of layers, by weight
	roles  map[string]*role
	order  []*role
	late   bool // gradient scales have yet to be updated
}

// New returns a scaler for recipe. Layers are named after the parameters of models; others are
// numbered.
func New(recipe Recipe, models ...any) *Scaler {
	f := &Scaler{Policy: amp.BFloat16, recipe: recipe, names: map[*tensor.Tensor]string{}, roles: map[string]*role{}}
	for _, m := range models {
		for _, n := range nn.NamedParameters(m) {
			f.names[n.Tensor] = strings.TrimSuffix(strings.TrimSuffix(n.Name, "weight"), ".")
		}
	}
	return f
}

// Autocast runs body with products in FP8. It updates the scales of operands when body returns,
// and those of gradients at the next call.
func (f *Scaler) Autocast(body func()) {
	f.settle()
	r := &region{autocast: regions.NewRegion(f.Policy).(autocast), scaler: f, counts: map[string]int{}}
	casting.With(r, body)
	f.update(false)
}

// update updates the scales of gradients, or of operands, that have been converted.
func (f *Scaler) update(gradients bool) {
	for _, r := range f.order {
		if r.seen && r.gradient == gradients {
			r.scale = f.recipe.next(r.format, r.history, r.scale)
			copy(r.history[1:], r.history)
			r.history[0] = 0
			r.seen = false
		}
	}
}

// products are the operations that run in FP8: the indices of the operands and of the bias,
// -1 for none, and the number of dimensions that follow the bias's own.
var products = map[string]struct{ a, b, bias, after int }{
	"bmm":    {0, 1, -1, 0},
	"conv1d": {0, 1, 2, 1},
	"conv2d": {0, 1, 2, 2},
	"conv3d": {0, 1, 2, 3},
	"linear": {0, 1, 2, 0},
	"matmul": {0, 1, -1, 0},
	"mm":     {0, 1, -1, 0},
}

var (
	casting = tensor.Internal(plumbing.Token{}).Casting
	regions = amp.Internal(plumbing.Token{})
)

// autocast is the caster of a region of package amp.
type autocast interface {
	plumbing.Caster[tensor.Info, *tensor.Tensor]
	plumbing.Renewer[tensor.Info, *tensor.Tensor]
	plumbing.Decomposer[tensor.Info, *tensor.Tensor]
	plumbing.ModuleReader[tensor.Info, *tensor.Tensor]
	fmt.Stringer
	Policy() amp.Policy
}

// region is an open region of Scaler.Autocast. It casts products, and leaves other operations to
// autocast.
type region struct {
	autocast
	scaler *Scaler
	counts map[string]int // numbers of products without a named weight
	grads  *role          // gradient role of the running product, or nil
}

// Autocast returns the region that r extends, for package amp.
func (r *region) Autocast() plumbing.Caster[tensor.Info, *tensor.Tensor] { return r.autocast }

// Cast implements plumbing.Caster.
func (r *region) Cast(op tensor.Info, in []*tensor.Tensor) []*tensor.Tensor {
	p, ok := products[op.Name]
	if !ok || !r.Policy().IsEnabled() || !eligible(in[p.a]) || !eligible(in[p.b]) {
		return r.autocast.Cast(op, in)
	}
	layer := r.named(op.Name, in[p.b])
	out := make([]*tensor.Tensor, len(in))
	copy(out, in)
	casting.With(nil, func() {
		out[p.a] = r.scaler.role(layer, "input").quantize(in[p.a])
		out[p.b] = r.scaler.role(layer, "weight").quantize(in[p.b])
	})
	r.grads = r.scaler.role(layer, "grad")
	if p.bias > 0 && p.bias < len(in) {
		// Result adds it: its gradient is that of the result before rounding.
		out[p.bias] = tensor.Zeros(in[p.bias].Shape()...).ToDevice(in[p.bias].Device())
	}
	return out
}

// Renew implements plumbing.Renewer.
func (r *region) Renew() plumbing.Caster[tensor.Info, *tensor.Tensor] {
	return &region{autocast: r.autocast.Renew().(autocast), scaler: r.scaler, counts: r.counts}
}

// eligible reports whether t can be converted: floating point, but not float64.
func eligible(t *tensor.Tensor) bool {
	switch t.DType() {
	case tensor.Float16, tensor.BFloat16, tensor.Float32:
		return true
	}
	return false
}

// named returns the name of the layer that a product with the operand w belongs to.
func (r *region) named(op string, w *tensor.Tensor) string {
	if name, ok := r.scaler.names[w]; ok {
		return name
	}
	name := fmt.Sprintf("%s.%d", op, r.counts[op])
	r.counts[op]++
	return name
}

// Result implements plumbing.ResultCaster.
func (r *region) Result(op tensor.Info, in []*tensor.Tensor, y *tensor.Tensor) *tensor.Tensor {
	if r.grads == nil {
		return y
	}
	p, grads := products[op.Name], r.grads
	r.grads = nil
	casting.With(nil, func() {
		if y.RequiresGrad() {
			y.RegisterHook(func(dy *tensor.Tensor) *tensor.Tensor {
				r.scaler.late = true
				return grads.quantize(dy)
			})
		}
		if p.bias > 0 && p.bias < len(in) {
			bias := in[p.bias].To(r.Policy().DType()).Float()
			for range p.after {
				bias = bias.Unsqueeze(-1)
			}
			y = y.Add(bias)
		}
		y = y.To(r.Policy().DType())
	})
	return y
}

// role is a tensor of a layer, which has its own scale: an input, a weight or a gradient.
type role struct {
	name     string // "fc1.input", "fc1.weight", "fc1.grad"
	gradient bool
	recipe   Recipe
	format   tensor.DType
	scale    float32   // scale for the next conversion
	history  []float32 // largest magnitudes, newest first
	seen     bool      // converted in this step
	last     Scale     // statistics of the last conversion
}

// role returns a layer's role, created at first use.
func (f *Scaler) role(layer, what string) *role {
	name := strings.TrimPrefix(layer+"."+what, ".")
	r := f.roles[name]
	if r == nil {
		gradient := what == "grad"
		r = &role{name: name, gradient: gradient, recipe: f.recipe, format: f.recipe.format(gradient), scale: 1}
		if err := driver.Room(f.recipe.length(), 4); err != nil {
			panic(&amp.Error{Code: "history_too_long", Call: "fp8.Autocast", Why: fmt.Sprintf("a history of %d steps", f.recipe.length()), Cure: err.Error()})
		}
		r.history = make([]float32, f.recipe.length())
		r.last = Scale{Name: name, Format: r.format, Scale: 1}
		f.roles[name] = r
		f.order = append(f.order, r)
	}
	return r
}

// quantize returns t rounded to the format, as float32. It records the largest magnitude for
// later scales if gradients are being recorded or t is a gradient.
func (r *role) quantize(t *tensor.Tensor) *tensor.Tensor {
	c := t.Counts()
	amax := float32(0)
	switch {
	case c.NaNs > 0:
		amax = float32(math.NaN())
	case c.Infs > 0:
		amax = float32(math.Inf(1))
	case c.AbsMax > 0:
		amax = float32(c.AbsMax)
	}
	scale := r.recipe.now(r.format, amax, r.scale)
	if r.gradient || tensor.IsGradEnabled() {
		if !(amax <= r.history[0]) {
			r.history[0] = amax
		}
		r.seen = true
	}
	y := tensor.Apply(round{r.format, scale}, t)
	r.last = Scale{
		Name: r.name, Format: r.format, Scale: float64(scale), AMax: float64(amax), Count: c.Count,
		Flushed: y.Counts().Zeros - c.Zeros,
	}
	if limit := tensor.FInfo(r.format).Max; float64(amax*scale) > limit {
		over := t.Detach().Float().MulScalar(float64(scale)).Abs().AddScalar(-limit).ReLU()
		r.last.Saturated = c.Count - over.Counts().Zeros
	}
	return y
}

// round rounds a tensor to a format: clamp(scale x) is rounded and divided by the scale. Its
// derivative is that of the identity, as in hardware.
type round struct {
	to    tensor.DType
	scale float32
}

func (round) Info() tensor.Info {
	return tensor.Info{Name: "fp8_quantize", Torch: "transformer_engine.pytorch.Float8Quantizer", Saved: tensor.SavesNothing}
}

func (q round) Forward(in []*tensor.Tensor) *tensor.Tensor {
	limit := tensor.FInfo(q.to).Max
	return in[0].Float().MulScalar(float64(q.scale)).Clamp(-limit, limit).To(q.to).Float().MulScalar(float64(1 / q.scale))
}

func (round) VJP(dy, _ *tensor.Tensor, _ []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy}
}
