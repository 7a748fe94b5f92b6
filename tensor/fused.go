package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// Unscale multiplies each of grads in place by factor, in float32, and reports for
// each whether it held an infinite element or NaN before. With factor 1 the
// elements stay as they are. It waits for the device once. It is
// torch._amp_foreach_non_finite_check_and_unscale_.
func Unscale(grads []*Tensor, factor float64) (bad []bool) {
	bad = make([]bool, len(grads))
	if len(grads) > 0 {
		for i, x := range UnscaleFlags(grads, factor).Float64s() {
			bad[i] = x != 0
		}
	}
	return bad
}

// UnscaleFlags is Unscale without waiting for the device: it returns a float32 vector
// of one element for each of grads, which must be some: 1 for what held an infinite
// element or NaN, else 0.
func UnscaleFlags(grads []*Tensor, factor float64) *Tensor {
	found := newTensor(grads[0].mem.backend, Float32, []int{len(grads)})
	OneLine(func() { unscaleInto(found, grads, factor) })
	return found
}

// unscaleInto sets the elements of found.
func unscaleInto(found *Tensor, grads []*Tensor, factor float64) {
	for i, g := range grads {
		NoGrad(func() { changing("unscale", g) })
		flag := found.alias(i, []int{}, []int{})
		offered := g.mem.backend.Offers(driver.Unscale, g.dtype, Float32)
		if offered && g.mem.backend == found.mem.backend {
			unscale(g, flag, factor)
			continue
		}
		var here *Tensor
		if offered {
			here = newTensor(g.mem.backend, Float32, []int{})
			unscale(g, here, factor)
		} else {
			here = g.Detach().Sub(g.Detach()).Sum().Ne(Scalar(0)) // inf - inf is NaN
			if factor != 1 {
				run(driver.Kernel{Code: driver.Affine, Alpha: factor}, g, g)
			}
		}
		NoGrad(func() { flag.Assign(here.ToDevice(found.Device())) })
	}
}

func unscale(g, flag *Tensor, factor float64) {
	g.reported(Info{Name: "unscale", Torch: "torch._amp_foreach_non_finite_check_and_unscale_"}, []*Tensor{g}, func() {
		run(driver.Kernel{Code: driver.Unscale, Alpha: factor}, g, flag)
	})
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

// AdamSettings are what AdamStep does its step with.
type AdamSettings struct {
	Rate, Beta1, Beta2, Eps float64
	Decay                   float64 // taken off the parameter: learning rate times weight decay
	Step                    float64 // number of this step, from 1
}

// AdamStep does a step of torch.optim.Adam on p in place with the gradient g: m and v
// are the running means of the gradient and its square, most, which may be nil, the
// largest v so far, by which it divides then. All have one shape and dtype.
func AdamStep(p, g, m, v, most *Tensor, s AdamSettings) {
	in := []*Tensor{p, g, m, v}
	if most != nil {
		in = append(in, most)
	}
	sameDType("adam", in)
	NoGrad(func() {
		for _, t := range in {
			sameShape("adam", p, t)
			if t != g {
				changing("adam", t)
			}
		}
	})
	rate := s.Rate / (1 - math.Pow(s.Beta1, s.Step))
	scale := 1 / math.Sqrt(1-math.Pow(s.Beta2, s.Step))
	p.reported(Info{Name: "adam", Torch: "torch.optim.Adam"}, in, func() {
		d := p.dtype
		if most == nil && p.mem.backend.Offers(driver.Adam, d, d, d, d) {
			run(driver.Kernel{Code: driver.Adam, Alpha: rate, Beta: s.Eps, More: [5]float64{1 - s.Beta1, s.Beta2, 1 - s.Beta2, 1 - s.Decay, scale}}, p, g, m, v)
			return
		}
		if s.Decay != 0 {
			run(driver.Kernel{Code: driver.Affine, Alpha: 1 - s.Decay}, p, p)
		}
		// As torch's separate steps: in halves each rounds once, lerp, addcmul and
		// addcdiv at their end.
		wg := wide(g)
		into := func(t *Tensor, step func(w *Tensor)) {
			w := wide(t)
			if step(w); w != t {
				run(driver.Kernel{Code: driver.Copy}, t, w)
				release(w)
			}
		}
		x := unsetTensor(wg.mem.backend, wg.dtype, p.shape)
		into(m, func(m *Tensor) {
			run(driver.Kernel{Code: driver.Sub}, x, wg, m)
			run(driver.Kernel{Code: driver.AddScaled, Alpha: 1 - s.Beta1}, m, m, x)
		})
		run(driver.Kernel{Code: driver.Affine, Alpha: s.Beta2}, v, v)
		into(v, func(v *Tensor) {
			run(driver.Kernel{Code: driver.Mul}, x, wg, wg)
			run(driver.Kernel{Code: driver.AddScaled, Alpha: 1 - s.Beta2}, v, v, x)
		})
		if most != nil {
			run(driver.Kernel{Code: driver.Max}, most, most, v)
			v = most
		}
		divisor := unary(driver.Sqrt, v)
		run(driver.Kernel{Code: driver.Affine, Alpha: scale}, divisor, divisor)
		run(driver.Kernel{Code: driver.Affine, Alpha: 1, Beta: s.Eps}, divisor, divisor)
		into(p, func(p *Tensor) {
			run(driver.Kernel{Code: driver.Div}, x, wide(m), wide(divisor))
			run(driver.Kernel{Code: driver.AddScaled, Alpha: -rate}, p, p, x)
		})
		release(divisor)
		release(x)
	})
}
