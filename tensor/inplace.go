package tensor

import (
	"time"

	"halfnote/tensor/driver"
)

// What changes tensors in place, below the tape.

// changing panics if t must not be changed in place now, and counts the change.
func changing(op string, t *Tensor) {
	if t.v != nil && IsGradEnabled() {
		fail(op, []*Tensor{t}, "it requires a gradient, which a change in place would falsify; expected to be inside tensor.NoGrad, or change a Detach or Clone of it")
	}
	for i, s := range t.stride {
		if s == 0 && t.shape[i] > 1 {
			fail(op, []*Tensor{t}, "it is expanded, so that several elements share memory; expected a Clone of it")
		}
	}
	t.mem.version.Add(1)
}

// inPlace runs a kernel on t, whose operands are repeated to its shape, and
// reports it to observers.
func (t *Tensor) inPlace(name string, k driver.Kernel, in ...*Tensor) *Tensor {
	changing(name, t)
	src := make([]*Tensor, len(in))
	for i, x := range in {
		if s, ok := broadcastShapes(t.shape, x.shape); !ok || size(s) != size(t.shape) || len(s) != len(t.shape) {
			fail(name, []*Tensor{t, x}, "the second does not repeat to the first, which is changed in place")
		}
		src[i] = x
		if k.Code != driver.Copy && x.dtype != t.dtype {
			src[i] = convert(x, t.dtype)
		}
	}
	t.reported(Info{Name: name, Torch: "torch.Tensor." + name}, append([]*Tensor{t}, in...), func() { runBroadcast(k, t, src...) })
	return t
}

// reported runs body, which changes t, and tells observers.
func (t *Tensor) reported(info Info, in []*Tensor, body func()) {
	seen := observers.Load()
	if seen == nil {
		body()
		return
	}
	op := change{info}
	e := begin(op, current(), in)
	e.InPlace, e.Start = true, time.Now()
	body()
	e.finish(op, seen, in, t)
}

// change stands for a change in place, in events.
type change struct{ info Info }

func (c change) Info() Info                            { return c.info }
func (change) Forward(in []*Tensor) *Tensor            { return in[0] }
func (change) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return nil }

// Assign copies x, converted and broadcast, into t, and returns t. It is
// torch.Tensor.copy_.
func (t *Tensor) Assign(x *Tensor) *Tensor {
	if t.mem.backend != x.mem.backend {
		x = x.Detach().ToDevice(t.Device())
	}
	return t.inPlace("copy_", driver.Kernel{Code: driver.Copy}, x)
}

// Fill sets every element to c, and returns t. It panics if t's dtype rounds a
// finite c to infinity. It is torch.Tensor.fill_.
func (t *Tensor) Fill(c float64) *Tensor {
	checkFinite("fill", t.dtype, c)
	return t.inPlace("fill_", driver.Kernel{Code: driver.Fill, Alpha: c})
}

// AddAssign adds x to t in place, and returns t. It is torch.Tensor.add_.
func (t *Tensor) AddAssign(x *Tensor) *Tensor {
	return t.inPlace("add_", driver.Kernel{Code: driver.Add}, t, x)
}

// SubAssign subtracts x from t in place, and returns t. It is torch.Tensor.sub_.
func (t *Tensor) SubAssign(x *Tensor) *Tensor {
	return t.inPlace("sub_", driver.Kernel{Code: driver.Sub}, t, x)
}

// MulAssign multiplies t by x in place, and returns t. It is torch.Tensor.mul_.
func (t *Tensor) MulAssign(x *Tensor) *Tensor {
	return t.inPlace("mul_", driver.Kernel{Code: driver.Mul}, t, x)
}

// DivAssign divides t by x in place, and returns t. It is torch.Tensor.div_.
func (t *Tensor) DivAssign(x *Tensor) *Tensor {
	return t.inPlace("div_", driver.Kernel{Code: driver.Div}, t, x)
}

// ScaleAssign multiplies t by c in place, and returns t. It is torch.Tensor.mul_
// with a number.
func (t *Tensor) ScaleAssign(c float64) *Tensor {
	return t.inPlace("mul_", driver.Kernel{Code: driver.Affine, Alpha: c}, t)
}

// AddScaledAssign adds c x to t in place, and returns t. It is torch.Tensor.add_
// with alpha.
func (t *Tensor) AddScaledAssign(x *Tensor, c float64) *Tensor {
	return t.inPlace("add_", driver.Kernel{Code: driver.AddScaled, Alpha: c}, t, x)
}

// SetData makes t hold x's values, memory, dtype and device, which may all differ
// from before; only the shape must be the same. t stays the same leaf. It is
// assigning to torch.Tensor.data.
func (t *Tensor) SetData(x *Tensor) {
	if t.v != nil && t.v.leaf == nil || len(t.shape) != len(x.shape) || size(t.shape) != size(x.shape) {
		fail("set_data", []*Tensor{t, x}, "expected a leaf, and data of its shape")
	}
	mem := x.mem
	t.mem, t.dtype, t.offset, t.shape, t.stride = mem, x.dtype, x.offset, x.shape, x.stride
	t.mem.version.Add(1)
}
