package amp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// stateKeys are the names in a state dict, as torch writes them.
var stateKeys = []string{"_growth_tracker", "backoff_factor", "growth_factor", "growth_interval", "scale"}

// overflowsKey is in the state of a scaler with hysteresis, and not in torch's.
const overflowsKey = "_overflows"

// StateDict returns the scaler's state for a checkpoint, under torch's names; it is empty for a
// disabled scaler. Call it after Update. It is GradScaler.state_dict.
func (s *GradScaler) StateDict() map[string]float64 {
	if !s.enabled {
		return map[string]float64{}
	}
	s.pull()
	state := map[string]float64{
		"_growth_tracker": float64(s.tracker),
		"backoff_factor":  s.backoff,
		"growth_factor":   s.growth,
		"growth_interval": float64(s.interval),
		"scale":           float64(s.scale),
	}
	if s.hysteresis > 1 {
		state[overflowsKey] = float64(s.overflows)
	}
	return state
}

// LoadStateDict restores a state returned by StateDict. It does nothing on a disabled scaler.
// If a key is missing it panics with an *[Error] and changes nothing.
func (s *GradScaler) LoadStateDict(state map[string]float64) {
	if !s.enabled {
		return
	}
	if len(state) == 0 {
		panic(&Error{Code: "empty_state", Call: "LoadStateDict", Why: "the state is empty", Cure: "save it from an enabled scaler"})
	}
	for _, key := range stateKeys {
		if _, ok := state[key]; !ok {
			got := slices.Sorted(maps.Keys(state))
			panic(&Error{Code: "bad_state", Call: "LoadStateDict", Why: fmt.Sprintf("%q is not among %s", key, strings.Join(got, ", ")), Cure: "include all of " + strings.Join(stateKeys, ", ")})
		}
	}
	s.tracker = int(state["_growth_tracker"])
	s.backoff = state["backoff_factor"]
	s.growth = state["growth_factor"]
	s.interval = int(state["growth_interval"])
	s.scale = float32(state["scale"])
	s.overflows = int(state[overflowsKey])
	s.push()
}
