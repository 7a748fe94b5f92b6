package tensor

import "halfnote/tensor/driver"

// Unscale multiplies each of grads in place by factor, in float32, and reports for
// each whether it held an infinite element or NaN before. With factor 1 the
// elements stay as they are. It waits for the device once. It is
// torch._amp_foreach_non_finite_check_and_unscale_.
func Unscale(grads []*Tensor, factor float64) (bad []bool) {
	bad = make([]bool, len(grads))
	if len(grads) == 0 {
		return bad
	}
	found := newTensor(grads[0].mem.backend, Float32, []int{len(grads)})
	for i, g := range grads {
		NoGrad(func() { changing("unscale", g) })
		flag := found.alias(i, []int{}, []int{})
		if g.mem.backend != found.mem.backend {
			flag = newTensor(g.mem.backend, Float32, []int{})
		}
		if !g.mem.backend.Offers(driver.Unscale, g.dtype, Float32) {
			bad[i] = g.Detach().Sub(g.Detach()).Sum().Item() != 0 // inf - inf is NaN
			if factor != 1 {
				run(driver.Kernel{Code: driver.Affine, Alpha: factor}, g, g)
			}
			continue
		}
		g.reported(Info{Name: "unscale", Torch: "torch._amp_foreach_non_finite_check_and_unscale_"}, []*Tensor{g}, func() {
			run(driver.Kernel{Code: driver.Unscale, Alpha: factor}, g, flag)
		})
		if flag.mem != found.mem {
			bad[i] = flag.Item() != 0
		}
	}
	for i, x := range found.Float64s() {
		bad[i] = bad[i] || x != 0
	}
	return bad
}

// SGDStep does a step of torch.optim.SGD on p in place with the gradient g: v =
// momentum v + g, p = p - lr v, without v if that is nil. All have one shape and
// dtype.
func SGDStep(p, g, v *Tensor, lr, momentum float64) {
	in := []*Tensor{p, g}
	if v != nil {
		in = append(in, v)
	}
	sameDType("sgd", in)
	for _, t := range in[1:] {
		sameShape("sgd", p, t)
	}
	NoGrad(func() {
		changing("sgd", p)
		if v != nil {
			changing("sgd", v)
		}
	})
	p.reported(Info{Name: "sgd", Torch: "torch.optim.SGD"}, in, func() {
		b := p.mem.backend
		dtypes := make([]DType, len(in)-1)
		for i := range dtypes {
			dtypes[i] = p.dtype
		}
		if b.Offers(driver.SGD, p.dtype, dtypes...) {
			run(driver.Kernel{Code: driver.SGD, Alpha: lr, Beta: momentum}, p, in[1:]...)
			return
		}
		if v != nil {
			run(driver.Kernel{Code: driver.AddScaled, Alpha: momentum}, v, g, v)
			g = v
		}
		run(driver.Kernel{Code: driver.AddScaled, Alpha: -lr}, p, p, g)
	})
}
