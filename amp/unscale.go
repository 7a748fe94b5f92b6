package amp

import (
	"fmt"
	"strings"

	"halfnote/tensor"
)

// unscale divides opt's gradients by the scale, in place, and looks for inf and
// NaN in what they were before: below a scale of 1 the division itself may
// overflow, unnoticed, as in torch. It panics before it changes anything if a
// gradient is float16.
func (s *GradScaler) unscale(opt Optimizer) verdict {
	params := opt.Params()
	var grads []*tensor.Tensor
	var owners []int
	for i, p := range params {
		g := p.Grad()
		if g == nil {
			continue
		}
		if g.DType() == tensor.Float16 {
			panic(&Error{
				Code: "fp16_grad", Call: "Unscale",
				Why:  fmt.Sprintf("the gradient of %s is float16: it would overflow or vanish when unscaled", describe(p, i)),
				Cure: "keep parameters in float32 and let autocast cast them",
			})
		}
		grads, owners = append(grads, g), append(owners, i)
	}
	v := verdict{checked: len(grads)}
	for i, bad := range tensor.Unscale(grads, float64(float32(1/float64(s.scale)))) {
		if bad && !v.bad {
			v.bad, v.first = true, owners[i]
			v.param = describe(params[owners[i]], owners[i])
		}
	}
	return v
}

// describe names a parameter: "parameter 2 (512, 10)".
func describe(p *tensor.Tensor, i int) string {
	var sizes []string
	for _, n := range p.Shape() {
		sizes = append(sizes, fmt.Sprint(n))
	}
	return fmt.Sprintf("parameter %d (%s)", i, strings.Join(sizes, ", "))
}
