package amp

import (
	"fmt"

	"halfnote/tensor"
)

// Update sets the scale for the next step: times the backoff factor if a gradient
// of any optimizer was not finite since the last Update, else times the growth
// factor after GrowthInterval clean steps in a row, as long as it stays finite.
// It panics with an *[Error] if no gradients have been checked since the last
// Update. It is GradScaler.update.
func (s *GradScaler) Update() {
	if !s.enabled {
		return
	}
	s.mustBeReady("Update")
	if s.updatedThere() {
		return
	}
	s.asked()
	checked, found := false, false
	for _, st := range s.stages {
		_, bad := st.found.first()
		checked = checked || len(st.found.owners) > 0
		found = found || bad
	}
	if !checked {
		panic(&Error{Code: "no_checks", Call: "Update", Why: "no gradients have been checked since the last Update", Cure: "call Step, or Unscale, first"})
	}
	before := s.scale
	s.adjust(found)
	s.told()
	s.updated(before)
	if found && s.abort && s.scale == before && s.scale <= s.least && s.overflows >= s.hysteresis {
		panic(&Error{
			Code: "min_scale", Call: "Update",
			Why:  fmt.Sprintf("a gradient was not finite at the least loss scale, %v: it cannot go lower", s.least),
			Cure: "find what overflows, which is not the scale's doing; diagnose.Overflow names the operation",
		})
	}
}

// adjust moves the scale after steps that found an overflow or not: with the defaults
// torch._amp_update_scale_.
func (s *GradScaler) adjust(found bool) {
	s.scale, s.tracker, s.overflows = s.rule().Next(s.scale, s.tracker, s.overflows, found)
}

func (s *GradScaler) rule() tensor.ScaleSettings {
	return tensor.ScaleSettings{
		Growth: s.growth, Backoff: s.backoff, Interval: s.interval,
		Hysteresis: s.hysteresis, Least: s.least, Most: s.most, Static: s.static,
	}
}

// UpdateTo sets the scale by hand, GradScaler.update's argument new_scale; any number
// will do. The growth tracker stays, and no gradients need have been checked.
func (s *GradScaler) UpdateTo(scale float64) {
	if !s.enabled {
		return
	}
	s.mustBeReady("UpdateTo")
	s.asked()
	before := s.scale
	s.scale = float32(scale)
	s.told()
	s.updated(before)
}

// UpdateFrom is UpdateTo with the only element of a tensor, which is copied. It panics
// with an *[Error] if scale has other than one element, requires a gradient, or is not
// on the device of the loss that was scaled first.
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
		panic(&Error{Code: "bad_new_scale", Call: "UpdateFrom", Why: "the new scale cannot be used: " + why, Cure: "give a tensor of one element that requires no gradient, on the losses' device, or UpdateTo a number"})
	}
	s.UpdateTo(scale.Float64s()[0])
}

func (s *GradScaler) updated(before float32) {
	clear(s.stages)
	s.badLoss = false
	notify(Event{Kind: Updated, Scaler: s, Step: s.steps - 1, Before: float64(before), After: float64(s.scale), Tracker: s.tracker})
}

// inverse is what gradients are multiplied by: torch divides in float64 and rounds.
func (s *GradScaler) inverse() float64 { return float64(float32(1 / float64(s.scale))) }

// GrowthTracker returns how many steps in a row have been clean.
func (s *GradScaler) GrowthTracker() int {
	s.asked()
	return s.tracker
}

// GrowthFactor returns what a growth multiplies the scale by.
func (s *GradScaler) GrowthFactor() float64 { return s.growth }

// SetGrowthFactor sets it from the next Update on, unchecked as in torch.
func (s *GradScaler) SetGrowthFactor(f float64) { s.growth = f }

// BackoffFactor returns what an overflow multiplies the scale by.
func (s *GradScaler) BackoffFactor() float64 { return s.backoff }

// SetBackoffFactor sets it from the next Update on, unchecked as in torch.
func (s *GradScaler) SetBackoffFactor(f float64) { s.backoff = f }

// GrowthInterval returns how many clean steps in a row make the scale grow.
func (s *GradScaler) GrowthInterval() int { return s.interval }

// SetGrowthInterval sets it from the next Update on, unchecked as in torch. If the
// tracker is past it already, the scale does not grow before the next overflow.
func (s *GradScaler) SetGrowthInterval(steps int) { s.interval = steps }
