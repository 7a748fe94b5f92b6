package tensor

import (
	"slices"
)

// Checkpoint returns f of in without keeping f's intermediate results for Backward, which runs
// f again instead: less memory for more time. f may use parameters and other tensors besides
// in. The second run has the autocast state and the default generator's random numbers of the
// first; other side effects of f, for example updates of running statistics, happen twice. It
// is torch.utils.checkpoint.checkpoint.
func Checkpoint(f func(in ...*Tensor) *Tensor, in ...*Tensor) *Tensor {
	need("checkpoint", "f", f != nil, "a function of tensors")
	given("checkpoint", in...)
	s := current()
	if r, ok := s.caster.(renewer); ok {
		s.caster = r.Renew()
	}
	op := &checkpoint{f: f, n: len(in), caster: s.caster, random: generator.State()}
	found := &capture{floor: ids.Load(), own: in}
	s.nograd, s.captured = true, found
	s.do(func() { op.y = f(in...) })
	op.outside = found.list
	return apply(op, append(slices.Clone(in), found.list...)...)
}

// capture collects older operands that require a gradient.
type capture struct {
	floor uint64
	own   []*Tensor
	list  []*Tensor
}

func (c *capture) add(in []*Tensor) {
	for _, t := range in {
		if t.v != nil && t.v.seq <= c.floor && !slices.Contains(c.own, t) && !slices.Contains(c.list, t) {
			c.list = append(c.list, asShared(t))
		}
	}
}

// checkpoint holds f's operands and the other tensors that f uses.
type checkpoint struct {
	f       func(in ...*Tensor) *Tensor
	n       int       // number of operands passed to f
	outside []*Tensor // other tensors that f uses
	y       *Tensor   // result, until Forward has returned it
	caster  caster
	random  *Tensor // state of the default generator before f
}

func (*checkpoint) Info() Info {
	return info("checkpoint", "torch.utils.checkpoint.checkpoint", SavesOperands)
}
func (*checkpoint) fixed() {}

// Forward returns the result that f has already computed. A second call runs f, for observers
// that rerun it on other operands.
func (c *checkpoint) Forward(in []*Tensor) *Tensor {
	y := c.y
	if c.y = nil; y == nil {
		defer c.redraw()()
		y = c.f(in[:c.n]...)
	}
	return y.alias(y.offset, y.shape, y.stride)
}

// redraw makes the default generator repeat the numbers that f drew, until restore is called.
func (c *checkpoint) redraw() (restore func()) {
	now := generator.State()
	generator.SetState(c.random)
	return func() { generator.SetState(now) }
}

// VJP runs f again, on operands with their own places on the tape. The backward walk stops
// there and at the other tensors that f uses.
func (c *checkpoint) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	graph := IsGradEnabled()
	x, ends := slices.Clone(in), map[*vertex]bool{}
	var to []*Tensor
	s := current()
	s.caster, s.nograd = c.caster, false
	if r, ok := c.caster.(renewer); ok {
		s.caster = r.Renew()
	}
	defer c.redraw()()
	var y *Tensor
	s.do(func() {
		for i, t := range in {
			switch {
			case !t.RequiresGrad():
				x[i] = t.Detach()
				continue
			case i >= c.n:
				x[i] = c.outside[i-c.n]
			case graph:
				x[i] = apply(same{}, t)
			default:
				x[i] = t.Detach().RequireGrad()
			}
			ends[x[i].v] = true
			to = append(to, x[i])
		}
		y = c.f(x[:c.n]...)
	})
	out := make([]*Tensor, len(in))
	if !y.RequiresGrad() {
		return out
	}
	grads := GradWith(y, to, BackwardOptions{Gradient: dy.To(y.dtype), CreateGraph: graph, AllowUnused: true, ends: ends})
	for i, t := range in {
		if t.RequiresGrad() {
			out[i], grads = grads[0], grads[1:]
		}
	}
	return out
}
