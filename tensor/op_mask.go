package tensor

import (
	"bytes"

	"halfnote/tensor/driver"
)

type maskedFill struct{ value float64 }

func (maskedFill) Info() Info { return info("masked_fill", "torch.masked_fill", SavesIndices) }
func (m maskedFill) Forward(in []*Tensor) *Tensor {
	x, mask := in[0], in[1]
	y := unsetTensor(x.mem.backend, x.dtype, broadcast("masked_fill", in))
	runBroadcast(driver.Kernel{Code: driver.Where}, y, mask, constant(x, x.dtype, m.value), x)
	return y
}
func (maskedFill) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(maskedFill{0}, dy, in[1]).sumTo(in[0]), nil}
}

// MaskedFill returns t with value where mask is true, broadcast. It panics if t's dtype
// rounds a finite value to infinity, as float16 does with -1e9: use -Inf instead. To fill with
// a tensor use Where. It is torch.masked_fill.
func (t *Tensor) MaskedFill(mask *Tensor, value float64) *Tensor {
	t.given("masked_fill")
	checkFinite("masked_fill", t.dtype, value)
	return apply(maskedFill{value}, t, boolMask("masked_fill", t, mask))
}

// boolMask returns mask. It panics unless mask is bool.
func boolMask(op string, t, mask *Tensor) *Tensor {
	given(op, t, mask)
	if mask.dtype != Bool {
		failDType(op, []*Tensor{t, mask}, "mask has dtype %v; want bool, such as a comparison returns", mask.dtype)
	}
	return mask
}

// MaskedSelect returns the elements of t where mask is true, both broadcast, as a
// vector in row-major order. It is torch.masked_select.
func (t *Tensor) MaskedSelect(mask *Tensor) *Tensor {
	shape := broadcast("masked_select", []*Tensor{t, boolMask("masked_select", t, mask)})
	return t.expandTo(shape).Index(mask.expandTo(shape))
}

// MaskedScatter returns t with the elements of src, in row-major order, where mask,
// broadcast, is true. src has at least that many elements. It is torch.masked_scatter.
func (t *Tensor) MaskedScatter(mask, src *Tensor) *Tensor {
	shape := broadcast("masked_scatter", []*Tensor{t, boolMask("masked_scatter", t, mask)})
	at := trueAt(mask.expandTo(shape))
	if n := len(at); n > src.Numel() {
		fail("masked_scatter", []*Tensor{t, mask, src}, "mask selects %d elements; want at least that many in src, which has %d", n, src.Numel())
	}
	x := t.expandTo(shape)
	return x.Ravel().IndexCopy(0, FromInt64s(at).ToDevice(t.Device()), src.Ravel().Narrow(0, 0, len(at))).Reshape(shape...)
}

// trueAt returns the row-major positions of the elements of t that are not 0.
func trueAt(t *Tensor) []int64 {
	flags := convert(t.Detach(), Bool).bytes()
	at := hostSlice[int64]("nonzero", bytes.Count(flags, []byte{1}))[:0]
	for i, b := range flags {
		pollAt(i)
		if b != 0 {
			at = append(at, int64(i))
		}
	}
	return at
}

// Nonzero returns the positions of the elements of t that are not 0, in row-major order: for
// each dimension of t an int64 vector, usable in Index. It is torch.nonzero with as_tuple, and
// torch.where with one argument.
func (t *Tensor) Nonzero() []*Tensor {
	t.given("nonzero")
	x := raised(t)
	at := trueAt(x)
	out := make([]*Tensor, len(x.shape))
	for d := len(x.shape) - 1; d >= 0; d-- {
		along := hostSlice[int64]("nonzero", len(at))
		for i := range at {
			pollAt(i)
			along[i] = at[i] % int64(x.shape[d])
			at[i] /= int64(x.shape[d])
		}
		out[d] = FromInt64s(along).ToDevice(t.Device())
	}
	return out
}

// Argwhere returns the positions of the elements of t that are not 0, one row for each, in
// row-major order. It is torch.argwhere.
func (t *Tensor) Argwhere() *Tensor {
	t.given("argwhere")
	if len(t.shape) == 0 {
		return FromInt64s(nil, len(trueAt(t)), 0)
	}
	return Stack(1, t.Nonzero()...)
}

type where struct{}

func (where) Info() Info  { return info("where", "torch.where", SavesOperands) }
func (where) moves() bool { return true }
func (where) Forward(in []*Tensor) *Tensor {
	d := promoteAll(in[1:])
	y := unsetTensor(in[0].mem.backend, d, broadcast("where", in))
	runBroadcast(driver.Kernel{Code: driver.Where}, y, in[0], convert(in[1], d), convert(in[2], d))
	return y
}
func (where) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	zero := constant(dy, dy.dtype, 0)
	return []*Tensor{nil, in[0].Where(dy, zero).sumTo(in[1]), in[0].Where(zero, dy).sumTo(in[2])}
}

// Where returns x where t is not 0 and y elsewhere, broadcast, in the dtype that x and y
// promote to. It is torch.where with t as the condition.
func (t *Tensor) Where(x, y *Tensor) *Tensor {
	t.given("where")
	return apply(where{}, t.To(Bool), x, y)
}
