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
func Autocast(p Policy, body func()) {
	r := &region{policy: p}
	if outer := current(); outer != nil {
		r.cache = outer.cache
	} else {
		r.cache = newCache()
	}
	tensor.WithCaster(r, body)
}

// Active returns the policy in force on this goroutine, Off outside regions. It
// is torch.is_autocast_enabled with torch.get_autocast_dtype.
func Active() Policy {
	if r := current(); r != nil && r.policy.on {
		return r.policy
	}
	return Off
}

func current() *region {
	r, _ := tensor.ActiveCaster().(*region)
	return r
}

// region is an open Autocast.
type region struct {
	policy Policy
	cache  *cache
}

// Cast implements tensor.Caster.
func (r *region) Cast(op tensor.Info, in []*tensor.Tensor) []*tensor.Tensor {
	if !r.policy.on {
		return in
	}
	switch r.policy.Category(op) {
	case tensor.Lower:
		return r.castAll(in, r.policy.lower)
	case tensor.Raise:
		return r.castAll(in, tensor.Float32)
	case tensor.Widest:
		return r.castAll(in, r.widest(op, in))
	case tensor.Banned:
		if r.policy.apex && !slices.ContainsFunc(in, func(t *tensor.Tensor) bool { return t.DType() == r.policy.lower }) {
			return in // Apex bans halves only
		}
		panic(&Error{
			Code: "banned", Call: op.Name,
			Why:  fmt.Sprintf("unsafe to autocast: a %v operand gives gradients that %v cannot hold", r.policy.lower, r.policy.lower),
			Cure: "merge it with the sigmoid before it into the with-logits form, or leave the region with amp.Autocast(amp.Off, …)",
		})
	}
	return in
}

// widest returns the dtype of a promoting operation: the low one unless an
// operand is float32. Operands are looked at from left to right, as torch does.
func (r *region) widest(op tensor.Info, in []*tensor.Tensor) tensor.DType {
	to := r.policy.lower
	for _, t := range in {
		switch {
		case !eligible(t) || to == tensor.Float32:
		case t.DType() == tensor.Float32:
			to = tensor.Float32
		case t.DType() != to:
			panic(&Error{
				Code: "foreign_dtype", Call: op.Name,
				Why:  fmt.Sprintf("an operand is %v in a region of %v", t.DType(), r.policy.lower),
				Cure: fmt.Sprintf("cast it to %v or float32 first", r.policy.lower),
			})
		}
	}
	return to
}

func (r *region) castAll(in []*tensor.Tensor, to tensor.DType) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(in))
	for i, t := range in {
		out[i] = t
		if t != nil && eligible(t) && t.DType() != to {
			out[i] = r.cast(t, to)
		}
	}
	return out
}

func (r *region) cast(t *tensor.Tensor, to tensor.DType) *tensor.Tensor {
	if r.policy.cache && to == r.policy.lower && cacheable(t) {
		return r.cache.cast(t, to)
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
