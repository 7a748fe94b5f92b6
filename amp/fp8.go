package amp

import (
	"fmt"
	"math"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/nn"
)

// FP8 computes matrix products and convolutions as 8-bit floating-point hardware does: both
// operands are scaled, saturated and rounded to E4M3, products are summed in float32, and the
// result is rounded to the low-precision dtype of [FP8.Policy], commonly bfloat16. In the
// backward pass, the result's gradient is first rounded to E5M2 and then multiplied by the
// rounded operands. Everything else runs under the policy. FP8 is an experiment: it has the
// numerical results of FP8 hardware, but not the speed.
//
//	fp8 := amp.NewFP8(amp.DelayedScaling{}, net)
//	fp8.Autocast(func() { loss = nn.MSELoss(net.Forward(x), y) })
//	loss.Backward()
//	fp8 // shows the scale and the rounding losses of each tensor
//
// It keeps the scales from step to step: use one FP8 for a whole run, on one goroutine. It is
// transformer_engine.pytorch.autocast with the state of its modules.
type FP8 struct {
	// Policy applies to operations other than products; BFloat16 by default.
	Policy Policy

	recipe FP8Recipe
	names  map[*tensor.Tensor]string // names of layers, by weight
	roles  map[string]*fp8Role
	order  []*fp8Role
	late   bool // gradient scales have yet to be updated
}

// NewFP8 returns an FP8 for recipe. Layers are named after the parameters of models; others are
// numbered.
func NewFP8(recipe FP8Recipe, models ...any) *FP8 {
	f := &FP8{Policy: BFloat16, recipe: recipe, names: map[*tensor.Tensor]string{}, roles: map[string]*fp8Role{}}
	for _, m := range models {
		for _, n := range nn.NamedParameters(m) {
			f.names[n.Tensor] = strings.TrimSuffix(strings.TrimSuffix(n.Name, "weight"), ".")
		}
	}
	return f
}

// Autocast runs body with products in FP8. It updates the scales of operands when body returns,
// and those of gradients at the next call.
func (f *FP8) Autocast(body func()) {
	f.settle()
	r := &fp8Region{caster: newCaster(f.Policy), fp8: f, counts: map[string]int{}}
	tensor.WithCaster(r, body)
	f.update(false)
}

// update updates the scales of gradients, or of operands, that have been converted.
func (f *FP8) update(gradients bool) {
	for _, r := range f.order {
		if r.seen && r.gradient == gradients {
			r.scale = f.recipe.next(r.format, r.history, r.scale)
			copy(r.history[1:], r.history)
			r.history[0] = 0
			r.seen = false
		}
	}
}

// fp8Products are the operations that run in FP8: the indices of the operands and of the bias,
// -1 for none, and the number of dimensions that follow the bias's own.
var fp8Products = map[string]struct{ a, b, bias, after int }{
	"bmm":    {0, 1, -1, 0},
	"conv1d": {0, 1, 2, 1},
	"conv2d": {0, 1, 2, 2},
	"conv3d": {0, 1, 2, 3},
	"linear": {0, 1, 2, 0},
	"matmul": {0, 1, -1, 0},
	"mm":     {0, 1, -1, 0},
}

// fp8Region is an open FP8.Autocast.
type fp8Region struct {
	*caster
	fp8    *FP8
	counts map[string]int // numbers of products without a named weight
	grads  *fp8Role       // gradient role of the running product, or nil
}

// Cast implements tensor.Caster.
func (r *fp8Region) Cast(op tensor.Info, in []*tensor.Tensor) []*tensor.Tensor {
	p, ok := fp8Products[op.Name]
	if !ok || !r.policy.on || !eligible(in[p.a]) || !eligible(in[p.b]) {
		return r.caster.Cast(op, in)
	}
	layer := r.named(op.Name, in[p.b])
	out := make([]*tensor.Tensor, len(in))
	copy(out, in)
	tensor.WithCaster(nil, func() {
		out[p.a] = r.fp8.role(layer, "input").quantize(in[p.a])
		out[p.b] = r.fp8.role(layer, "weight").quantize(in[p.b])
	})
	r.grads = r.fp8.role(layer, "grad")
	if p.bias > 0 && p.bias < len(in) {
		// Result adds it: its gradient is that of the result before rounding.
		out[p.bias] = tensor.Zeros(in[p.bias].Shape()...).ToDevice(in[p.bias].Device())
	}
	return out
}

