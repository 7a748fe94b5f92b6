package tensor

import (
	"math"
	"time"

	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
)

// NewSteps returns an empty Steps.
func (fused) NewSteps() plumbing.Steps[*Tensor] { return new(stepList) }

// stepList implements plumbing.Steps. The zero value is empty.
type stepList struct {
	backend  driver.Backend
	list     []driver.Launch
	reported []reported        // the same steps for observers; empty without observers
	touched  map[*storage]bool // memory used by the steps of list; true if changed
	params   driver.Params     // parameters of the last step, which equal ones share
}

// shared returns p, without an allocation if the last step had the same parameters.
func shared[P interface {
	comparable
	driver.Params
}](s *stepList, p P) driver.Params {
	if last, ok := s.params.(P); !ok || last != p {
		s.params = p
	}
	return s.params
}

// reported is a kernel that observers see: a change of dst, the first of in.
type reported struct {
	info Info
	in   []*Tensor
}

// Run implements plumbing.Steps.
func (s *stepList) Run() {
	list, reported := s.list, s.reported
	s.list, s.reported, s.touched = nil, nil, nil
	start := time.Since(began)
	if b, ok := s.backend.(driver.Batcher); ok {
		b.RunAll(list)
	} else {
		for _, l := range list {
			s.backend.Run(l.Kernel, l.Dst, l.Src...)
		}
	}
	if len(reported) > 0 {
		s.backend.Synchronize()
		report(reported, start, time.Since(began)-start)
	}
}

// report passes completed steps to observers.
func report(list []reported, start, spent time.Duration) {
	seen, s := observers.load(), current()
	if seen == nil || s.hidden {
		return
	}
	all := 0
	for _, x := range list {
		all += traffic(x.in)
	}
	for _, x := range list { // one after the other: only the time of all is known
		e := begin(change{x.info}, &s, x.in)
		e.InPlace, e.start, e.Start = true, start, began.Add(start)
		e.Duration = time.Duration(float64(spent) * float64(traffic(x.in)) / float64(max(all, 1)))
		start += e.Duration
		e.finish(seen, x.in, x.in[0])
		e.end()
	}
}

// traffic returns the number of bytes that a change of the first of ts reads and writes.
func traffic(ts []*Tensor) int {
	n := ts[0].Bytes()
	for _, t := range ts {
		n += t.Bytes()
	}
	return n
}

// touch runs the pending steps first if they conflict with a step that changes and reads the
// given tensors.
func (s *stepList) touch(changed []*Tensor, read *Tensor) {
	_, known := s.touched[changed[0].mem]
	for _, t := range changed[1:] {
		_, also := s.touched[t.mem]
		known = known || also
	}
	if known || s.touched[read.mem] || s.backend != changed[0].mem.backend {
		s.Run()
	}
	if s.touched == nil {
		s.touched = map[*storage]bool{}
	}
	s.backend = changed[0].mem.backend
	s.touched[read.mem] = false
	for _, t := range changed {
		s.touched[t.mem] = true
	}
}

// add adds a kernel, reported to observers as a change of dst with operands in, dst first.
func (s *stepList) add(info Info, in []*Tensor, k driver.Kernel, dst *Tensor, src ...*Tensor) {
	if observers.load() != nil {
		s.reported = append(s.reported, reported{info, in})
	}
	views := make([]driver.View, len(src), len(src)+1)
	for i, t := range src {
		views[i] = t.view()
	}
	if c := dst.shadowed(k.Code, src); c != nil {
		views = append(views, c.view())
	}
	s.list = append(s.list, driver.Launch{Kernel: k, Dst: dst.view(), Src: views})
}

// SGD implements plumbing.Steps.
func (st *stepList) SGD(p, g, v *Tensor, s plumbing.SGDSettings[*Tensor]) {
	in, changed := []*Tensor{p, g}, []*Tensor{p}
	if v != nil {
		in, changed = append(in, v), append(changed, v)
	}
	oneDType("sgd", in, "")
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

// Adam implements plumbing.Steps.
func (st *stepList) Adam(p, g, m, v, most *Tensor, s plumbing.AdamSettings[*Tensor]) {
	in := []*Tensor{p, g, m, v}
	if most != nil {
		in = append(in, most)
	}
	oneDType("adam", in, "")
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

// stepCounts implements plumbing.StepCounts.
type stepCounts struct {
	rows *Tensor // rows of driver.Advance
}

// NewStepCounts returns the step counts of parameters on a device, starting from the given ones. The device must support GuardsSGD
// or GuardsAdam.
func (fused) NewStepCounts(device string, steps []float64) plumbing.StepCounts[*Tensor] {
	c := &stepCounts{lasting(Device(device).backend(), Float64, []int{len(steps), 4})}
	c.Set(steps)
	return c
}

// Set implements plumbing.StepCounts.
func (c *stepCounts) Set(steps []float64) {
	rows := make([]float64, 4*len(steps))
	for i, n := range steps {
		rows[4*i] = n
	}
	preset(c.rows, rows)
}

// Counts implements plumbing.StepCounts.
func (c *stepCounts) Counts() []float64 {
	steps := make([]float64, c.rows.shape[0])
	for i, x := range contents[float64](c.rows) {
		if i%4 == 0 {
			steps[i/4] = x
		}
	}
	return steps
}

// Advance implements plumbing.StepCounts.
func (c *stepCounts) Advance(first, last int, found *Tensor, rate float64, betas [2]float64) {
	given("advance", found)
	if found.dtype != Float32 || found.mem.backend != c.rows.mem.backend {
		fail("advance", []*Tensor{c.rows, found}, "found has dtype %v on %v; want float32 on %v", found.dtype, found.Device(), c.rows.Device())
	}
	run(driver.Kernel{Code: driver.Advance, Params: driver.AdvanceParams{Rate: rate, Beta1: betas[0], Beta2: betas[1]}},
		c.rows.alias(4*first, []int{last - first, 4}, []int{4, 1}), inRow(found))
}

// Row implements plumbing.StepCounts.
func (c *stepCounts) Row(i int) *Tensor { return c.rows.alias(4*i, []int{4}, []int{1}) }

// inRow returns the elements of t in row-major order.
func inRow(t *Tensor) *Tensor {
	if len(t.shape) == 1 {
		return t
	}
	return shaped(compact(t), []int{t.Numel()})
}

// GuardsSGD reports whether p's device can itself decide whether to take an SGD step, with or without a velocity.
func (fused) GuardsSGD(p *Tensor, velocity bool) bool {
	given("guards_sgd", p)
	d := []DType{Float64, p.dtype, p.dtype}
	if !velocity {
		d = d[:2]
	}
	return guards(p, driver.GuardedSGD, d)
}

// GuardsAdam reports whether p's device can itself decide whether to take an Adam step.
func (fused) GuardsAdam(p *Tensor) bool {
	given("guards_adam", p)
	return guards(p, driver.GuardedAdam, []DType{Float64, p.dtype, p.dtype, p.dtype})
}

func guards(p *Tensor, c driver.Code, src []DType) bool {
	b := p.mem.backend
	return b.Offers(driver.Advance, Float64, Float32) && b.Offers(c, p.dtype, src...)
}
