package optim_test

import (
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// TestStepUnless checks, for a device that cannot skip steps itself, that nothing changes if a
// flag is set, and that a scheduler counts the step in any case.
func TestStepUnless(t *testing.T) {
	for name, maker := range makers {
		p := tensor.Ones(2).RequireGrad()
		opt := maker([]T{p})
		schedule := optim.NewExponentialLR(opt, 1)
		for i, flags := range [][]float64{{1}, {0, 0, 3}, {0, math.NaN()}, {0, 0}, {0, 1}} {
			p.SetGrad(tensor.Ones(2))
			before, remembered := p.Detach().Clone().Float64s(), len(opt.StateDict())
			opt.StepUnless(tensor.New(flags, len(flags)))
			schedule.Step()
			moved := p.Detach().Float64s()[0] != before[0]
			if want := i == 3; moved != want {
				t.Errorf("%s, flags %v: parameter changed: got %v, want %v", name, flags, moved, want)
			}
			if now := len(opt.StateDict()); i != 3 && now != remembered {
				t.Errorf("%s, flags %v: got %d entries of state, want %d", name, flags, now, remembered)
			}
		}
		if n := schedule.StepsAlone(); n != 0 {
			t.Errorf("%s: StepsAlone: got %d, want 0", name, n)
		}
	}
}
