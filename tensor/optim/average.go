package optim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// AveragedModel keeps an average of parameters over training steps, which often generalises
// better. It holds the averages of torch.optim.swa_utils.AveragedModel, without the model.
type AveragedModel struct {
	params, averages []*tensor.Tensor
	decay            float64 // decay of the average; 0 gives all steps equal weight
	updates          int
}

// NewSWA returns the plain average of params over all calls of Update: P. Izmailov and
// others, "Averaging Weights Leads to Wider Optima and Better Generalization" (2018).
func NewSWA(params []*tensor.Tensor) *AveragedModel { return newAverage(params, 0) }

// NewEMA returns an exponential moving average of params. Each call of Update after the
// first keeps the fraction decay, above 0 and below 1. It is AveragedModel with
// get_ema_multi_avg_fn.
func NewEMA(params []*tensor.Tensor, decay float64) *AveragedModel {
	check(decay > 0 && decay < 1, "ema", "decay is %v; want a number above 0 and below 1", decay)
	return newAverage(params, decay)
}

func newAverage(params []*tensor.Tensor, decay float64) *AveragedModel {
	a := &AveragedModel{params: slices.Clone(params), decay: decay}
	for _, p := range params {
		a.averages = append(a.averages, p.Detach().Clone())
	}
	return a
}

// Update adds the current parameters to the average.
func (a *AveragedModel) Update() {
	share := 1 - a.decay
	if a.updates++; a.decay == 0 || a.updates == 1 {
		share = 1 / float64(a.updates)
	}
	tensor.NoGrad(func() {
		for i, p := range a.params {
			approach(a.averages[i], p.Detach(), share)
		}
	})
}

// Swap exchanges parameters and averages: call it once to use the average, and again to
// continue training.
func (a *AveragedModel) Swap() {
	tensor.NoGrad(func() {
		for i, p := range a.params {
			now := p.Detach().Clone()
			p.Assign(a.averages[i])
			a.averages[i].Assign(now)
		}
	})
}

// StateDict returns the state for a checkpoint: n_averaged, and the averages by number. They
// share memory with a. [AveragedModel.TorchStateDict] has PyTorch's form.
func (a *AveragedModel) StateDict() map[string]any {
	state := map[string]any{"n_averaged": float64(a.updates)}
	for i, t := range a.averages {
		state[fmt.Sprint(i)] = t
	}
	return state
}

// LoadStateDict restores the result of StateDict. If a name is missing or a shape differs,
// it returns an error and changes nothing.
func (a *AveragedModel) LoadStateDict(state map[string]any) error {
	n, ok := state["n_averaged"].(float64)
	if !ok || len(state) != 1+len(a.averages) {
		return fmt.Errorf("optim: load state dict of an average: %d entries, n_averaged is %v; want %d and a float64", len(state), state["n_averaged"], 1+len(a.averages))
	}
	for i, t := range a.averages {
		x, ok := state[fmt.Sprint(i)].(*tensor.Tensor)
		if !ok || !slices.Equal(x.Shape(), t.Shape()) {
			return fmt.Errorf("optim: load state dict of an average: %d is %v, want a tensor of shape %s", i, state[fmt.Sprint(i)], text.Shape(t.Shape()))
		}
	}
	a.updates = int(n)
	tensor.NoGrad(func() {
		for i, t := range a.averages {
			t.Assign(state[fmt.Sprint(i)].(*tensor.Tensor))
		}
	})
	return nil
}

// TorchStateDict returns the state in the form of PyTorch's AveragedModel: n_averaged, an int64 scalar, and module.NAME for each tensor of the
// model, which is nn.StateDict of it: the average of a parameter, and other tensors as they are. It is
// torch.optim.swa_utils.AveragedModel.state_dict.
func (a *AveragedModel) TorchStateDict(model map[string]*tensor.Tensor) map[string]any {
	state := map[string]any{"n_averaged": tensor.FullAs(tensor.Int64, float64(a.updates))}
	a.Swap()
	defer a.Swap()
	for name, t := range model {
		state["module."+name] = t.Clone()
	}
	return state
}

// LoadTorchStateDict restores a state of TorchStateDict, or of PyTorch's AveragedModel as package data reads it: averages go to a, and tensors
// that are not parameters, such as running means, to the model. If names are missing or unknown, or shapes differ, it returns an error and
// changes nothing. It is torch.optim.swa_utils.AveragedModel.load_state_dict.
func (a *AveragedModel) LoadTorchStateDict(model map[string]*tensor.Tensor, state map[string]any) error {
	n, ok := number(state["n_averaged"]).(float64)
	if !ok {
		return fmt.Errorf("optim: load state dict of an average: n_averaged is %v; want a number", state["n_averaged"])
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(model)) {
		if x, ok := state["module."+name].(*tensor.Tensor); !ok {
			wrong = append(wrong, "module."+name+" is missing")
		} else if !slices.Equal(x.Shape(), model[name].Shape()) {
			wrong = append(wrong, fmt.Sprintf("module.%s has shape %s, want %s", name, text.Shape(x.Shape()), text.Shape(model[name].Shape())))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if own, ok := strings.CutPrefix(name, "module."); name != "n_averaged" && (!ok || model[own] == nil) {
			wrong = append(wrong, name+" is not in the model")
		}
	}
	if wrong != nil {
		return fmt.Errorf("optim: load state dict of an average: %s", strings.Join(wrong, "; "))
	}
	a.updates = int(n)
	a.Swap()
	defer a.Swap()
	tensor.NoGrad(func() {
		for name, t := range model {
			t.Assign(state["module."+name].(*tensor.Tensor))
		}
	})
	return nil
}
