package amp

import (
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// check runs pass on opt's gradients to find inf and NaN. It first panics if a gradient is
// float16 and half is false.
func (s *GradScaler) check(opt Optimizer, pass func(grads []*tensor.Tensor) *tensor.Tensor, half bool) verdict {
	var v verdict
	var grads []*tensor.Tensor
	for i, p := range opt.Params() {
		g := gradients.Peek(p)
		if g == nil {
			continue
		}
		if g.DType() == tensor.Float16 && !half {
			panic(&Error{
				Code: "fp16_grad", Call: "Unscale",
				Why:  fmt.Sprintf("the gradient of %s is float16 and could overflow or vanish when unscaled", s.describe(p, i)),
				Cure: "keep parameters in float32 and let autocast cast them",
			})
		}
		grads, v.owners = append(grads, g), append(v.owners, i)
	}
	if len(grads) > 0 {
		v.flags = pass(grads)
	}
	if s.share != nil {
		_, bad := v.first()
		v.elsewhere = s.share(bad) && !bad
	}
	return v
}

// divided divides gradients by the scale in place, and returns flags of those that held inf or
// NaN before: below a scale of 1 the quotient itself may silently overflow, as in torch.
func (s *GradScaler) divided(grads []*tensor.Tensor) *tensor.Tensor {
	if s.held != nil && !slices.ContainsFunc(grads, func(g *tensor.Tensor) bool { return g.Device() != s.device }) {
		return fused.UnscaleFlagsBy(grads, s.held.Select(0, heldInverse))
	}
	s.pull()
	return fused.UnscaleFlags(grads, s.inverse())
}

// looked checks gradients without changing them.
func looked(grads []*tensor.Tensor) *tensor.Tensor { return fused.UnscaleFlags(grads, 1) }

// verdict is the result of checking an optimizer's gradients. It stays on the device until it
// is read.
type verdict struct {
	owners []int          // indices of the parameters that had gradients
	flags  *tensor.Tensor // 1 for each gradient that was not finite
	asked  bool
	at     int // index of the first bad parameter, -1 for none

	elsewhere bool // a gradient of another process was not finite, but none of this one
}

// first returns the index of the first parameter whose gradient was not finite, if there
// is one; -1 if it is in another process. It waits for the device, once.
func (v *verdict) first() (i int, bad bool) {
	if !v.asked {
		v.asked, v.at = true, -1
		if v.flags != nil {
			for i, x := range v.flags.Float64s() {
				if x != 0 && v.at < 0 {
					v.at = v.owners[i]
				}
			}
		}
	}
	return v.at, v.at >= 0 || v.elsewhere
}

// tensor returns a CPU scalar: 0 if all gradients were finite, otherwise 1.
func (v *verdict) tensor() (found *tensor.Tensor) {
	_, bad := v.first()
	tensor.OnDevice(tensor.CPU, func() {
		if found = tensor.Zeros(); bad {
			found = tensor.Ones()
		}
	})
	return found
}

// describe names a parameter: "encoder.0.weight (512, 10)", or "parameter 2 (512, 10)"
// if no known model contains it.
func (s *GradScaler) describe(p *tensor.Tensor, i int) string {
	name := fmt.Sprintf("parameter %d", i)
	for _, model := range s.models {
		for _, n := range nn.NamedParameters(model) {
			if n.Tensor == p {
				name = n.Name
			}
		}
	}
	return name + " " + text.Shape(p.Shape())
}
