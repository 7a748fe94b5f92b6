package tensor

import "halfnote/tensor/driver"

// In-place changes, below the tape.

// changing panics if t must not be changed in place now; otherwise it counts the change. in
// holds the other operands.
func changing(op string, t *Tensor, in ...*Tensor) {
	given(op, t)
	for i, x := range in {
		if x == nil {
			missing(op, i+1, len(in)+1)
		}
	}
	if IsGradEnabled() {
		if t.v != nil {
			fail(op, []*Tensor{t}, "the tensor requires a gradient, which a change in place would make wrong; use tensor.NoGrad, or change a Detach or Clone of it")
		}
		if t.frozen {
			fail(op, []*Tensor{t}, "the tensor is a view, made inside tensor.NoGrad, of a tensor that requires a gradient; change it inside tensor.NoGrad too")
		}
		if needsGrad(in) {
			fail(op, append([]*Tensor{t}, in...), "an operand requires a gradient, but changes in place are not recorded; use tensor.NoGrad, a Detach of it, or the operation that returns a new tensor")
		}
	}
	for i, s := range t.stride {
		if s == 0 && t.shape[i] > 1 {
			fail(op, []*Tensor{t}, "the tensor is expanded, so several elements share memory; change a Clone of it")
		}
	}
	t.mem.version.Add(1)
}

// holds panics unless t can hold results of dtype d: those of its own kind or a lower one.
func (t *Tensor) holds(op string, d DType, in []*Tensor) {
	if d.Kind() > t.dtype.Kind() {
		failDType(op, in, "the result is %v, which the tensor changed in place cannot hold; convert it with To, or use the operation that returns a new tensor", d)
	}
}

// inPlace sets t to the kernel k of in, broadcast to its shape, and reports the change to
// observers. It computes in d, which may differ from t's dtype.
func (t *Tensor) inPlace(name string, k driver.Kernel, d DType, in ...*Tensor) *Tensor {
	all := append([]*Tensor{t}, in...)
	t.holds(name, d, all)
	src := make([]*Tensor, len(in))
	for i, x := range in {
		if s, ok := broadcastShapes(t.shape, x.shape); !ok || size(s) != size(t.shape) || len(s) != len(t.shape) {
			fail(name, []*Tensor{t, x}, "cannot broadcast the operand to the shape of the tensor changed in place")
		}
		if k.Code == driver.Copy {
			x = x.ToDevice(t.Device())
		}
		x = together(name, []*Tensor{t, x})[1]
		src[i] = x
		if k.Code != driver.Copy {
			src[i] = convert(x, d)
		}
		if src[i].mem == t.mem && x != t { // x may overlap t
			src[i] = duplicate(src[i])
		}
	}
	changing(name, t, in...)
	t.reported(Info{Name: name, Torch: "torch.Tensor." + name}, all, func() {
		if d == t.dtype || k.Code == driver.Copy {
			runBroadcast(k, t, src...)
			return
		}
		y := unsetTensor(t.mem.backend, d, t.shape)
		runBroadcast(k, y, src...)
		run(driver.Kernel{Code: driver.Copy}, t, y)
		release(y)
	})
	return t
}

// pairwiseAssign sets t to c of t and x, computed in the dtype that they promote to.
func (t *Tensor) pairwiseAssign(name string, k driver.Kernel, x *Tensor) *Tensor {
	given(name, t, x)
	in := []*Tensor{t, x}
	d := promoteAll(in)
	if k.Code == driver.Div && !d.IsFloat() {
		d = Float32
	}
	return t.inPlace(name, k, d, in...)
}

// becomes sets t to f(t). f may read in too.
func (t *Tensor) becomes(name string, f func(t *Tensor) *Tensor, in ...*Tensor) *Tensor {
	t.given(name)
	all := append([]*Tensor{t}, in...)
	s := current()
	s.caster, s.nograd, s.hidden = nil, true, true
	var y *Tensor
	s.do(func() { y = f(t.Detach()) })
	t.holds(name, y.dtype, all)
	if len(y.shape) != len(t.shape) || size(y.shape) != size(t.shape) {
		fail(name, all, "cannot broadcast the operands to the shape of the tensor changed in place")
	}
	changing(name, t, in...)
	t.reported(Info{Name: name, Torch: "torch.Tensor." + name}, all, func() { run(driver.Kernel{Code: driver.Copy}, t, y) })
	return t
}

// computed is becomes for an f that has a floating-point kernel: it takes one pass.
func (t *Tensor) computed(name string, c driver.Code, f func(t *Tensor) *Tensor) *Tensor {
	return t.computedAs(name, driver.Kernel{Code: c}, f)
}

func (t *Tensor) computedAs(name string, k driver.Kernel, f func(t *Tensor) *Tensor) *Tensor {
	t.given(name)
	if !t.dtype.IsFloat() || t.dtype.IsStorage() {
		return t.becomes(name, f)
	}
	return t.inPlace(name, k, t.dtype, t)
}

// reported runs body, which changes t, and notifies observers.
func (t *Tensor) reported(info Info, in []*Tensor, body func()) {
	seen, s := observers.load(), state{}
	if seen != nil {
		s = current()
	}
	if seen == nil || s.hidden {
		body()
		return
	}
	op := change{info}
	e := begin(op, &s, in)
	e.InPlace = true
	e.run()
	body()
	e.finish(seen, in, t)
	e.end()
}

// change represents a change in place in events.
type change struct{ info Info }

func (c change) Info() Info                            { return c.info }
func (change) Forward(in []*Tensor) *Tensor            { return in[0] }
func (change) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return nil }
