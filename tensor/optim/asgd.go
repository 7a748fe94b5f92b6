package optim

import (
	"math"

	"halfnote/tensor"
)

// asgd is B. Polyak and A. Juditsky, "Acceleration of Stochastic Approximation by
// Averaging" (1992).
type asgd struct{}

// NewASGD returns an optimizer of params with learning rate lr that keeps the average of
// each parameter over the steps from StartAverage on, in the tensor "ax" of its state. It
// takes Lambd, Alpha, the power of the learning rate's decay, StartAverage, WeightDecay and
// Maximize, and panics like [NewSGD]. It is torch.optim.ASGD.
func NewASGD(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	defaults := Group{LR: lr, Lambd: 1e-4, Alpha: 0.75, StartAverage: 1e6}
	return newOptimizer("ASGD", asgd{}, "lambd alpha t0 weight_decay maximize", params, defaults, options)
}

func (asgd) step(p, g *tensor.Tensor, o *Group, r record) {
	n := r.count()
	if n == 1 {
		r["eta"], r["mu"] = o.LR, 1.0
	}
	eta := single(r.number("eta"))
	g = decayed(p, g, o)
	p.MulScalarAssign(1-float64(o.Lambd*eta)).AddScaledAssign(g, -eta)
	average := r.tensor("ax", p)
	if mu := single(r.number("mu")); mu == 1 {
		average.Assign(p)
	} else {
		average.AddAssign(p.Sub(average).MulScalar(mu))
	}
	r["eta"] = o.LR / math.Pow(1+float64(o.Lambd*o.LR*n), o.Alpha)
	r["mu"] = 1 / math.Max(1, n-o.StartAverage)
}

// single returns x as torch keeps it between steps, in float32.
func single(x float64) float64 { return float64(float32(x)) }
