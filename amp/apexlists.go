package amp

import "halfnote/tensor"

// Apex's policies, for [Autocast] and for [OptLevel.WithPolicy]. Its lists are longer than
// torch's, visibly so in these cases: arithmetic of two dtypes promotes, and var, std, gelu,
// interpolation and local response norm run in float32. Operations newer than Apex, such as
// logsumexp, huber_loss and attention, are unlisted. register_half_function,
// register_float_function and register_promote_function are [Policy.With].
var (
	// ApexFloat16 is the policy to which opt_level O1 patches torch's functions.
	ApexFloat16 = Policy{lower: tensor.Float16, on: true, apex: true, cache: true}
	// ApexBFloat16 is ApexFloat16 with bfloat16.
	ApexBFloat16 = Policy{lower: tensor.BFloat16, on: true, apex: true, cache: true}
)

// apexLists are Apex's names for its lists.
var apexLists = map[Category]string{LowerPrecision: "FP16_FUNCS", FP32: "FP32_FUNCS", Promote: "CASTS", Banned: "BANNED_FUNCS"}
