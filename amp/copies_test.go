package amp_test

import (
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// TestCopiesInTraining trains with weights whose copies in half precision the optimizer writes, and
// with weights that are cast in each step. Weights have the same bits.
func TestCopiesInTraining(t *testing.T) {
	for name, optimizer := range map[string]func(ps []*tensor.Tensor) *optim.Optimizer{
		"SGD":   func(ps []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(ps, 0.1, optim.Momentum(0.9)) },
		"AdamW": func(ps []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(ps, 1e-2) },
	} {
		train := func(cast bool) (bits []uint64) {
			tensor.ManualSeed(1)
			net := models.NewMLP([]int{33, 40, 17})
			params := nn.Parameters(net)
			opt := optimizer(params)
			x, y := tensor.Randn(12, 33), tensor.Randn(12, 17)
			for range 6 {
				opt.ZeroGrad()
				var loss *tensor.Tensor
				amp.Autocast(amp.CPUBFloat16, func() { loss = nn.MSELoss(net.Forward(x).Add(net.Forward(x)), y) })
				loss.Backward()
				opt.Step()
				if cast {
					tensor.NoGrad(func() {
						for _, p := range params {
							p.MulScalarAssign(1) // a change discards the copy
						}
					})
				}
			}
			for _, p := range params {
				bits = append(bits, p.Detach().Bits()...)
			}
			return bits
		}
		if !slices.Equal(train(false), train(true)) {
			t.Errorf("%s: weights differ from those trained with casts", name)
		}
	}
}
