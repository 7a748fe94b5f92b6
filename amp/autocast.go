package amp

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// Autocast runs body with the operations of this goroutine cast by p. Regions nest: the inner
// policy applies until its body returns or panics. A region shares its casts of weights with
// the regions inside it. A goroutine started by body is outside the region. It is
// torch.autocast.
//
// Compute the forward pass and the loss inside and call Backward outside, as torch advises;
// Backward ignores the region in any case.
func Autocast(p Policy, body func()) { casting.With(open(newCaster(p)), body) }

// Wrap returns a function that calls f in a region of p. It is torch.autocast as a decorator.
func Wrap(p Policy, f func(x *tensor.Tensor) *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) (y *tensor.Tensor) {
		Autocast(p, func() { y = f(x) })
		return y
	}
}

// Region is an open region of straight-line code.
type Region struct {
	policy Policy
	exit   func() error
}

// Enter opens a region for the code that follows on this goroutine, until its Exit:
//
//	r := amp.Float16.Enter()
//	defer r.Exit()
//
// The region also ends with the enclosing body of Autocast or tensor.NoGrad, and with the cell.
// A goroutine started by a cell must call Exit before it ends. It is __enter__ of
// torch.autocast, and local_autocast of R's torch.
func (p Policy) Enter() *Region { return &Region{p, casting.Enter(open(newCaster(p)))} }

// Exit closes the region. It panics if a region opened later is still open, if it is called on
// another goroutine, or if the region has already ended.
func (r *Region) Exit() {
	if err := r.exit(); err != nil {
		panic(&Error{
			Code: "region_order", Call: "Exit",
			Why:  fmt.Sprintf("this region of %v cannot be closed: %v", r.policy, err),
			Cure: "close each region once, on the goroutine that opened it, innermost first: r := amp.Float16.Enter(); defer r.Exit(), or use amp.Autocast with a function",
		})
	}
}

// CloseRegions closes the regions that the calling goroutine has entered but not exited, and returns a line about each. Programs that
// run user code call it at the end of each goroutine.
func (internals) CloseRegions() (lines []string) {
	for _, c := range casting.CloseScopes() {
		lines = append(lines, fmt.Sprintf("amp: a region of %v was still open here and has been closed; call its Exit: r := amp.Float16.Enter(); defer r.Exit()", c))
	}
	return lines
}

// Active returns the policy in force on this goroutine, Off outside regions. It
// is torch.is_autocast_enabled with torch.get_autocast_dtype.
func Active() Policy {
	if c := regionOf(casting.Active()); c != nil && c.policy.on {
		return c.policy
	}
	return Off
}

// regionOf returns c as a region, or the region that c extends, or nil.
func regionOf(c operandCaster) *caster {
	if outer, ok := c.(interface{ Autocast() operandCaster }); ok {
		c = outer.Autocast()
	}
	region, _ := c.(*caster)
	return region
}

// caster applies the policy of an open region.
type caster struct {
	policy Policy
	cache  *cache // the outermost region's cache
}

func newCaster(p Policy) *caster {
	p = replaced(p)
	if outer := regionOf(casting.Enclosing()); outer != nil {
		return &caster{p, outer.cache}
	}
	return &caster{p, newCache()}
}

// Policy returns the region's policy.
func (c *caster) Policy() Policy { return c.policy }

// String names the region's policy.
func (c *caster) String() string { return c.policy.String() }

// ReadsModule implements plumbing.ModuleReader.
func (c *caster) ReadsModule() bool { return c.policy.placed }

// Renew implements plumbing.Renewer.
func (c *caster) Renew() operandCaster { return &caster{c.policy, newCache()} }

// Cast implements plumbing.Caster.
func (c *caster) Cast(op tensor.Info, in []*tensor.Tensor) []*tensor.Tensor {
	if !c.policy.on {
		return in
	}
	switch c.policy.categoryAt(op) {
	case LowerPrecision:
		return c.castAll(in, c.policy.lower)
	case FP32:
		return c.castAll(in, tensor.Float32)
	case Promote:
		return c.castAll(in, c.widest(op, in))
	case Banned:
		if c.policy.apex && !slices.ContainsFunc(in, func(t *tensor.Tensor) bool { return t.DType() == c.policy.lower }) {
			return in // Apex bans halves only
		}
		panic(&Error{
			Code: "banned", Call: op.Name,
			Why:  fmt.Sprintf("unsafe to autocast: with a %v operand, its gradients exceed the range of %v", c.policy.lower, c.policy.lower),
			Cure: "replace it and the preceding sigmoid by the with-logits form, or leave the region with amp.Autocast(amp.Off, …)",
		})
	}
	return in
}

// Decomposes implements plumbing.Decomposer: an operation without a user override runs as its
// parts if torch's autocast sees only those.
func (c *caster) Decomposes(op tensor.Info) bool {
	p := c.policy
	return p.on && p.decomposition(op.Name).apart && p.listed(op) == Unlisted && !p.moved(op.Name)
}

// widest returns the dtype of a promoting operation: the low-precision dtype unless an operand
// is float32. Operands are examined from left to right, as in torch.
func (c *caster) widest(op tensor.Info, in []*tensor.Tensor) tensor.DType {
	to := c.policy.lower
	for _, t := range in {
		switch {
		case !eligible(t) || to == tensor.Float32:
		case t.DType() == tensor.Float32:
			to = tensor.Float32
		case t.DType() != to:
			panic(&Error{
				Code: "foreign_dtype", Call: op.Name,
				Why:  fmt.Sprintf("an operand is %v in a region of %v", t.DType(), c.policy.lower),
				Cure: fmt.Sprintf("cast it to %v or float32 first", c.policy.lower),
			})
		}
	}
	return to
}

func (c *caster) castAll(in []*tensor.Tensor, to tensor.DType) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(in))
	for i, t := range in {
		out[i] = t
		if t != nil && eligible(t) && t.DType() != to {
			out[i] = c.cast(t, to)
		}
	}
	return out
}

func (c *caster) cast(t *tensor.Tensor, to tensor.DType) *tensor.Tensor {
	if c.policy.cache && to == c.policy.lower && cacheable(t) {
		return c.cache.cast(t, to, c.policy.legacy)
	}
	return t.To(to)
}

// eligible reports whether autocast may cast t: floating point, but not float64.
func eligible(t *tensor.Tensor) bool {
	switch t.DType() {
	case tensor.Float16, tensor.BFloat16, tensor.Float32:
		return true
	}
	return false
}
