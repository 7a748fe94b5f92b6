package amp

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// Autocast runs body with the operations of this goroutine cast as p says. Regions
// nest: the inner policy holds until its body ends, also by a panic. Casts of
// weights are shared by a region and all inside it. A goroutine that body starts
// is outside the region. It is torch.autocast.
//
// Run forward and loss inside and Backward outside, as torch advises; Backward
// takes no notice of the region either way.
func Autocast(p Policy, body func()) { tensor.WithCaster(newCaster(p), body) }

// Wrap returns f run in a region of p at each call: torch.autocast as a decorator.
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
// It ends by itself with the body of Autocast or tensor.NoGrad that it was opened in, and
// with the cell. A goroutine that a cell starts has to call Exit before it ends. It is
// __enter__ of torch.autocast, and local_autocast of R's torch.
func (p Policy) Enter() *Region { return &Region{p, tensor.EnterCaster(newCaster(p))} }

// Exit closes the region. It panics if a region that was opened later is still open, on
// another goroutine, or if the region has ended.
func (r *Region) Exit() {
	if err := r.exit(); err != nil {
		panic(&Error{
			Code: "region_order", Call: "Exit",
			Why:  fmt.Sprintf("this region of %v cannot be closed: %v", r.policy, err),
			Cure: "close regions once, where they were opened, the last one first: r := amp.Float16.Enter(); defer r.Exit(), or amp.Autocast with a function",
		})
	}
}

// CloseRegions closes the regions that the calling goroutine has entered and not left,
// and returns a line about each. It is for programs that run other people's code, at the
// end of each goroutine.
func CloseRegions() (lines []string) {
	for _, c := range tensor.CloseScopes() {
		lines = append(lines, fmt.Sprintf("amp: a region of %v was still open here and has been closed; expected its Exit: r := amp.Float16.Enter(); defer r.Exit()", c))
	}
	return lines
}

// Active returns the policy in force on this goroutine, Off outside regions. It
// is torch.is_autocast_enabled with torch.get_autocast_dtype.
func Active() Policy {
	if c := regionOf(tensor.ActiveCaster()); c != nil && c.policy.on {
		return c.policy
	}
	return Off
}

// regionOf returns the region that c is, nil if it is none.
func regionOf(c tensor.Caster) *caster {
	switch c := c.(type) {
	case *caster:
		return c
	case *fp8Region:
		return c.caster
	}
	return nil
}

// caster casts as the policy of an open region says.
type caster struct {
	policy Policy
	cache  *cache // of the outermost region
}

func newCaster(p Policy) *caster {
	p = replaced(p)
	if outer := regionOf(tensor.EnclosingCaster()); outer != nil {
		return &caster{p, outer.cache}
	}
	return &caster{p, newCache()}
}

// String names the region's policy.
func (c *caster) String() string { return c.policy.String() }

// ReadsModule implements tensor.ModuleReader.
func (c *caster) ReadsModule() bool { return c.policy.placed }

// Renew implements tensor.Renewer.
func (c *caster) Renew() tensor.Caster { return &caster{c.policy, newCache()} }

// Cast implements tensor.Caster.
func (c *caster) Cast(op tensor.Info, in []*tensor.Tensor) []*tensor.Tensor {
	if !c.policy.on {
		return in
	}
	switch c.policy.here(op) {
	case tensor.Lower:
		return c.castAll(in, c.policy.lower)
	case tensor.Raise:
		return c.castAll(in, tensor.Float32)
	case tensor.Widest:
		return c.castAll(in, c.widest(op, in))
	case tensor.Banned:
		if c.policy.apex && !slices.ContainsFunc(in, func(t *tensor.Tensor) bool { return t.DType() == c.policy.lower }) {
			return in // Apex bans halves only
		}
		panic(&Error{
			Code: "banned", Call: op.Name,
			Why:  fmt.Sprintf("unsafe to autocast: a %v operand gives gradients that %v cannot hold", c.policy.lower, c.policy.lower),
			Cure: "merge it with the sigmoid before it into the with-logits form, or leave the region with amp.Autocast(amp.Off, …)",
		})
	}
	return in
}

// Decomposes implements tensor.Decomposer: an operation that the user has not moved runs as
// its parts if torch's autocast sees those alone.
func (c *caster) Decomposes(op tensor.Info) bool {
	p := c.policy
	return p.on && p.decomposition(op.Name).apart && p.listed(op) == tensor.Keep && !p.moved(op.Name)
}

// widest returns the dtype of a promoting operation: the low one unless an
// operand is float32. Operands are looked at from left to right, as torch does.
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

// eligible reports whether autocast touches t: floating point, not float64.
func eligible(t *tensor.Tensor) bool {
	switch t.DType() {
	case tensor.Float16, tensor.BFloat16, tensor.Float32:
		return true
	}
	return false
}
