package tensor

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

// stepCounts implements plumbing.StepCounts.
type stepCounts struct {
	rows *Tensor // rows of driver.Advance
}

// newStepCounts is NewStepCounts of plumbing.Fused.
func newStepCounts(device string, steps []float64) plumbing.StepCounts[*Tensor] {
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

// guardsSGD is GuardsSGD of plumbing.Fused.
func guardsSGD(p *Tensor, velocity bool) bool {
	given("guards_sgd", p)
	d := []DType{Float64, p.dtype, p.dtype}
	if !velocity {
		d = d[:2]
	}
	return guards(p, driver.GuardedSGD, d)
}

// guardsAdam is GuardsAdam of plumbing.Fused.
func guardsAdam(p *Tensor) bool {
	given("guards_adam", p)
	return guards(p, driver.GuardedAdam, []DType{Float64, p.dtype, p.dtype, p.dtype})
}

func guards(p *Tensor, c driver.Code, src []DType) bool {
	b := p.mem.backend
	return b.Offers(driver.Advance, Float64, Float32) && b.Offers(c, p.dtype, src...)
}
