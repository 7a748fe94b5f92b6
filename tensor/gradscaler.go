package tensor

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

// Unscale multiplies each of grads by factor in place, in float32, and reports for each whether it held a non-finite element before.
// With factor 1 the elements do not change. It synchronises with the device once. It is torch._amp_foreach_non_finite_check_and_unscale_.
func (f fused) Unscale(grads []*Tensor, factor float64) (bad []bool) {
	given("unscale", grads...)
	bad = make([]bool, len(grads))
	if len(grads) > 0 {
		for i, x := range f.UnscaleFlags(grads, factor).Float64s() {
			bad[i] = x != 0
		}
	}
	return bad
}

// UnscaleFlags is Unscale without synchronisation. It returns a float32 vector with one element for each of grads, which must
// not be empty: 1 if the gradient held a non-finite element, otherwise 0.
func (fused) UnscaleFlags(grads []*Tensor, factor float64) *Tensor {
	if len(grads) == 0 {
		panic(named(&Error{Op: "unscale", Why: "no gradients; want at least one"}))
	}
	given("unscale", grads...)
	found := newTensor(grads[0].mem.backend, Float32, []int{len(grads)})
	oneLine(func() { unscaleInto(found, grads, factor, nil) })
	return found
}

// UnscaleFlagsBy is UnscaleFlags with a factor on the device, a float32 scalar: the inverse scale of torch.amp.GradScaler. It
// synchronises with a device that does not support this.
func (f fused) UnscaleFlagsBy(grads []*Tensor, factor *Tensor) *Tensor {
	given("unscale", grads...)
	need("unscale", "factor", factor != nil, "a float32 scalar")
	if factor.dtype != Float32 || factor.Numel() != 1 {
		fail("unscale", []*Tensor{factor}, "factor must have one float32 element")
	}
	offered := func(g *Tensor) bool {
		return g.mem.backend == factor.mem.backend && g.mem.backend.Offers(driver.Unscale, g.dtype, Float32, Float32)
	}
	for _, g := range grads {
		if !offered(g) {
			return f.UnscaleFlags(grads, factor.Float64s()[0])
		}
	}
	found := newTensor(factor.mem.backend, Float32, []int{len(grads)})
	oneLine(func() { unscaleInto(found, grads, 0, factor) })
	return found
}

// unscaleInto sets the elements of found. A non-nil by replaces factor; all devices then
// support it.
func unscaleInto(found *Tensor, grads []*Tensor, factor float64, by *Tensor) {
	var pass stepList
	defer pass.Run()
	for i, g := range grads {
		NoGrad(func() { changing("unscale", g) })
		flag := found.alias(i, []int{}, []int{})
		if by != nil {
			pass.touch([]*Tensor{g}, found)
			pass.add(unscaling, []*Tensor{g}, driver.Kernel{Code: driver.Unscale}, g, flag, by)
			continue
		}
		offered := g.mem.backend.Offers(driver.Unscale, g.dtype, Float32)
		if offered && g.mem.backend == found.mem.backend {
			pass.touch([]*Tensor{g}, found)
			pass.add(unscaling, []*Tensor{g}, driver.Kernel{Code: driver.Unscale, Alpha: factor}, g, flag)
			continue
		}
		var here *Tensor
		if offered {
			here = newTensor(g.mem.backend, Float32, []int{})
			pass.Run()
			run(driver.Kernel{Code: driver.Unscale, Alpha: factor}, g, here)
		} else {
			here = g.Detach().Sub(g.Detach()).Sum().Ne(Scalar(0)) // inf - inf is NaN
			if factor != 1 {
				run(driver.Kernel{Code: driver.Affine, Alpha: factor}, g, g)
			}
		}
		NoGrad(func() { flag.Assign(here.ToDevice(found.Device())) })
	}
}

var unscaling = Info{Name: "unscale", Torch: "torch._amp_foreach_non_finite_check_and_unscale_"}

// UpdateScale updates the loss scale in state, in place. state is a float32 vector of the scale, its inverse, the number of consecutive
// clean steps and the number of overflows since the scale grew. The step overflowed if an element of found, a float32 tensor, is
// nonzero. On a device that supports it, the host does not wait. It is torch._amp_update_scale_.
func (fused) UpdateScale(state, found *Tensor, s plumbing.ScaleSettings) {
	given("update_scale", state, found)
	if state.dtype != Float32 || found.dtype != Float32 || len(state.shape) != 1 || state.shape[0] != 4 || !state.IsContiguous() {
		fail("update_scale", []*Tensor{state, found}, "want state to be a float32 vector of 4 elements, and found to be float32")
	}
	if s.Static {
		return
	}
	NoGrad(func() { changing("update_scale", state) })
	if b := state.mem.backend; b == found.mem.backend && b.Offers(driver.UpdateScale, Float32, Float32) {
		p := driver.ScaleParams{Growth: s.Growth, Backoff: s.Backoff, Interval: s.Interval, Hysteresis: s.Hysteresis, Min: s.Least, Max: s.Most}
		run(driver.Kernel{Code: driver.UpdateScale, Params: p}, state, inRow(found))
		return
	}
	bad := false
	for _, x := range found.Float64s() {
		bad = bad || x != 0
	}
	x := contents[float32](state)
	scale, tracker, overflows := s.Next(x[0], int(x[2]), int(x[3]), bad)
	x = []float32{scale, float32(1 / float64(scale)), float32(tracker), float32(overflows)}
	run(driver.Kernel{Code: driver.Copy}, state, setContents(unsetTensor(state.mem.backend, Float32, state.shape), x))
}
