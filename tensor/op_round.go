package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// stairs are functions whose derivative is 0 wherever it exists. Except for sign they return
// integers unchanged.
type stairs struct {
	name string
	code driver.Code
}

var (
	floor = stairs{"floor", driver.Floor}
	ceil  = stairs{"ceil", driver.Ceil}
	trunc = stairs{"trunc", driver.Trunc}
	round = stairs{"round", driver.Round}
	sign  = stairs{"sign", driver.Sign}
)

func (s stairs) Info() Info { return info(s.name, "torch."+s.name, SavesNothing) }
func (s stairs) Forward(in []*Tensor) *Tensor {
	switch d := in[0].dtype; {
	case d == Bool && s.code != driver.Sign:
		notBool(s.name, in)
	case !d.IsFloat() && s.code != driver.Sign:
		return duplicate(in[0])
	}
	return unary(s.code, in[0])
}
func (stairs) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{constantLike(dy, 0)}
}

// Floor returns t rounded down to a whole number. Its gradient is 0. It is
// torch.floor.
func (t *Tensor) Floor() *Tensor { return apply(floor, t) }

// Ceil returns t rounded up to a whole number. Its gradient is 0. It is
// torch.ceil.
func (t *Tensor) Ceil() *Tensor { return apply(ceil, t) }

// Trunc returns t without its fraction. Its gradient is 0. It is torch.trunc.
func (t *Tensor) Trunc() *Tensor { return apply(trunc, t) }

// Round returns the whole number nearest to t, or the even one if two are equally near. Its
// gradient is 0. It is torch.round.
func (t *Tensor) Round() *Tensor { return apply(round, t) }

// Sign returns 1, 0 or -1, and 0 for NaN. Its gradient is 0. It is torch.sign.
func (t *Tensor) Sign() *Tensor { return apply(sign, t) }

// Frac returns t minus its Trunc. It is torch.frac.
func (t *Tensor) Frac() *Tensor { return t.Sub(t.Trunc()) }

// RoundTo returns t rounded to the given number of decimals, or to the even one if two are
// equally near. Negative decimals round to tens, hundreds and so on. Its gradient is 0. It
// computes in float32 and rounds once. t has a floating-point dtype. It is torch.round with
// decimals.
func (t *Tensor) RoundTo(decimals int) *Tensor {
	if decimals == 0 {
		return t.Round()
	}
	return apply(roundTo{decimals}, t)
}

type roundTo struct{ decimals int }

func (roundTo) Info() Info { return info("round", "torch.round", SavesNothing) }
func (r roundTo) Forward(in []*Tensor) *Tensor {
	if !in[0].dtype.IsFloat() {
		failDType("round", in, "cannot round integers to %d decimals; want a floating-point dtype", r.decimals)
	}
	return compose(func(in []*Tensor) *Tensor {
		if r.decimals < 0 {
			ten := math.Pow10(-r.decimals)
			return in[0].DivScalar(ten).Round().MulScalar(ten)
		}
		ten := math.Pow10(r.decimals)
		return in[0].MulScalar(ten).Round().DivScalar(ten)
	}, in)
}
func (roundTo) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{constantLike(dy, 0)} }

type copysign struct{}

func (copysign) Info() Info { return info("copysign", "torch.copysign", SavesOperands) }
func (copysign) promotes()  {}
func (copysign) real()      {}
func (copysign) Forward(in []*Tensor) *Tensor {
	return pairwise("copysign", driver.Copysign, in[0], in[1])
}
func (copysign) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(x.Sign()).Mul(constantLike(y, 1).Copysign(y)) },
		func(dy, _, _ *Tensor) *Tensor { return constantLike(dy, 0) })
}

// Copysign returns |t| with o's sign, broadcast. It is torch.copysign.
func (t *Tensor) Copysign(o *Tensor) *Tensor { return apply(copysign{}, t, o) }

type heaviside struct{}

func (heaviside) Info() Info { return info("heaviside", "torch.heaviside", NoDerivative) }
func (heaviside) promotes()  {}
func (heaviside) Forward(in []*Tensor) *Tensor {
	x, values := in[0], in[1]
	zero := newTensor(x.mem.backend, Bool, x.shape)
	runBroadcast(driver.Kernel{Code: driver.Equal}, zero, x, constant(x, x.dtype, 0))
	y := newTensor(x.mem.backend, x.dtype, broadcast("heaviside", in))
	runBroadcast(driver.Kernel{Code: driver.Where}, y, zero, values, unary(driver.Step, x))
	return y
}
func (heaviside) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// Heaviside returns 0 where t is below 0, 1 where it is above, and values where it is 0,
// broadcast. It has no gradient. It is torch.heaviside.
func (t *Tensor) Heaviside(values *Tensor) *Tensor { return apply(heaviside{}, t, values) }
