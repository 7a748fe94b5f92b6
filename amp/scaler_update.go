package amp

import (
	"fmt"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// Update sets the scale for the next step. It multiplies the scale by the backoff factor if a
// gradient of any optimizer was not finite since the last Update, otherwise by the growth factor after
// GrowthInterval clean steps in a row, as long as the result is finite. It panics with an
// *[Error] if no gradients have been checked since the last Update. It is GradScaler.update.
func (s *GradScaler) Update() {
	if !s.enabled {
		return
	}
	s.mustBeReady("Update")
	if s.updateOnDevice() {
		return
	}
	s.pull()
	checked, found := false, false
	for _, st := range s.stages {
		_, bad := st.found.first()
		checked = checked || len(st.found.owners) > 0 || s.share != nil
		found = found || bad
	}
	if !checked {
		panic(&Error{Code: "no_checks", Call: "Update", Why: "no gradients have been checked since the last Update", Cure: "call Step or Unscale first"})
	}
	before := s.scale
	s.adjust(found)
	s.push()
	s.updated(before)
	if found && s.abort && s.scale == before && s.scale <= s.least && s.overflows >= s.hysteresis {
		panic(&Error{
			Code: "min_scale", Call: "Update",
			Why:  fmt.Sprintf("a gradient was not finite at MinScale, %v, so the loss scale cannot go lower", s.least),
			Cure: "the loss scale is not the cause: run diagnose.Overflow to find the operation that overflows",
		})
	}
}

// adjust updates the scale after a step with or without an overflow. With the default options
// it is torch._amp_update_scale_.
func (s *GradScaler) adjust(found bool) {
	s.scale, s.tracker, s.overflows = s.rule().Next(s.scale, s.tracker, s.overflows, found)
}

func (s *GradScaler) rule() plumbing.ScaleSettings {
	return plumbing.ScaleSettings{
		Growth: s.growth, Backoff: s.backoff, Interval: s.interval,
		Hysteresis: s.hysteresis, Least: s.least, Most: s.most, Static: s.static,
	}
}

// UpdateTo sets the scale to any number. The growth tracker is unchanged, and no gradients need
// to have been checked. It is GradScaler.update with new_scale.
func (s *GradScaler) UpdateTo(scale float64) {
	if !s.enabled {
		return
	}
	s.mustBeReady("UpdateTo")
	s.pull()
	before := s.scale
	s.scale = float32(scale)
	s.push()
	s.updated(before)
}

// UpdateFrom is UpdateTo with the only element of a tensor, which is copied. It panics with an
// *[Error] if scale does not have exactly one element, requires a gradient, or is not on the
// device of the first scaled loss.
func (s *GradScaler) UpdateFrom(scale *tensor.Tensor) {
	if !s.enabled {
		return
	}
	s.mustBeReady("UpdateFrom")
	why := ""
	switch {
	case scale == nil:
		why = "it is nil"
	case scale.Device() != s.device:
		why = fmt.Sprintf("it is on %v, the losses on %v", scale.Device(), s.device)
	case scale.Numel() != 1:
		why = fmt.Sprintf("it has %d elements", scale.Numel())
	case scale.RequiresGrad():
		why = "it requires a gradient"
	}
	if why != "" {
		panic(&Error{Code: "bad_new_scale", Call: "UpdateFrom", Why: "the new scale cannot be used: " + why, Cure: "pass a tensor of one element without requires_grad, on the device of the losses, or call UpdateTo with a number"})
	}
	s.UpdateTo(scale.Float64s()[0])
}

func (s *GradScaler) updated(before float32) {
	clear(s.stages)
	s.badLoss = false
	notify(ScalerEvent{Kind: EventUpdate, Scaler: s, Step: s.steps - 1, Before: float64(before), After: float64(s.scale), Tracker: s.tracker})
}

// inverse returns the factor that unscales gradients: torch divides in float64 and rounds.
func (s *GradScaler) inverse() float64 { return float64(float32(1 / float64(s.scale))) }

// GrowthTracker returns the number of consecutive clean steps.
func (s *GradScaler) GrowthTracker() int {
	s.pull()
	return s.tracker
}

// GrowthFactor returns the factor by which the scale grows.
func (s *GradScaler) GrowthFactor() float64 { return s.growth }

// SetGrowthFactor sets the growth factor from the next Update on, unchecked as in torch.
func (s *GradScaler) SetGrowthFactor(f float64) { s.growth = f }

// BackoffFactor returns the factor applied to the scale after an overflow.
func (s *GradScaler) BackoffFactor() float64 { return s.backoff }

// SetBackoffFactor sets the backoff factor from the next Update on, unchecked as in torch.
func (s *GradScaler) SetBackoffFactor(f float64) { s.backoff = f }

// GrowthInterval returns the number of consecutive clean steps after which the scale grows.
func (s *GradScaler) GrowthInterval() int { return s.interval }

// SetGrowthInterval sets the interval from the next Update on, unchecked as in torch. If the
// tracker is already past it, the scale does not grow before the next overflow.
func (s *GradScaler) SetGrowthInterval(steps int) { s.interval = steps }
