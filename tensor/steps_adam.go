package tensor

import (
	"math"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
)

// AdamSettings configures a step of Adam.
type AdamSettings struct {
	Rate, Beta1, Beta2, Eps float64
	Decay                   float64 // amount subtracted from the parameter: learning rate times weight decay
	Step                    float64 // number of this step, from 1
	Guard                   *Tensor // row of StepCounts that replaces Rate and Step; if nil, the step is unconditional
}

// AdamStep takes a step of torch.optim.Adam on p in place with the gradient g. m and v are the
// running means of the gradient and its square. most, which may be nil, is the running maximum
// of v, used in the denominator instead of v. All have the same shape and dtype.
func AdamStep(p, g, m, v, most *Tensor, s AdamSettings) {
	var steps Steps
	steps.Adam(p, g, m, v, most, s)
	steps.Run()
}

// Adam adds an [AdamStep].
func (steps *Steps) Adam(p, g, m, v, most *Tensor, s AdamSettings) {
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
	steps.touch([]*Tensor{p, m, v}, g)
	info, d := Info{Name: "adam", Torch: "torch.optim.Adam"}, p.dtype
	params := driver.AdamParams{Beta1: s.Beta1, Beta2: s.Beta2, Eps: s.Eps, Decay: s.Decay}
	if s.Guard != nil {
		steps.add(info, in, driver.Kernel{Code: driver.GuardedAdam, Params: shared(steps, params)}, p, s.Guard, g, m, v)
		return
	}
	rate := s.Rate / (1 - elementary.Pow(s.Beta1, s.Step))
	scale := 1 / math.Sqrt(1-elementary.Pow(s.Beta2, s.Step))
	if most == nil && p.mem.backend.Offers(driver.Adam, d, d, d, d) {
		params.Rate, params.Scale = rate, scale
		steps.add(info, in, driver.Kernel{Code: driver.Adam, Params: shared(steps, params)}, p, g, m, v)
		return
	}
	steps.Run()
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
