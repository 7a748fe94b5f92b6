package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

// ScaleSettings are what UpdateScale moves a loss scale by: those of torch.amp.GradScaler,
// limits of the scale, and how many overflows it takes to back off.
type ScaleSettings struct {
	Growth, Backoff float64
	Interval        int // clean steps in a row after which the scale grows
	Hysteresis      int // the overflow since the last growth from which on it backs off
	Least, Most     float32
	Static          bool // it stays
}

// UpdateScale moves the loss scale in state, a float32 vector of the scale, its inverse,
// the clean steps in a row and the overflows since the scale grew, in place, after a step in
// which an element of found, a float32 tensor, was other than 0 or none was. It does not
// wait for a device that offers this. It is torch._amp_update_scale_.
func UpdateScale(state, found *Tensor, s ScaleSettings) {
	if state.dtype != Float32 || found.dtype != Float32 || len(state.shape) != 1 || state.shape[0] != 4 || !state.IsContiguous() {
		fail("update_scale", []*Tensor{state, found}, "expected a float32 vector of 4 elements and float32 flags")
	}
	if s.Static {
		return
	}
	NoGrad(func() { changing("update_scale", state) })
	if b := state.mem.backend; b == found.mem.backend && b.Offers(driver.UpdateScale, Float32, Float32) {
		k := driver.Kernel{Code: driver.UpdateScale, Alpha: s.Growth, Beta: s.Backoff, More: [5]float64{float64(s.Interval), float64(s.Hysteresis), float64(s.Least), float64(s.Most)}}
		run(k, state, inRow(found))
		return
	}
	bad := false
	for _, x := range found.Float64s() {
		bad = bad || x != 0
	}
	x := contents[float32](state)
	s.move(x, bad)
	run(driver.Kernel{Code: driver.Copy}, state, setContents(unsetTensor(state.mem.backend, Float32, state.shape), x))
}

// move is the rule.
func (s ScaleSettings) move(x []float32, bad bool) {
	if bad {
		x[2] = 0
		if x[3]++; x[3] >= float32(s.Hysteresis) {
			x[0] = max(float32(float64(x[0])*s.Backoff), min(x[0], s.Least))
		}
	} else if x[2]++; x[2] == float32(s.Interval) {
		// Equal, not more: an interval set below the count stops growth until the next
		// overflow, as in torch.
		x[2], x[3] = 0, 0
		if higher := min(float32(float64(x[0])*s.Growth), max(x[0], s.Most)); !math.IsInf(float64(higher), 0) {
			x[0] = higher
		}
	}
	x[1] = float32(1 / float64(x[0]))
}
