package amp

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// StateDict returns what a checkpoint must hold of the loss scales that opt shares with
// those initialized with it: loss_scaler0 and so on, each with loss_scale and unskipped,
// how many steps in a row were clean. It is apex.amp.state_dict. A checkpoint has the
// model's state dict and the optimizer's too.
func StateDict(opt *ApexOptimizer) map[string]map[string]float64 {
	state := map[string]map[string]float64{}
	for _, s := range session([]*ApexOptimizer{opt}).scalers {
		state[fmt.Sprintf("loss_scaler%d", s.id)] = map[string]float64{"loss_scale": s.CurrentScale(), "unskipped": float64(s.tracker)}
	}
	return state
}

// LoadStateDict restores what StateDict returned; scales of losses that there are not are
// left out. It returns an error that names the keys that are none of loss scalers, or
// lack a number, and has changed nothing then. It is apex.amp.load_state_dict.
func LoadStateDict(opt *ApexOptimizer, state map[string]map[string]float64) error {
	a := session([]*ApexOptimizer{opt})
	var wrong []string
	for _, key := range slices.Sorted(maps.Keys(state)) {
		number, ok := strings.CutPrefix(key, "loss_scaler")
		id, err := strconv.Atoi(number)
		_, scale := state[key]["loss_scale"]
		_, unskipped := state[key]["unskipped"]
		switch {
		case !ok || err != nil || id < 0:
			wrong = append(wrong, key+" is no loss scaler")
		case !scale || !unskipped:
			wrong = append(wrong, key+" lacks loss_scale or unskipped")
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("amp: load state dict: %s; expected loss_scaler0 and so on", strings.Join(wrong, ", "))
	}
	for _, s := range a.scalers {
		if saved, ok := state[fmt.Sprintf("loss_scaler%d", s.id)]; ok {
			s.scale, s.tracker = float32(saved["loss_scale"]), int(saved["unskipped"])
		}
	}
	return nil
}
