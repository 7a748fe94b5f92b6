package tensor

import (
	"math"

	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
)

// Adam implements plumbing.Steps.
func (st *stepList) Adam(p, g, m, v, most *Tensor, s plumbing.AdamSettings[*Tensor]) {
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
	st.touch([]*Tensor{p, m, v}, g)
	info, d := Info{Name: "adam", Torch: "torch.optim.Adam"}, p.dtype
	params := driver.AdamParams{Beta1: s.Beta1, Beta2: s.Beta2, Eps: s.Eps, Decay: s.Decay}
	if s.Guard != nil {
		st.add(info, in, driver.Kernel{Code: driver.GuardedAdam, Params: shared(st, params)}, p, s.Guard, g, m, v)
		return
	}
	rate := s.Rate / (1 - elementary.Pow(s.Beta1, s.Step))
	scale := 1 / math.Sqrt(1-elementary.Pow(s.Beta2, s.Step))
	if most == nil && p.mem.backend.Offers(driver.Adam, d, d, d, d) {
		params.Rate, params.Scale = rate, scale
		st.add(info, in, driver.Kernel{Code: driver.Adam, Params: shared(st, params)}, p, g, m, v)
		return
	}
	st.Run()
	p.reported(info, in, func() {
		if s.Decay != 0 {
			run(driver.Kernel{Code: driver.Affine, Alpha: 1 - s.Decay}, p, p)
		}
		// As in torch's separate operations, half dtypes are rounded once after each of lerp,
		// addcmul and addcdiv.
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
