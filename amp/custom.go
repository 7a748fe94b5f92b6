package amp

import "halfnote/tensor"

// ambient is the attribute under which CustomFwd stores the policy of forward.
const ambient = "amp.policy"

// CustomFwd returns f with a Forward that records its policy for [CustomBwd]. If a dtype is
// given, f's operands are cast to it inside an enabled region, except for float64 and
// non-floating-point ones, and Forward runs with autocast off; outside regions the dtype has no
// effect. Without a dtype, Forward runs under the enclosing policy. It is torch.amp.custom_fwd
// with cast_inputs.
func CustomFwd(f tensor.Function, castInputs ...tensor.DType) tensor.Function {
	forward := f.Forward
	f.Forward = func(c *tensor.Context, in []*tensor.Tensor) (y *tensor.Tensor) {
		p := Active()
		if !p.on || len(castInputs) == 0 {
			c.SetAttr(ambient, p)
			return forward(c, in)
		}
		c.SetAttr(ambient, Off)
		cast := make([]*tensor.Tensor, len(in))
		for i, t := range in {
			if cast[i] = t; eligible(t) {
				cast[i] = t.To(castInputs[0])
			}
		}
		Autocast(Off, func() { y = forward(c, cast) })
		return y
	}
	return f
}

// CustomBwd returns f with a Backward that runs under the policy of its Forward, which must come
// from [CustomFwd], even when Backward is called outside the region. It is torch.amp.custom_bwd.
func CustomBwd(f tensor.Function) tensor.Function {
	backward := f.Backward
	f.Backward = func(c *tensor.Context, dy *tensor.Tensor) (grads []*tensor.Tensor) {
		p, ok := c.Attr(ambient).(Policy)
		if !ok {
			panic(&Error{
				Code: "no_custom_fwd", Call: "CustomBwd",
				Why:  "its Forward has recorded no policy",
				Cure: "use amp.CustomBwd(amp.CustomFwd(f))",
			})
		}
		Autocast(p, func() { grads = backward(c, dy) })
		return grads
	}
	return f
}
