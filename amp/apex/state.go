package apex

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// StateDict returns the state of the loss scales that opt shares with the optimizers
// initialized with it: loss_scaler0 and so on, each with loss_scale and unskipped, the number
// of clean steps in a row. A checkpoint also holds the state dicts of the model and the
// optimizer. It is apex.amp.state_dict.
func StateDict(opt *Optimizer) map[string]map[string]float64 {
	state := map[string]map[string]float64{}
	for _, s := range groupOf([]*Optimizer{opt}).scalers {
		state[fmt.Sprintf("loss_scaler%d", s.id)] = map[string]float64{"loss_scale": s.CurrentScale(), "unskipped": float64(s.GrowthTracker())}
	}
	return state
}

// LoadStateDict restores a state returned by StateDict and ignores scales of losses that do not
// exist. If a key is not a loss scaler or lacks a number, it returns an error that names the
// key and changes nothing. It is apex.amp.load_state_dict.
func LoadStateDict(opt *Optimizer, state map[string]map[string]float64) error {
	a := groupOf([]*Optimizer{opt})
	var wrong []string
	for _, key := range slices.Sorted(maps.Keys(state)) {
		number, ok := strings.CutPrefix(key, "loss_scaler")
		id, err := strconv.Atoi(number)
		_, scale := state[key]["loss_scale"]
		_, unskipped := state[key]["unskipped"]
		switch {
		case !ok || err != nil || id < 0:
			wrong = append(wrong, key+" is not a loss scaler")
		case !scale || !unskipped:
			wrong = append(wrong, key+" lacks loss_scale or unskipped")
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("apex: load state dict: %s; want loss_scaler0 and so on", strings.Join(wrong, ", "))
	}
	for _, s := range a.scalers {
		if saved, ok := state[fmt.Sprintf("loss_scaler%d", s.id)]; ok {
			autocast.SetScale(s.GradScaler, saved["loss_scale"], int(saved["unskipped"]))
		}
	}
	return nil
}
