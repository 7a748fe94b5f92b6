package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// clamp limits its operand to the range from lo to hi; an infinite bound does not limit.
// The derivative is 0 at the bounds.
type clamp struct {
	name, torch string
	lo, hi      float64
}

func (c clamp) Info() Info { return info(c.name, c.torch, SavesOperands) }
func (c clamp) Forward(in []*Tensor) *Tensor {
	x := in[0]
	y := x
	lo, hi := c.lo, c.hi
	if !x.dtype.IsFloat() && x.dtype != Bool {
		// A bound beyond the range of the integers does not limit, or becomes the nearest one.
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
	outside := x.LeScalar(c.lo).Or(x.GeScalar(c.hi))
	switch {
	case c.name == "hardtanh": // passes the gradient of NaN on
	case math.IsInf(c.hi, 1) && c.name != "clamp_max":
		outside = x.GtScalar(c.lo).Not()
	case math.IsInf(c.lo, -1):
		outside = x.LtScalar(c.hi).Not()
	default:
		outside = x.GtScalar(c.lo).And(x.LtScalar(c.hi)).Not()
	}
	return []*Tensor{outside.Where(constant(dy, dy.dtype, 0), dy)}
}

// Clamp returns t limited to the range from lo to hi. An infinite bound does not limit, NaN
// stays, and where lo is above hi the result is hi. The gradient is 0 at the bounds. Integer
// tensors become float32 if a bound has a fraction. It is torch.clamp.
func (t *Tensor) Clamp(lo, hi float64) *Tensor {
	t.given("clamp")
	for _, c := range []float64{lo, hi} {
		if !math.IsInf(c, 0) {
			t = t.To(withNumber(t, c))
		}
	}
	return apply(clamp{"clamp", "torch.clamp", lo, hi}, t)
}

// ClampMin returns max(t, lo). It is torch.clamp_min.
func (t *Tensor) ClampMin(lo float64) *Tensor {
	t.given("clamp_min")
	return t.Clamp(lo, math.Inf(1))
}

// ClampMax returns min(t, hi). It is torch.clamp_max.
func (t *Tensor) ClampMax(hi float64) *Tensor {
	t.given("clamp_max")
	return t.Clamp(math.Inf(-1), hi)
}

// ClampTensor is Clamp with bounds for each element, broadcast: t's Maximum with lo, then
// its Minimum with hi. It is torch.clamp with tensors.
func (t *Tensor) ClampTensor(lo, hi *Tensor) *Tensor {
	given("clamp", t, lo, hi)
	if in := []*Tensor{t, lo, hi}; promoteAll(in) == Bool {
		notBool("clamp", in)
	}
	return apply(clampTensors{}, t, lo, hi)
}

// clampTensors limits its first operand to the range from the second to the third.
type clampTensors struct{}

func (clampTensors) Info() Info { return clamp{name: "clamp", torch: "torch.clamp"}.Info() }
func (clampTensors) promotes()  {}
func (clampTensors) Forward(in []*Tensor) *Tensor {
	return compose(func(in []*Tensor) *Tensor { return in[0].Maximum(in[1]).Minimum(in[2]) }, in)
}

// VJP follows torch: on a bound the operand and the bound share the gradient, unless the bounds are equal.
func (clampTensors) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	x, lo, hi := in[0].Detach(), in[1].Detach(), in[2].Detach()
	zero := constant(dy, dy.dtype, 0)
	apart, none := lo.Lt(hi), lo.Gt(hi)
	tie := func(bound *Tensor) *Tensor { return x.Eq(bound).And(apart) }
	taken := []func() (whole, half *Tensor){
		func() (whole, half *Tensor) {
			return x.Lt(lo).Or(x.Gt(hi)).Or(none).Not(), tie(lo).Or(tie(hi))
		},
		func() (whole, half *Tensor) { return x.Lt(lo).And(lo.Le(hi)), tie(lo) },
		func() (whole, half *Tensor) { return x.Gt(hi).And(lo.Le(hi)).Or(none), tie(hi) },
	}
	out := make([]*Tensor, 3)
	for i, f := range taken {
		if in[i].RequiresGrad() {
			whole, half := f()
			out[i] = half.Where(dy.MulScalar(0.5), whole.Where(dy, zero)).sumTo(in[i])
		}
	}
	return out
}

// nanToNum replaces non-finite elements.
type nanToNum struct{ nan, posinf, neginf float64 }

func (nanToNum) Info() Info { return info("nan_to_num", "torch.nan_to_num", SavesOperands) }
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

// NanToNum returns t with NaN replaced by 0, and infinities by the largest and the smallest
// number of the dtype. It is torch.nan_to_num.
func (t *Tensor) NanToNum() *Tensor {
	t.given("nan_to_num")
	if !t.dtype.IsFloat() {
		return t.Clone()
	}
	most := FInfo(t.dtype).Max
	return t.NanToNumWith(0, most, -most)
}

// NanToNumWith returns t with NaN, +Inf and -Inf replaced by nan, posinf and neginf. It is
// torch.nan_to_num.
func (t *Tensor) NanToNumWith(nan, posinf, neginf float64) *Tensor {
	return apply(nanToNum{nan, posinf, neginf}, t)
}
