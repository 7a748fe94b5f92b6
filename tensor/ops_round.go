package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// stairs are functions whose derivative is 0 wherever there is one; of integers all
// but sign are the integers themselves.
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

func (s stairs) Info() Info { return Info{s.name, "torch." + s.name, Keep, ReadsNothing} }
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

// Floor returns the largest whole number not above t, with the gradient 0. It is
// torch.floor.
func (t *Tensor) Floor() *Tensor { return apply(floor, t) }

// Ceil returns the smallest whole number not below t, with the gradient 0. It is
// torch.ceil.
func (t *Tensor) Ceil() *Tensor { return apply(ceil, t) }

// Trunc returns t without its fraction, with the gradient 0. It is torch.trunc.
func (t *Tensor) Trunc() *Tensor { return apply(trunc, t) }

// Round returns the whole number nearest to t, of two the even one, with the
// gradient 0. It is torch.round.
func (t *Tensor) Round() *Tensor { return apply(round, t) }

// Sign returns 1, 0 or -1, 0 for NaN, with the gradient 0. It is torch.sign.
func (t *Tensor) Sign() *Tensor { return apply(sign, t) }

// Frac returns t minus its Trunc. It is torch.frac.
func (t *Tensor) Frac() *Tensor { return t.Sub(t.Trunc()) }

// RoundTo returns t rounded to that many decimals, of two nearest the even one, with
// the gradient 0; below 0, to tens, hundreds and so on. It computes in float32 and
// rounds once. t is of a floating-point dtype. It is torch.round with decimals.
func (t *Tensor) RoundTo(decimals int) *Tensor {
	if decimals == 0 {
		return t.Round()
	}
	return apply(roundTo{decimals}, t)
}

type roundTo struct{ decimals int }

func (roundTo) Info() Info { return Info{"round", "torch.round", Keep, ReadsNothing} }
func (r roundTo) Forward(in []*Tensor) *Tensor {
	if !in[0].dtype.IsFloat() {
		failDType("round", in, "rounded to %d decimals; expected a floating-point dtype", r.decimals)
	}
	return compose(func(in []*Tensor) *Tensor {
		if r.decimals < 0 {
			ten := math.Pow10(-r.decimals)
			return in[0].DivScalar(ten).Round().Scale(ten)
		}
		ten := math.Pow10(r.decimals)
		return in[0].Scale(ten).Round().DivScalar(ten)
	}, in)
}
func (roundTo) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{constantLike(dy, 0)} }

// clamp keeps its operand between two numbers, which may be infinite: then there is
// no bound. The derivative is 0 at the bounds.
type clamp struct {
	name, torch string
	lo, hi      float64
}

func (c clamp) Info() Info { return Info{c.name, c.torch, Keep, ReadsOperands} }
func (c clamp) Forward(in []*Tensor) *Tensor {
	x := in[0]
	y := x
	lo, hi := c.lo, c.hi
	if !x.dtype.IsFloat() && x.dtype != Bool {
		// Beyond the range of integers there is no bound, or the next integer is it.
		least, most := float64(IInfo(x.dtype).Min), min(float64(IInfo(x.dtype).Max), 0x1p63-1024)
		if lo, hi = min(lo, most), max(hi, least); lo <= least {
			lo = math.Inf(-1)
		}
		if hi >= most {
			hi = math.Inf(1)
		}
	}
	if !math.IsInf(lo, -1) {
		y = pairwise(c.name, driver.Max, y, constant(x, x.dtype, lo))
	}
	if !math.IsInf(hi, 1) {
		y = pairwise(c.name, driver.Min, y, constant(x, x.dtype, hi))
	}
	if y == x {
		return duplicate(x)
	}
	return y
}
func (c clamp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	x := in[0]
	inside := x.GtScalar(c.lo).And(x.LtScalar(c.hi))
	return []*Tensor{inside.Where(dy, constant(dy, dy.dtype, 0))}
}

// Clamp returns t, but lo where it is below lo and hi where it is above hi; an
// infinite bound is none. NaN stays. Where lo is above hi the result is hi. The gradient is 0
// at the bounds. Integers become float32 if a bound has a fraction. It is torch.clamp.
func (t *Tensor) Clamp(lo, hi float64) *Tensor {
	for _, c := range []float64{lo, hi} {
		if !math.IsInf(c, 0) {
			t = t.To(withNumber(t, c))
		}
	}
	return apply(clamp{"clamp", "torch.clamp", lo, hi}, t)
}

// ClampMin returns t, but lo where it is below lo. It is torch.clamp_min.
func (t *Tensor) ClampMin(lo float64) *Tensor { return t.Clamp(lo, math.Inf(1)) }

// ClampMax returns t, but hi where it is above hi. It is torch.clamp_max.
func (t *Tensor) ClampMax(hi float64) *Tensor { return t.Clamp(math.Inf(-1), hi) }

// ClampTensor is Clamp with a bound for each element, broadcast: t's Maximum with lo,
// its Minimum with hi. It is torch.clamp with tensors.
func (t *Tensor) ClampTensor(lo, hi *Tensor) *Tensor {
	if in := []*Tensor{t, lo, hi}; promoteAll(in) == Bool {
		notBool("clamp", in)
	}
	return t.Maximum(lo).Minimum(hi)
}

// nanToNum replaces what is not finite.
type nanToNum struct{ nan, posinf, neginf float64 }

func (nanToNum) Info() Info { return Info{"nan_to_num", "torch.nan_to_num", Keep, ReadsOperands} }
func (n nanToNum) Forward(in []*Tensor) *Tensor {
	return compose(func(in []*Tensor) *Tensor {
		x := in[0]
		x = x.EqScalar(math.Inf(1)).Where(constant(x, x.dtype, n.posinf), x)
		x = x.EqScalar(math.Inf(-1)).Where(constant(x, x.dtype, n.neginf), x)
		return x.IsNaN().Where(constant(x, x.dtype, n.nan), x)
	}, in)
}
func (nanToNum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{in[0].IsFinite().Where(dy, constant(dy, dy.dtype, 0))}
}

// NanToNum returns t with 0 for NaN and the dtype's largest and least number for
// infinities. It is torch.nan_to_num.
func (t *Tensor) NanToNum() *Tensor {
	if !t.dtype.IsFloat() {
		return t.Clone()
	}
	most := FInfo(t.dtype).Max
	return t.NanToNumWith(0, most, -most)
}

// NanToNumWith returns t with nan, posinf and neginf for what is not finite. It is
// torch.nan_to_num.
func (t *Tensor) NanToNumWith(nan, posinf, neginf float64) *Tensor {
	return apply(nanToNum{nan, posinf, neginf}, t)
}
