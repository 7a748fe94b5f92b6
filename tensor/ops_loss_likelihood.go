package tensor

import (
	"cmp"
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// Losses that are negative log-likelihoods.

type klDiv struct {
	reduction
	logTarget bool
}

func (klDiv) Info() Info { return info("kl_div", "torch.nn.functional.kl_div", SavesOperands) }
func (klDiv) promotes()  {}
func (l klDiv) f(in []*Tensor) *Tensor {
	x, target := in[0], in[1]
	if l.logTarget {
		return l.of(target.Exp().Mul(target.Sub(x)))
	}
	// 0 log 0 is 0.
	log := target.EqScalar(0).Where(constant(target, target.dtype, 1), target).Log()
	return l.of(target.Mul(log).Sub(target.Mul(x)))
}
func (l klDiv) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l klDiv) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// klDiv is nn.KLDiv.
func (t *Tensor) klDiv(target *Tensor, o lossOptions) *Tensor {
	sameShape("kl_div", t, target)
	if o.Reduction != reduceBatchMean {
		elements(o, "kl_div")
	} else if len(t.shape) == 0 {
		fail("kl_div", []*Tensor{t}, "the input is a scalar; want a batch as the first dimension for ReduceBatchMean")
	}
	return apply(klDiv{reduction(o.Reduction), o.LogTarget}, t, target)
}

type poissonNLLLoss struct {
	reduction
	rates, full bool
	eps         float64
}

func (poissonNLLLoss) Info() Info {
	return info("poisson_nll_loss", "torch.nn.functional.poisson_nll_loss", SavesOperands)
}
func (poissonNLLLoss) promotes() {}
func (l poissonNLLLoss) f(in []*Tensor) *Tensor {
	x, target := in[0], in[1]
	var y *Tensor
	if l.rates {
		y = x.Sub(target.Mul(x.AddScalar(l.eps).Log()))
	} else {
		y = x.Exp().Sub(target.Mul(x))
	}
	if l.full { // Stirling's formula for log target!
		many := target.GtScalar(1)
		n := many.Where(target, constant(target, target.dtype, 1))
		s := n.Mul(n.Log()).Sub(n).Add(n.MulScalar(2 * math.Pi).Log().MulScalar(0.5))
		y = y.Add(many.Where(s, constant(target, target.dtype, 0)))
	}
	return l.of(y)
}
func (l poissonNLLLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l poissonNLLLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// poissonNLLLoss is nn.PoissonNLLLoss.
func (t *Tensor) poissonNLLLoss(target *Tensor, o lossOptions) *Tensor {
	sameShape("poisson_nll_loss", t, target)
	return apply(poissonNLLLoss{elements(o, "poisson_nll_loss"), o.Rates, o.Full, cmp.Or(o.Eps, 1e-8)}, t, target)
}

// gaussianNLLLoss is nn.GaussianNLLLoss.
func (t *Tensor) gaussianNLLLoss(target, variance *Tensor, o lossOptions) *Tensor {
	const op = "gaussian_nll_loss"
	given(op, variance)
	sameShape(op, t, target)
	v := variance
	if n := len(t.shape); !slices.Equal(v.shape, t.shape) {
		if n > 0 && slices.Equal(v.shape, t.shape[:n-1]) {
			v = v.Unsqueeze(-1)
		}
		if n == 0 || !slices.Equal(v.shape, append(slices.Clone(t.shape[:n-1]), 1)) {
			fail(op, []*Tensor{t, target, variance}, "variance does not match the input; want the input's shape, or one whose last dimension is 1 or missing")
		}
	}
	if v.Numel() > 0 {
		if least := reduce(driver.ReduceMin, v, seq(len(v.shape)), v.dtype).Item(); !(least >= 0) {
			fail(op, []*Tensor{t, target, variance}, "variance contains %v; want at least 0", least)
		}
	}
	// Raising a small variance to Eps has no gradient.
	old := v.Detach()
	v = v.Add(old.Maximum(constant(v, v.dtype, cmp.Or(o.Eps, 1e-6))).Sub(old))
	y := v.Log().Add(t.Sub(target).Pow(2).Div(v)).MulScalar(0.5)
	if o.Full {
		y = y.AddScalar(0.5 * math.Log(2*math.Pi))
	}
	return elements(o, op).of(y)
}
