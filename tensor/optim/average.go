package optim

import (
	"fmt"
	"slices"

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
// share memory with a.
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
