package amp

import "halfnote/tensor"

// ambient is the name that CustomFwd keeps the policy of forward under.
const ambient = "amp.policy"

// CustomFwd returns f with a Forward that [CustomBwd] knows the policy of. Given a dtype,
// f's operands are cast to it in a region that is switched on, unless they are float64 or
// no floating-point numbers, and Forward runs with autocast off; outside regions the
// dtype has no effect. Without one Forward runs under the policy around it. It is
// torch.amp.custom_fwd with cast_inputs.
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

// CustomBwd returns f with a Backward under the policy that its Forward, a [CustomFwd],
// ran under, also when Backward is called outside the region. It is
// torch.amp.custom_bwd.
func CustomBwd(f tensor.Function) tensor.Function {
	backward := f.Backward
	f.Backward = func(c *tensor.Context, dy *tensor.Tensor) (grads []*tensor.Tensor) {
		p, ok := c.Attr(ambient).(Policy)
		if !ok {
			panic(&Error{
				Code: "no_custom_fwd", Call: "CustomBwd",
				Why:  "its forward has kept no policy",
				Cure: "expected amp.CustomBwd(amp.CustomFwd(f))",
			})
		}
		Autocast(p, func() { grads = backward(c, dy) })
		return grads
	}
	return f
}
