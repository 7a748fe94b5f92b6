package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

type mseLoss struct{}

func (mseLoss) Info() Info {
	return Info{"mse_loss", "torch.nn.functional.mse_loss", Raise, ReadsOperands}
}
func (mseLoss) promotes() {}
func (mseLoss) Forward(in []*Tensor) *Tensor {
	diff := wideDifference(in)
	run(driver.Kernel{Code: driver.Mul}, diff, diff, diff)
	y := (over{dims: seq(len(diff.shape))}).finish(reduce(driver.Mean, diff, seq(len(diff.shape)), diff.dtype))
	release(diff)
	return narrow(y, in[0].dtype)
}
func (mseLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	d := in[0].Sub(in[1]).Mul(dy.Scale(2 / float64(in[0].Numel())))
	return signed(d, in)
}

// MSELoss returns the mean of the squared differences of t and target, which have
// one shape: a scalar. It computes in float32 and rounds once. It is
// torch.nn.functional.mse_loss.
func (t *Tensor) MSELoss(target *Tensor) *Tensor {
	sameShape("mse_loss", t, target)
	return apply(mseLoss{}, t, target)
}

type l1Loss struct{}

func (l1Loss) Info() Info {
	return Info{"l1_loss", "torch.nn.functional.l1_loss", Raise, ReadsOperands}
}
func (l1Loss) promotes()                      {}
func (l1Loss) f(in []*Tensor) *Tensor         { return in[0].Sub(in[1]).Abs().Mean() }
func (l l1Loss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l l1Loss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// L1Loss returns the mean of the absolute differences of t and target, which have
// one shape: a scalar. It computes in float32 and rounds once. It is
// torch.nn.functional.l1_loss.
func (t *Tensor) L1Loss(target *Tensor) *Tensor {
	sameShape("l1_loss", t, target)
	return apply(l1Loss{}, t, target)
}

// wideDifference returns in[0] - in[1] in a new tensor of the dtype that
// arithmetic is done in.
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
	if !slices.Equal(x.shape, y.shape) {
		fail(op, []*Tensor{x, y}, "input and target differ; expected one shape")
	}
}
