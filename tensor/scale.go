package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// ScaleSettings configures UpdateScale: the settings of torch.amp.GradScaler, limits of the
// scale, and the number of overflows before backing off.
type ScaleSettings struct {
	Growth, Backoff float64
	Interval        int // consecutive clean steps before the scale grows
	Hysteresis      int // overflows since the last growth before the scale backs off
	Least, Most     float32
	Static          bool // keeps the scale constant
}

// UpdateScale updates the loss scale in state, in place. state is a float32 vector of the
// scale, its inverse, the number of consecutive clean steps and the number of overflows since
// the scale grew. The step overflowed if an element of found, a float32 tensor, is nonzero. On
// a device that supports it, the host does not wait. It is torch._amp_update_scale_.
func UpdateScale(state, found *Tensor, s ScaleSettings) {
	given("update_scale", state, found)
	if state.dtype != Float32 || found.dtype != Float32 || len(state.shape) != 1 || state.shape[0] != 4 || !state.IsContiguous() {
		fail("update_scale", []*Tensor{state, found}, "expected state to be a float32 vector of 4 elements, and found to be float32")
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

// Next returns the scale, the number of consecutive clean steps and the number of overflows
// since the scale grew, after a step that overflowed or did not.
func (s ScaleSettings) Next(scale float32, tracker, overflows int, found bool) (float32, int, int) {
	if s.Static {
		return scale, tracker, overflows
	}
	if found {
		if overflows++; overflows >= s.Hysteresis {
			scale = max(float32(float64(scale)*s.Backoff), min(scale, s.Least))
		}
		return scale, 0, overflows
	}
	// Equal, not at least: an Interval set below the tracker stops growth until the next
	// overflow, as in torch.
	if tracker++; tracker != s.Interval {
		return scale, tracker, overflows
	}
	if higher := min(float32(float64(scale)*s.Growth), max(scale, s.Most)); !math.IsInf(float64(higher), 0) {
		scale = higher
	}
	return scale, 0, 0
}
