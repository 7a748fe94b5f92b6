package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// Training trains a network repeatedly on the same batch. It is not safe for concurrent use.
type Training struct {
	Work  string // description, for example "mlp step"
	DType string // "float32", or the dtype of autocast

	policy amp.Policy
	scaler *amp.GradScaler
	opt    *optim.Optimizer
	loss   func() *tensor.Tensor
}

// newTraining prepares a training in dtype: "float32"; "bfloat16", under autocast with the
// lists of the default device; or "float16", with a gradient scaler too. It panics for any other
// dtype.
func newTraining(work, dtype string, opt *optim.Optimizer, loss func() *tensor.Tensor) *Training {
	t := &Training{Work: work, DType: dtype, opt: opt, loss: loss}
	gpu := tensor.DefaultDevice() != tensor.CPU
	switch {
	case dtype == "float32":
		t.policy = amp.Off
	case dtype == "bfloat16" && gpu:
		t.policy = amp.BFloat16
	case dtype == "bfloat16":
		t.policy = amp.CPUBFloat16
	case dtype == "float16" && gpu:
		t.policy = amp.Float16
	case dtype == "float16":
		t.policy = amp.CPUFloat16
	default:
		panic(fmt.Sprintf("experiment: %s in %q: want float32, bfloat16 or float16", work, dtype))
	}
	t.scaler = amp.NewGradScaler(amp.ScalerEnabled(dtype == "float16"))
	return t
}

// Step runs forward, backward and the optimizer's step, and returns the loss before it.
func (t *Training) Step() float64 { return t.Advance().Item() }

// Advance is Step without a host synchronisation: it returns the loss as a scalar tensor.
func (t *Training) Advance() *tensor.Tensor {
	t.opt.ZeroGrad()
	var loss *tensor.Tensor
	amp.Autocast(t.policy, func() { loss = t.loss() })
	t.scaler.Scale(loss).Backward()
	t.scaler.StepNonBlocking(t.opt)
	t.scaler.Update()
	return loss.Detach()
}

// draw gives net parameters that any library with torch's random numbers can reproduce. In order of
// their names, those of several dimensions are normal with variance 1 / (number of elements per index
// of the first dimension); biases are 0, and other parameters of one dimension are unchanged.
func draw(net any) {
	tensor.ManualSeed(1)
	list := nn.NamedParameters(net)
	slices.SortFunc(list, func(a, b nn.Named) int { return strings.Compare(a.Name, b.Name) })
	tensor.NoGrad(func() {
		for _, p := range list {
			switch t := p.Tensor; {
			case t.Dim() > 1:
				t.Assign(tensor.Randn(t.Shape()...).MulScalar(1 / math.Sqrt(float64(t.Numel()/t.Size(0)))))
			case strings.HasSuffix(p.Name, "bias"):
				t.Fill(0)
			}
		}
	})
}
