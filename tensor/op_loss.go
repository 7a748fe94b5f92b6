package tensor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

// reduction is the way a loss combines its elements, one of plumbing's reductions.
type reduction uint8

const (
	reduceMean      = plumbing.ReduceMean
	reduceSum       = plumbing.ReduceSum
	reduceNone      = plumbing.ReduceNone
	reduceBatchMean = plumbing.ReduceBatchMean
)

// String returns torch's name, for example "mean".
func (r reduction) String() string {
	if int(r) >= len(plumbing.Reductions) {
		return strconv.Itoa(int(r))
	}
	return plumbing.Reductions[r]
}

// of reduces x, the elements of a loss.
func (r reduction) of(x *Tensor) *Tensor {
	switch r {
	case reduceSum:
		return x.Sum()
	case reduceNone:
		return x
	case reduceBatchMean:
		return x.Sum().MulScalar(1 / float64(x.Size(0)))
	}
	return x.Mean()
}

// reduced is of without a tape: x is a temporary in the dtype of the arithmetic, and the
// result has dtype d.
func (r reduction) reduced(x *Tensor, d DType) *Tensor {
	y := x
	if r != reduceNone {
		all := seq(len(x.shape))
		c := driver.Mean
		if r == reduceSum {
			c = driver.Sum
		}
		y = (over{dims: all}).finish(reduce(c, x, all, x.dtype))
		release(x)
	}
	return narrow(y, d)
}

// share returns factor times the gradient of each element of a loss, given dy, the gradient
// of the reduced loss.
func (r reduction) share(dy *Tensor, factor float64, elements int) *Tensor {
	if r == reduceMean {
		factor /= float64(elements)
	}
	return dy.MulScalar(factor)
}

// lossOptions are the options of a loss.
type lossOptions = plumbing.LossOptions[*Tensor]

type mseLoss struct{ reduction }

func (mseLoss) Info() Info {
	return info("mse_loss", "torch.nn.functional.mse_loss", SavesOperands)
}
func (mseLoss) promotes() {}
func (l mseLoss) Forward(in []*Tensor) *Tensor {
	diff := wideDifference(in)
	run(driver.Kernel{Code: driver.Mul}, diff, diff, diff)
	return l.reduced(diff, in[0].dtype)
}
func (l mseLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	w := wideOf(in[0].dtype) // the difference of halves may overflow
	d := in[0].To(w).Sub(in[1].To(w)).Mul(l.share(dy.To(w), 2, in[0].Numel()))
	return signed(d.To(in[0].dtype), in)
}

// MSELoss is nn.MSELoss.
func (functional) MSELoss(t, target *Tensor, o lossOptions) *Tensor {
	sameShape("mse_loss", t, target)
	return apply(mseLoss{elements(o, "mse_loss")}, t, target)
}

type l1Loss struct{ reduction }

