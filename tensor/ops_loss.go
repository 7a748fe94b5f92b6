package tensor

import (
	"fmt"
	"slices"

	"halfnote/tensor/driver"
)

// Reduction is the way a loss combines its elements.
type Reduction uint8

// The reductions.
const (
	ReduceMean      Reduction = iota // mean, the default
	ReduceSum                        // sum
	ReduceNone                       // no reduction
	ReduceBatchMean                  // sum divided by the size of the first dimension; KLDivLoss only
)

// String returns torch's name, for example "mean".
func (r Reduction) String() string { return [...]string{"mean", "sum", "none", "batchmean"}[r] }

// of reduces x, the elements of a loss.
func (r Reduction) of(x *Tensor) *Tensor {
	switch r {
	case ReduceSum:
		return x.Sum()
	case ReduceNone:
		return x
	case ReduceBatchMean:
		return x.Sum().MulScalar(1 / float64(x.Size(0)))
	}
	return x.Mean()
}

// reduced is of without a tape: x is a temporary in the dtype of the arithmetic, and the
// result has dtype d.
func (r Reduction) reduced(x *Tensor, d DType) *Tensor {
	y := x
	if r != ReduceNone {
		all := seq(len(x.shape))
		c := driver.Mean
		if r == ReduceSum {
			c = driver.Sum
		}
		y = (over{dims: all}).finish(reduce(c, x, all, x.dtype))
		release(x)
	}
	return narrow(y, d)
}

// share returns factor times the gradient of each element of a loss, given dy, the gradient
// of the reduced loss.
func (r Reduction) share(dy *Tensor, factor float64, elements int) *Tensor {
	if r == ReduceMean {
		factor /= float64(elements)
	}
	return dy.MulScalar(factor)
}

// LossOptions are the options of a loss. The zero value is torch's default. The comment on
// each loss names the options it uses in addition to Reduction.
type LossOptions struct {
	Reduction      Reduction
	Weight         *Tensor // weight of each class, or of each element of a binary loss, broadcast; nil is 1
	PosWeight      *Tensor // weight of positive targets, broadcast; nil is 1
	IgnoreIndex    []int   // target classes that are ignored; nil is -100 only
	LabelSmoothing float64 // share of a target's probability spread over all classes
	LogTarget      bool    // targets are logarithms
	Rates          bool    // inputs are rates, not logarithms of rates
	Full           bool    // add the terms that do not depend on the input
	Swap           bool    // use the harder of two negatives
	P              float64 // order of a norm or power; 0 is torch's default
	Eps            float64 // lower bound of a divisor or logarithm; 0 is torch's default
	Blank          int     // CTCLoss: class of the blank label
	ZeroInfinity   bool    // CTCLoss: infinite losses and their gradients become 0
}

type mseLoss struct{ Reduction }

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
	d := in[0].Sub(in[1]).Mul(l.share(dy, 2, in[0].Numel()))
	return signed(d, in)
}

// MSELoss returns the mean squared difference of t and target, which have the same shape: a
// scalar. It computes in float32 and rounds once. It is torch.nn.functional.mse_loss.
func (t *Tensor) MSELoss(target *Tensor) *Tensor { return t.MSELossWith(target, LossOptions{}) }

// MSELossWith is MSELoss with options.
func (t *Tensor) MSELossWith(target *Tensor, o LossOptions) *Tensor {
	sameShape("mse_loss", t, target)
	return apply(mseLoss{o.elements("mse_loss")}, t, target)
}

type l1Loss struct{ Reduction }

func (l1Loss) Info() Info {
	return info("l1_loss", "torch.nn.functional.l1_loss", SavesOperands)
}
func (l1Loss) promotes()                      {}
func (l l1Loss) f(in []*Tensor) *Tensor       { return l.of(in[0].Sub(in[1]).Abs()) }
func (l l1Loss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l l1Loss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// L1Loss returns the mean absolute difference of t and target, which have the same shape: a
// scalar. It computes in float32 and rounds once. It is torch.nn.functional.l1_loss.
func (t *Tensor) L1Loss(target *Tensor) *Tensor { return t.L1LossWith(target, LossOptions{}) }

// L1LossWith is L1Loss with options.
func (t *Tensor) L1LossWith(target *Tensor, o LossOptions) *Tensor {
	sameShape("l1_loss", t, target)
	return apply(l1Loss{o.elements("l1_loss")}, t, target)
}

type smoothL1Loss struct {
	Reduction
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

// SmoothL1Loss returns the mean of d²/(2 beta) where |d| is below beta and |d| - beta/2
// elsewhere, where d is the difference of t and target, which have the same shape. beta is at
// least 0; torch's default is 1. It computes in float32 and rounds once. It is
// torch.nn.functional.smooth_l1_loss.
func (t *Tensor) SmoothL1Loss(target *Tensor, beta float64, o LossOptions) *Tensor {
	const op = "smooth_l1_loss"
	sameShape(op, t, target)
	if !(beta >= 0) {
		fail(op, []*Tensor{t, target}, "beta is %v; expected at least 0", beta)
	}
	return apply(smoothL1Loss{o.elements(op), beta}, t, target)
}

type huberLoss struct {
	Reduction
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

// HuberLoss returns the mean of d²/2 where |d| is at most delta and delta (|d| - delta/2)
// elsewhere, where d is the difference of t and target, which have the same shape. delta is
// above 0; torch's default is 1. It computes in float32 and rounds once. It is
// torch.nn.functional.huber_loss.
func (t *Tensor) HuberLoss(target *Tensor, delta float64, o LossOptions) *Tensor {
	const op = "huber_loss"
	sameShape(op, t, target)
	if !(delta > 0) {
		fail(op, []*Tensor{t, target}, "delta is %v; expected a number above 0", delta)
	}
	return apply(huberLoss{o.elements(op), delta}, t, target)
}

// elements returns the reduction of a loss that does not accept ReduceBatchMean.
func (o LossOptions) elements(op string) Reduction {
	if o.Reduction > ReduceNone {
		panic(&Error{Op: op, Why: fmt.Sprintf("Reduction is %d; expected ReduceMean, ReduceSum or ReduceNone", o.Reduction)})
	}
	return o.Reduction
}

// wideDifference returns in[0] - in[1] in a new tensor of the dtype of the arithmetic.
func wideDifference(in []*Tensor) *Tensor {
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

func sameShape(op string, x, y *Tensor) {
	given(op, x, y)
	if !slices.Equal(x.shape, y.shape) {
		fail(op, []*Tensor{x, y}, "input and target do not match; expected equal shapes")
	}
}
