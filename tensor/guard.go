package tensor

import "halfnote/tensor/driver"

// StepCounts counts an optimizer's steps on the device of its parameters. The device itself
// decides whether to take a step, so the host does not wait for it. torch's optimizers do this
// in capturable steps with found_inf.
type StepCounts struct {
	rows *Tensor // rows of driver.Advance
}

// NewStepCounts returns the step counts of parameters on d, starting from the given ones. d
// must support GuardsSGD or GuardsAdam.
func NewStepCounts(d Device, steps []float64) *StepCounts {
	c := &StepCounts{lasting(d.backend(), Float64, []int{len(steps), 4})}
	c.Set(steps)
	return c
}

// Device returns the device of the counts.
func (c *StepCounts) Device() Device { return c.rows.Device() }

// Set sets the number of steps taken, one per parameter. During graph capture, the graph
// continues from those numbers.
func (c *StepCounts) Set(steps []float64) {
	rows := make([]float64, 4*len(steps))
	for i, n := range steps {
		rows[4*i] = n
	}
	preset(c.rows, rows)
}

// Counts returns the number of steps taken per parameter. It synchronises with the device.
func (c *StepCounts) Counts() []float64 {
	steps := make([]float64, c.rows.shape[0])
	for i, x := range contents[float64](c.rows) {
		if i%4 == 0 {
			steps[i/4] = x
		}
	}
	return steps
}

// Advance counts a step of parameters first to last-1 and enables the steps guarded by their
// rows, unless an element of found, a float32 vector, is nonzero. rate is the learning rate;
// betas are Adam's, for bias correction, or zeros for SGD.
func (c *StepCounts) Advance(first, last int, found *Tensor, rate float64, betas [2]float64) {
	given("advance", found)
	if found.dtype != Float32 || found.mem.backend != c.rows.mem.backend {
		fail("advance", []*Tensor{c.rows, found}, "found has dtype %v on %v; expected float32 on %v", found.dtype, found.Device(), c.rows.Device())
	}
	run(driver.Kernel{Code: driver.Advance, Params: driver.AdvanceParams{Rate: rate, Beta1: betas[0], Beta2: betas[1]}},
		c.rows.alias(4*first, []int{last - first, 4}, []int{4, 1}), inRow(found))
}

// Row returns the guard of parameter i's steps.
func (c *StepCounts) Row(i int) *Tensor { return c.rows.alias(4*i, []int{4}, []int{1}) }

// inRow returns the elements of t in row-major order.
func inRow(t *Tensor) *Tensor {
	if len(t.shape) == 1 {
		return t
	}
	return shaped(compact(t), []int{t.Numel()})
}

// GuardsSGD reports whether p's device can itself decide whether to take an SGD step, with or
// without a velocity.
func GuardsSGD(p *Tensor, velocity bool) bool {
	given("guards_sgd", p)
	d := []DType{Float64, p.dtype, p.dtype}
	if !velocity {
		d = d[:2]
	}
	return guards(p, driver.GuardedSGD, d)
}

// GuardsAdam reports whether p's device can itself decide whether to take an Adam step.
func GuardsAdam(p *Tensor) bool {
	given("guards_adam", p)
	return guards(p, driver.GuardedAdam, []DType{Float64, p.dtype, p.dtype, p.dtype})
}

func guards(p *Tensor, c driver.Code, src []DType) bool {
	b := p.mem.backend
	return b.Offers(driver.Advance, Float64, Float32) && b.Offers(c, p.dtype, src...)
}
