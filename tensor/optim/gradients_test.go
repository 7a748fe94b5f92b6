package optim

import (
	"slices"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestGradientsReleased trains with each optimizer twice: with gradients whose memory is released when they are dropped, and with
// gradients that are handed out before, which is left to the garbage collector. The parameters must be the same, and dropped
// gradients must not be used any more: that would panic.
func TestGradientsReleased(t *testing.T) {
	const n, steps = 96, 4
	for name, make := range map[string]func(p []*tensor.Tensor) *Optimizer{
		"SGD": func(p []*tensor.Tensor) *Optimizer { return NewSGD(p, 0.1) },
		"momentum": func(p []*tensor.Tensor) *Optimizer {
			return NewSGD(p, 0.1, Momentum(0.9), Nesterov(), WeightDecay(0.01))
		},
		"maximize":  func(p []*tensor.Tensor) *Optimizer { return NewSGD(p, 1e-3, Momentum(0.9), Maximize()) },
		"fused":     func(p []*tensor.Tensor) *Optimizer { return NewSGD(p, 0.1, Momentum(0.9), Fused()) },
		"Adam":      func(p []*tensor.Tensor) *Optimizer { return NewAdam(p, 0.1, WeightDecay(0.01)) },
		"AMSGrad":   func(p []*tensor.Tensor) *Optimizer { return NewAdam(p, 0.1, AMSGrad()) },
		"AdamW":     func(p []*tensor.Tensor) *Optimizer { return NewAdamW(p, 0.1) },
		"Adamax":    func(p []*tensor.Tensor) *Optimizer { return NewAdamax(p, 0.1) },
		"NAdam":     func(p []*tensor.Tensor) *Optimizer { return NewNAdam(p, 0.1) },
		"RAdam":     func(p []*tensor.Tensor) *Optimizer { return NewRAdam(p, 0.1) },
		"Adagrad":   func(p []*tensor.Tensor) *Optimizer { return NewAdagrad(p, 0.1) },
		"Adadelta":  func(p []*tensor.Tensor) *Optimizer { return NewAdadelta(p, 0.1) },
		"Adafactor": func(p []*tensor.Tensor) *Optimizer { return NewAdafactor(p, 0.1) },
		"ASGD":      func(p []*tensor.Tensor) *Optimizer { return NewASGD(p, 0.1) },
		"RMSprop":   func(p []*tensor.Tensor) *Optimizer { return NewRMSprop(p, 0.1, Momentum(0.9)) },
		"Rprop":     func(p []*tensor.Tensor) *Optimizer { return NewRprop(p, 0.1) },
	} {
		released := 0
		train := func(handedOut bool) (list []float64) {
			tensor.ManualSeed(1)
			x, y := tensor.Randn(n, n), tensor.Randn(n, n)
			w := []*tensor.Tensor{tensor.Randn(n, n).RequireGrad(), tensor.Randn(n, n).RequireGrad()}
			opt := make(w)
			for range steps {
				nn.MSELoss(x.MatMul(w[0]).ReLU().MatMul(w[1]), y).Backward()
				if handedOut {
					w[0].Grad()
					w[1].Grad()
				}
				nn.ClipGradNorm(w, 0.5)
				nn.ClipGradValue(w, 0.4)
				opt.Step()
				peeked := gradients.Peek(w[0])
				opt.ZeroGrad()
				if isReleased(peeked) {
					released++
				}
			}
			return slices.Concat(w[0].Float64s(), w[1].Float64s())
		}
		if got, want := train(false), train(true); !slices.Equal(got, want) {
			t.Errorf("%s: released gradients change the parameters", name)
		}
		if released != steps {
			t.Errorf("%s: %d gradients were released, want %d: those that were not handed out", name, released, steps)
		}
	}
}

// isReleased reports whether the memory of a tensor has been released.
func isReleased(x *tensor.Tensor) (released bool) {
	defer func() { released = recover() != nil }()
	x.Sum()
	return false
}