func (l1Loss) Info() Info {
	return info("l1_loss", "torch.nn.functional.l1_loss", SavesOperands)
}
func (l1Loss) promotes()                      {}
func (l l1Loss) f(in []*Tensor) *Tensor       { return l.of(in[0].Sub(in[1]).Abs()) }
func (l l1Loss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l l1Loss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// L1Loss is nn.L1Loss.
func (functional) L1Loss(t, target *Tensor, o lossOptions) *Tensor {
	sameShape("l1_loss", t, target)
	return apply(l1Loss{elements(o, "l1_loss")}, t, target)
}

type smoothL1Loss struct {
	reduction
	beta float64
}

func (smoothL1Loss) Info() Info {
	return info("smooth_l1_loss", "torch.nn.functional.smooth_l1_loss", SavesOperands)
}
func (smoothL1Loss) promotes() {}
func (l smoothL1Loss) f(in []*Tensor) *Tensor {
	d := in[0].Sub(in[1])
	if l.beta == 0 {
		return l.of(d.Abs())
	}
	return l.of(bent(d.Abs().GeScalar(l.beta), d, l.beta).MulScalar(1 / l.beta))
}
func (l smoothL1Loss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l smoothL1Loss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// SmoothL1Loss is nn.SmoothL1Loss.
func (functional) SmoothL1Loss(t, target *Tensor, beta float64, o lossOptions) *Tensor {
	const op = "smooth_l1_loss"
	sameShape(op, t, target)
	if !(beta >= 0) {
		fail(op, []*Tensor{t, target}, "beta is %v; want at least 0", beta)
	}
	return apply(smoothL1Loss{elements(o, op), beta}, t, target)
}

type huberLoss struct {
	reduction
	delta float64
}

func (huberLoss) Info() Info {
	return info("huber_loss", "torch.nn.functional.huber_loss", SavesOperands)
}
func (huberLoss) promotes() {}
func (l huberLoss) f(in []*Tensor) *Tensor {
	d := in[0].Sub(in[1])
	return l.of(bent(d.Abs().GtScalar(l.delta), d, l.delta))
}

// bent returns |d|²/2, or where far is true its linear continuation from limit. d may be
// infinite where far is true, and NaN elsewhere.
func bent(far, d *Tensor, limit float64) *Tensor {
	near := far.Where(constant(d, d.dtype, 0), d)
	return far.Where(d.Abs().AddScalar(-limit/2).MulScalar(limit), near.Mul(near).MulScalar(0.5))
}
func (l huberLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l huberLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// HuberLoss is nn.HuberLoss.
func (functional) HuberLoss(t, target *Tensor, delta float64, o lossOptions) *Tensor {
	const op = "huber_loss"
	sameShape(op, t, target)
	if !(delta > 0) {
		fail(op, []*Tensor{t, target}, "delta is %v; want a number above 0", delta)
	}
	return apply(huberLoss{elements(o, op), delta}, t, target)
}

// elements returns the reduction of a loss that does not accept reduceBatchMean.
func elements(o lossOptions, op string) reduction {
	if o.Reduction > reduceNone {
		panic(named(&Error{Op: op, Why: fmt.Sprintf("Reduction is %q; want \"mean\", \"sum\" or \"none\"", reduction(o.Reduction))}))
	}
	return reduction(o.Reduction)
}

// wideDifference returns in[0] - in[1] in a new tensor of the dtype of the arithmetic.
func wideDifference(in []*Tensor) *Tensor {
	if d := wideOf(in[0].dtype); in[0].mem.backend.Offers(driver.Sub, d, in[0].dtype, in[1].dtype) {
		diff := unsetTensor(in[0].mem.backend, d, in[0].shape)
		run(driver.Kernel{Code: driver.Sub}, diff, in...)
		return diff
	}
	x, y := wide(in[0]), wide(in[1])
	diff := pairwise("", driver.Sub, x, y)
	if x != in[0] {
		release(x, y)
	}
	return diff
}

// signed returns d for in[0] and -d for in[1].
func signed(d *Tensor, in []*Tensor) []*Tensor {
	out := []*Tensor{d, nil}
	if in[1].RequiresGrad() {
		out[1] = d.Neg()
	}
	return out
}

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

// KLDiv is nn.KLDiv.
func (functional) KLDiv(t, target *Tensor, o lossOptions) *Tensor {
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

// PoissonNLLLoss is nn.PoissonNLLLoss.
func (functional) PoissonNLLLoss(t, target *Tensor, o lossOptions) *Tensor {
	sameShape("poisson_nll_loss", t, target)
	return apply(poissonNLLLoss{elements(o, "poisson_nll_loss"), o.Rates, o.Full, cmp.Or(o.Eps, 1e-8)}, t, target)
}

// GaussianNLLLoss is nn.GaussianNLLLoss.
func (functional) GaussianNLLLoss(t, target, variance *Tensor, o lossOptions) *Tensor {
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
		if v.Detach().LtScalar(0).anyTrue() {
			least := reduce(driver.ReduceMin, v, seq(len(v.shape)), v.dtype).Item()
			fail(op, []*Tensor{t, target, variance}, "variance contains %v; want at least 0", least)
		}
	}
	// Raising a small variance to Eps has no gradient.
	old, eps := v.Detach(), constant(v, v.dtype, cmp.Or(o.Eps, 1e-6))
	v = v.Add(old.Lt(eps).Where(eps.Sub(old), constant(v, v.dtype, 0)))
	y := v.Log().Add(t.Sub(target).Pow(2).Div(v)).MulScalar(0.5)
	if o.Full {
		y = y.AddScalar(0.5 * math.Log(2*math.Pi))
	}
	return elements(o, op).of(y)
}
