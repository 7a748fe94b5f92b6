package tensor

import (
	"cmp"
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// Losses that are negative log-likelihoods.

type klDiv struct {
	Reduction
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

// KLDivLoss returns the mean of target (log target - t), the elements of the Kullback-Leibler
// divergence, for log-probabilities t and probabilities of the same shape. It uses LogTarget,
// and accepts ReduceBatchMean, which gives the divergence itself. It computes in float32 and
// rounds once. It is torch.nn.functional.kl_div.
func (t *Tensor) KLDivLoss(target *Tensor, o LossOptions) *Tensor {
	sameShape("kl_div", t, target)
	if o.Reduction != ReduceBatchMean {
		o.elements("kl_div")
	} else if len(t.shape) == 0 {
		fail("kl_div", []*Tensor{t}, "the input is a scalar; expected a batch as the first dimension for ReduceBatchMean")
	}
	return apply(klDiv{o.Reduction, o.LogTarget}, t, target)
}

type poissonNLLLoss struct {
	Reduction
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

// PoissonNLLLoss returns the mean of exp(t) - target t, for logarithms t of rates and counts
// of the same shape; with Rates, the mean of t - target log(t + Eps), where Eps is 1e-8 by
// default. Full adds Stirling's approximation of log target! where target is above 1. It
// computes in float32 and rounds once. It is torch.nn.functional.poisson_nll_loss.
func (t *Tensor) PoissonNLLLoss(target *Tensor, o LossOptions) *Tensor {
	sameShape("poisson_nll_loss", t, target)
	return apply(poissonNLLLoss{o.elements("poisson_nll_loss"), o.Rates, o.Full, cmp.Or(o.Eps, 1e-8)}, t, target)
}

// GaussianNLLLoss returns the mean of (log variance + (t - target)²/variance)/2 for means t
// and targets of the same shape. variance has that shape, or lacks its last dimension, or has
// size 1 there. Variances are raised to at least Eps, 1e-6 by default; the gradient ignores
// that. Full adds log(2π)/2. It panics if a variance is negative. It is composed of other
// operations, each of which rounds. It is torch.nn.functional.gaussian_nll_loss.
func (t *Tensor) GaussianNLLLoss(target, variance *Tensor, o LossOptions) *Tensor {
	const op = "gaussian_nll_loss"
	given(op, variance)
	sameShape(op, t, target)
	v := variance
	if n := len(t.shape); !slices.Equal(v.shape, t.shape) {
		if n > 0 && slices.Equal(v.shape, t.shape[:n-1]) {
			v = v.Unsqueeze(-1)
		}
		if n == 0 || !slices.Equal(v.shape, append(slices.Clone(t.shape[:n-1]), 1)) {
			fail(op, []*Tensor{t, target, variance}, "variance does not match the input; expected the input's shape, or one whose last dimension is 1 or missing")
		}
	}
	if v.Numel() > 0 {
		if least := reduce(driver.ReduceMin, v, seq(len(v.shape)), v.dtype).Item(); !(least >= 0) {
			fail(op, []*Tensor{t, target, variance}, "variance contains %v; expected at least 0", least)
		}
	}
	// Raising a small variance to Eps has no gradient.
	old := v.Detach()
	v = v.Add(old.Maximum(constant(v, v.dtype, cmp.Or(o.Eps, 1e-6))).Sub(old))
	y := v.Log().Add(t.Sub(target).Pow(2).Div(v)).MulScalar(0.5)
	if o.Full {
		y = y.AddScalar(0.5 * math.Log(2*math.Pi))
	}
	return o.elements(op).of(y)
}
