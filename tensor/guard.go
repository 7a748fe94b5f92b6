package tensor

import "halfnote/tensor/driver"

// StepCounts counts the steps of an optimizer where its parameters are: the device
// itself decides there whether a step is taken, so that nobody waits to learn it. The
// capturable steps of torch's optimizers with found_inf are so.
type StepCounts struct {
	rows *Tensor // of driver.Advance
}

// NewStepCounts returns the counts of parameters on d that have taken some steps each.
// d must offer one of GuardsSGD and GuardsAdam.
func NewStepCounts(d Device, steps []float64) *StepCounts {
	c := &StepCounts{lasting(d.backend(), Float64, []int{len(steps), 4})}
	c.Set(steps)
	return c
}

// Device returns where the steps are counted.
func (c *StepCounts) Device() Device { return c.rows.Device() }

// Set says how many steps have been taken, of as many parameters as there are. The steps of a
// graph that is being captured are counted on from there.
func (c *StepCounts) Set(steps []float64) {
	rows := make([]float64, 4*len(steps))
	for i, n := range steps {
		rows[4*i] = n
	}
	preset(c.rows, rows)
}

// Counts returns how many steps have been taken. It waits for the device.
func (c *StepCounts) Counts() []float64 {
	steps := make([]float64, c.rows.shape[0])
	for i, x := range contents[float64](c.rows) {
		if i%4 == 0 {
			steps[i/4] = x
		}
	}
	return steps
}

// Advance counts a step of the parameters first to last-1 and has the steps that are
// guarded by their rows taken, unless an element of found, a float32 vector, is not 0. rate
// is the learning rate, betas what corrects it: those of Adam, zeros for SGD.
func (c *StepCounts) Advance(first, last int, found *Tensor, rate float64, betas [2]float64) {
	given("advance", found)
	if found.dtype != Float32 || found.mem.backend != c.rows.mem.backend {
		fail("advance", []*Tensor{c.rows, found}, "the flags are %v on %v; expected float32 on %v", found.dtype, found.Device(), c.rows.Device())
	}
	run(driver.Kernel{Code: driver.Advance, Alpha: rate, Beta: betas[0], More: [5]float64{betas[1]}},
		c.rows.alias(4*first, []int{last - first, 4}, []int{4, 1}), inRow(found))
}

// Row returns what guards the steps of parameter i.
func (c *StepCounts) Row(i int) *Tensor { return c.rows.alias(4*i, []int{4}, []int{1}) }

// inRow returns the elements of t in row-major order.
func inRow(t *Tensor) *Tensor {
	if len(t.shape) == 1 {
		return t
	}
	return shaped(compact(t), []int{t.Numel()})
}

// GuardsSGD reports whether p's device itself can decide to take a step of SGD, with a
// velocity or without one.
func GuardsSGD(p *Tensor, velocity bool) bool {
	given("guards_sgd", p)
	d := []DType{Float64, p.dtype, p.dtype}
	if !velocity {
		d = d[:2]
	}
	return guards(p, driver.GuardedSGD, d)
}

// GuardsAdam reports whether p's device itself can decide to take a step of Adam.
func GuardsAdam(p *Tensor) bool {
	given("guards_adam", p)
	return guards(p, driver.GuardedAdam, []DType{Float64, p.dtype, p.dtype, p.dtype})
}

func guards(p *Tensor, c driver.Code, src []DType) bool {
	b := p.mem.backend
	return b.Offers(driver.Advance, Float64, Float32) && b.Offers(c, p.dtype, src...)
}
