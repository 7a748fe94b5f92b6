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
