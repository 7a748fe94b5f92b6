package apex

import (
	"halfnote/amp"
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	inner    = tensor.Internal(plumbing.Token{})
	casting  = inner.Casting
	fused    = inner.Fused
	autocast = amp.Internal(plumbing.Token{})
)

// Apex's policies, for [amp.Autocast] and [OptLevel.WithPolicy]. Its lists are longer than
// torch's: arithmetic of two dtypes promotes, and var, std, gelu, interpolation and local response
// norm run in float32. Operations newer than Apex, such as logsumexp, huber_loss and attention,
// are unlisted. register_half_function, register_float_function and register_promote_function are
// [amp.Policy.With].
var (
	// Float16 is the policy to which opt_level O1 patches torch's functions.
	Float16 = autocast.ApexPolicy(tensor.Float16)
	// BFloat16 is Float16 with bfloat16.
	BFloat16 = autocast.ApexPolicy(tensor.BFloat16)
)
