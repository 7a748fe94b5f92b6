package tensor

// cast is an ordinary recorded operation: its gradient is cast back. Autocast does not
// apply to it.
type cast struct{ to DType }

func (cast) Info() Info { return info("cast", "torch.Tensor.to", SavesNothing) }
func (cast) fixed()     {}
func (c cast) Forward(in []*Tensor) *Tensor {
	return convert(in[0], c.to)
}
func (cast) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return []*Tensor{dy.To(in[0].dtype)} }

// To returns t as dtype d, rounded to nearest even, or t itself if it already has dtype d.
// float64 and integers are converted to 8 and 16 bits by way of float32, as in torch. Integers
// drop the fraction, and bool is true where an element is not 0. It is torch.Tensor.to.
func (t *Tensor) To(d DType) *Tensor {
	t.given("to")
	if t.dtype == d {
		return t
	}
	known("to", d)
	return apply(cast{d}, t)
}

// Half returns t as float16. It is torch.Tensor.half.
func (t *Tensor) Half() *Tensor {
	t.given("half")
	return t.To(Float16)
}

// BFloat16 returns t as bfloat16. It is torch.Tensor.bfloat16.
func (t *Tensor) BFloat16() *Tensor {
	t.given("bfloat16")
	return t.To(BFloat16)
}

// Float returns t as float32. It is torch.Tensor.float.
func (t *Tensor) Float() *Tensor {
	t.given("float")
	return t.To(Float32)
}

// Long returns t as int64. It is torch.Tensor.long.
func (t *Tensor) Long() *Tensor {
	t.given("long")
	return t.To(Int64)
}

// Double returns t as float64. It is torch.Tensor.double.
func (t *Tensor) Double() *Tensor {
	t.given("double")
	return t.To(Float64)
}

// clone copies a tensor on its device or to another.
type clone struct {
	from, to Device // equal for a copy on the same device
	rows     bool   // row-major order, whatever the operand's layout
}

func (clone) Info() Info { return info("clone", "torch.clone", SavesNothing) }
func (clone) fixed()     {}
func (c clone) Forward(in []*Tensor) *Tensor {
	x := in[0]
	if c.to == "" {
		return duplicate(x)
	}
	if x.Device() == CPU && x.Dim() > 0 {
		x.sameInReplays("to")
	}
	x = compact(x)
	y := setContents(unsetTensor(c.to.backend(), x.dtype, x.shape), x.bytes())
	y.remember(x)
	return y
}
func (c clone) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	if c.to != "" {
		dy = dy.ToDevice(c.from)
	}
	return []*Tensor{dy}
}

// Clone returns a contiguous copy that keeps t's order of dimensions in memory. It is
// torch.clone.
func (t *Tensor) Clone() *Tensor { return apply(clone{}, t) }

// Contiguous returns t if it is contiguous in row-major order, and otherwise a copy that is.
// It is torch.Tensor.contiguous.
func (t *Tensor) Contiguous() *Tensor {
	t.given("contiguous")
	if t.IsContiguous() {
		return t
	}
	return apply(clone{rows: true}, t)
}

// ToDevice returns t on device d, or t itself if it is already on d. It panics if d is not
// available. It is torch.Tensor.to with a device.
func (t *Tensor) ToDevice(d Device) *Tensor {
	t.given("to_device")
	b := d.backend()
	if t.mem.backend == b {
		return t
	}
	return apply(clone{from: t.Device(), to: Device(b.Name())}, t)
}
