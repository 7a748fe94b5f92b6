package tensor

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

// SGD implements plumbing.Steps.
func (st *stepList) SGD(p, g, v *Tensor, s plumbing.SGDSettings[*Tensor]) {
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
	st.touch(changed, g)
	info, dtypes := Info{Name: "sgd", Torch: "torch.optim.SGD"}, [2]DType{p.dtype, p.dtype}
	if s.Guard != nil || p.mem.backend.Offers(driver.SGD, p.dtype, dtypes[:len(changed)]...) {
		code, src := driver.SGD, in[1:]
		params := driver.SGDParams{Rate: s.Rate, Momentum: s.Momentum, Decay: s.Decay, Dampening: s.Dampening, Nesterov: s.Nesterov, First: s.First}
		if s.Guard != nil {
			code, params.Rate, src = driver.GuardedSGD, 0, append([]*Tensor{s.Guard}, src...)
		}
		st.add(info, in, driver.Kernel{Code: code, Params: shared(st, params)}, p, src...)
		return
	}
	st.Run()
	p.reported(info, in, func() { composeSGD(p, g, v, s) })
}

// composeSGD is the step in kernels that every backend has.
func composeSGD(p, g, v *Tensor, s plumbing.SGDSettings[*Tensor]) {
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
