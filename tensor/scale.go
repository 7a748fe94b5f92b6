package tensor

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

// updateScale is UpdateScale of plumbing.Fused.
func updateScale(state, found *Tensor, s plumbing.ScaleSettings) {
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
