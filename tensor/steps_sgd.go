package tensor

import "halfnote/tensor/driver"

// SGDSettings configures a step of SGD.
type SGDSettings struct {
	Rate      float64
	Momentum  float64
	Dampening float64 // dampening of the gradient in the velocity
	Decay     float64 // weight decay, added to the gradient
	Nesterov  bool
	First     bool    // first step: sets the velocity to the gradient
	Guard     *Tensor // row of StepCounts that replaces Rate and, if First is set, decides whether this is the first step; if nil, the step is unconditional
}

// SGDStep takes a step of torch.optim.SGD on p in place with the gradient g: v = momentum v +
// g, p = p - lr v; without v if that is nil. All have the same shape and dtype.
func SGDStep(p, g, v *Tensor, lr, momentum float64) {
	var steps Steps
	steps.SGD(p, g, v, SGDSettings{Rate: lr, Momentum: momentum})
	steps.Run()
}

// SGD adds a step of torch.optim.SGD on p in place with the gradient g and the velocity v,
// which is nil without momentum. All have the same shape and dtype.
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
		code, src := driver.SGD, in[1:]
		params := driver.SGDParams{Rate: s.Rate, Momentum: s.Momentum, Decay: s.Decay, Dampening: s.Dampening, Nesterov: s.Nesterov, First: s.First}
		if s.Guard != nil {
			code, params.Rate, src = driver.GuardedSGD, 0, append([]*Tensor{s.Guard}, src...)
		}
		steps.add(info, in, driver.Kernel{Code: code, Params: shared(steps, params)}, p, src...)
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
