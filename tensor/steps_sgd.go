package tensor

import "halfnote/tensor/driver"

// SGDSettings are what Steps.SGD does its step with.
type SGDSettings struct {
	Rate      float64
	Momentum  float64
	Dampening float64 // share of the gradient that the velocity leaves out
	Decay     float64 // weight decay, which is added to the gradient
	Nesterov  bool
	First     bool    // the velocity is nothing yet and becomes the gradient
	Guard     *Tensor // row of StepCounts that has Rate in its place, and whether this is the first step, if First; nil: the step is taken
}

// SGDStep does a step of torch.optim.SGD on p in place with the gradient g: v =
// momentum v + g, p = p - lr v, without v if that is nil. All have one shape and
// dtype.
func SGDStep(p, g, v *Tensor, lr, momentum float64) {
	var steps Steps
	steps.SGD(p, g, v, SGDSettings{Rate: lr, Momentum: momentum})
	steps.Run()
}

// SGD adds a step of torch.optim.SGD on p in place with the gradient g and the
// velocity v, nil without momentum. All have one shape and dtype.
func (steps *Steps) SGD(p, g, v *Tensor, s SGDSettings) {
	in, changed := []*Tensor{p, g}, []*Tensor{p}
	if v != nil {
		in, changed = append(in, v), append(changed, v)
	}
	sameDType("sgd", in)
	for _, t := range in[1:] {
		sameShape("sgd", p, t)
	}
	NoGrad(func() {
		for _, t := range changed {
			changing("sgd", t)
		}
	})
	steps.touch(changed, g)
	info, dtypes := Info{Name: "sgd", Torch: "torch.optim.SGD"}, [2]DType{p.dtype, p.dtype}
	if s.Guard != nil || p.mem.backend.Offers(driver.SGD, p.dtype, dtypes[:len(changed)]...) {
		k := driver.Kernel{Code: driver.SGD, Alpha: s.Rate, Beta: s.Momentum, More: [5]float64{s.Decay, s.Dampening}}
		if s.Nesterov {
			k.More[2] = 1
		}
		if s.First {
			k.More[3] = 1
		}
		src := in[1:]
		if s.Guard != nil {
			k.Code, k.Alpha, src = driver.GuardedSGD, 0, append([]*Tensor{s.Guard}, src...)
		}
		steps.add(info, in, k, p, src...)
		return
	}
	steps.Run()
	p.reported(info, in, func() { s.compose(p, g, v) })
}

// compose is the step in kernels that every backend has.
func (s SGDSettings) compose(p, g, v *Tensor) {
	if s.Decay != 0 {
		g = duplicate(g)
		run(driver.Kernel{Code: driver.AddScaled, Alpha: s.Decay}, g, g, p)
	}
	step := g
	if v != nil {
		if s.First {
			run(driver.Kernel{Code: driver.Copy}, v, g)
		} else {
			run(driver.Kernel{Code: driver.Affine, Alpha: s.Momentum}, v, v)
			run(driver.Kernel{Code: driver.AddScaled, Alpha: 1 - s.Dampening}, v, v, g)
		}
		step = v
	}
	if s.Nesterov {
		step = duplicate(g)
		run(driver.Kernel{Code: driver.AddScaled, Alpha: s.Momentum}, step, step, v)
	}
	run(driver.Kernel{Code: driver.AddScaled, Alpha: -s.Rate}, p, p, step)
}