// Renew implements tensor.Renewer.
func (r *fp8Region) Renew() tensor.Caster {
	return &fp8Region{caster: &caster{r.policy, newCache()}, fp8: r.fp8, counts: r.counts}
}

// named returns the name of the layer that a product with the operand w belongs to.
func (r *fp8Region) named(op string, w *tensor.Tensor) string {
	if name, ok := r.fp8.names[w]; ok {
		return name
	}
	name := fmt.Sprintf("%s.%d", op, r.counts[op])
	r.counts[op]++
	return name
}

// Result implements tensor.ResultCaster.
func (r *fp8Region) Result(op tensor.Info, in []*tensor.Tensor, y *tensor.Tensor) *tensor.Tensor {
	if r.grads == nil {
		return y
	}
	p, grads := fp8Products[op.Name], r.grads
	r.grads = nil
	tensor.WithCaster(nil, func() {
		if y.RequiresGrad() {
			y.RegisterHook(func(dy *tensor.Tensor) *tensor.Tensor {
				r.fp8.late = true
				return grads.quantize(dy)
			})
		}
		if p.bias > 0 && p.bias < len(in) {
			bias := in[p.bias].To(r.policy.lower).Float()
			for range p.after {
				bias = bias.Unsqueeze(-1)
			}
			y = y.Add(bias)
		}
		y = y.To(r.policy.lower)
	})
	return y
}

// fp8Role is a tensor of a layer, which has its own scale: an input, a weight or a gradient.
type fp8Role struct {
	name     string // "fc1.input", "fc1.weight", "fc1.grad"
	gradient bool
	recipe   FP8Recipe
	format   tensor.DType
	scale    float32   // scale for the next conversion
	history  []float32 // largest magnitudes, newest first
	seen     bool      // converted in this step
	last     FP8Scale  // statistics of the last conversion
}

// role returns a layer's role, created at first use.
func (f *FP8) role(layer, what string) *fp8Role {
	name := strings.TrimPrefix(layer+"."+what, ".")
	r := f.roles[name]
	if r == nil {
		gradient := what == "grad"
		r = &fp8Role{name: name, gradient: gradient, recipe: f.recipe, format: f.recipe.format(gradient), scale: 1}
		if err := driver.Room(f.recipe.length(), 4); err != nil {
			panic(&Error{Code: "history_too_long", Call: "FP8Autocast", Why: fmt.Sprintf("a history of %d steps", f.recipe.length()), Cure: err.Error()})
		}
		r.history = make([]float32, f.recipe.length())
		r.last = FP8Scale{Name: name, Format: r.format, Scale: 1}
		f.roles[name] = r
		f.order = append(f.order, r)
	}
	return r
}

// quantize returns t rounded to the format, as float32. It records the largest magnitude for
// later scales if gradients are being recorded or t is a gradient.
func (r *fp8Role) quantize(t *tensor.Tensor) *tensor.Tensor {
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
	y := tensor.Apply(fp8Round{r.format, scale}, t)
	r.last = FP8Scale{
		Name: r.name, Format: r.format, Scale: float64(scale), AMax: float64(amax), Count: c.Count,
		Flushed: y.Counts().Zeros - c.Zeros,
	}
	if limit := tensor.FInfo(r.format).Max; float64(amax*scale) > limit {
		over := t.Detach().Float().MulScalar(float64(scale)).Abs().AddScalar(-limit).ReLU()
		r.last.Saturated = c.Count - over.Counts().Zeros
	}
	return y
}

// fp8Round rounds a tensor to a format: clamp(scale x) is rounded and divided by the scale. Its
// derivative is that of the identity, as in hardware.
type fp8Round struct {
	to    tensor.DType
	scale float32
}

func (fp8Round) Info() tensor.Info {
	return tensor.Info{Name: "fp8_quantize", Torch: "transformer_engine.pytorch.Float8Quantizer", Reads: tensor.ReadsNothing}
}

func (q fp8Round) Forward(in []*tensor.Tensor) *tensor.Tensor {
	limit := tensor.FInfo(q.to).Max
	return in[0].Float().MulScalar(float64(q.scale)).Clamp(-limit, limit).To(q.to).Float().MulScalar(float64(1 / q.scale))
}

func (fp8Round) VJP(dy, _ *tensor.Tensor, _ []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy}
}
