package amp_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestPenalty trains with a gradient penalty under autocast and a scaler, and compares with
// testdata/penalty.py. Scales and skips must be equal. The gradients of the first step taken, which
// go through two backward passes, must agree in the norm: to 5e-3 in float16, 3e-2 in bfloat16 and
// 1e-5 in float32.
func TestPenalty(t *testing.T) {
	text, err := os.ReadFile("testdata/penalty.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Runs []struct {
			Model, DType string
			Rows         [][4]*float64 // loss, penalty, scale, skipped; null for non-finite numbers
			Gradients    [][]float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	models := map[string]func() penalized{"mlp": newPenalizedMLP, "conv": newPenalizedConv}
	rules := map[string]struct {
		policy  amp.Policy
		within  float64 // tolerance of gradients, relative to the norm
		allowed float64 // tolerance for losses and penalties of later steps
	}{"": {amp.Off, 1e-5, 1e-3}, "float16": {amp.Float16, 5e-3, 2e-2}, "bfloat16": {amp.BFloat16, 3e-2, 6e-2}}
	for _, c := range file.Runs {
		t.Run(c.Model+" "+c.DType, func(t *testing.T) {
			rule := rules[c.DType]
			tensor.ManualSeed(1)
			net := models[c.Model]()
			params := nn.Parameters(net)
			opt := optim.NewSGD(params, 0.05)
			scaler := amp.NewGradScaler(amp.InitScale(1<<20), amp.GrowthInterval(2))
			worst, compared := 0.0, false
			for k, want := range c.Rows {
				opt.ZeroGrad()
				loss, penalty := penalize(net, params, rule.policy, scaler)
				scaler.Scale(loss.Add(penalty)).Backward()
				scaler.Unscale(opt)
				scale := scaler.CurrentScale()
				r := scaler.Step(opt)
				scaler.Update()
				if scale != *want[2] || r.Skipped != (*want[3] == 1) {
					t.Fatalf("step %d: got scale %v and skipped %v (%v), want %v and %v", k, scale, r.Skipped, r, *want[2], *want[3] == 1)
				}
				for i, x := range []float64{loss.Item(), penalty.Item()} {
					if want[i] == nil {
						if !math.IsNaN(x) && !math.IsInf(x, 0) {
							t.Errorf("step %d, number %d: got %v, want a non-finite number", k, i, x)
						}
					} else if !(math.Abs(x-*want[i]) <= rule.allowed**want[i]) {
						t.Errorf("step %d, number %d: got %v, want %v", k, i, x, *want[i])
					}
				}
				if r.Skipped || compared {
					continue
				}
				compared = true
				for i, p := range params {
					var off, size float64
					for j, g := range p.Grad().Float64s() {
						w := c.Gradients[i][j]
						off += (g - w) * (g - w)
						size += w * w
					}
					off, size = math.Sqrt(off), math.Sqrt(size)
					worst = max(worst, off/size)
					if !(off <= rule.within*size) {
						t.Errorf("step %d: gradient of parameter %d: got an error of %.3g of its norm", k, i, off/size)
					}
				}
			}
			t.Logf("gradients off by at most %.2g", worst)
			if !compared {
				t.Error("every step was skipped")
			}
		})
	}
}

// penalize follows the recipe: it takes differentiable gradients of the scaled loss, unscales
// them, and computes their norm under autocast.
func penalize(net penalized, params []*tensor.Tensor, policy amp.Policy, scaler *amp.GradScaler) (loss, penalty *tensor.Tensor) {
	amp.Autocast(policy, func() { loss = net.loss() })
	grads := tensor.GradGraph(scaler.Scale(loss), params...)
	inverse := 1 / scaler.CurrentScale()
	amp.Autocast(policy, func() {
		squares := tensor.Scalar(0)
		for _, g := range grads {
			squares = squares.Add(g.MulScalar(inverse).Pow(2).Sum())
		}
		penalty = squares.Sqrt()
	})
	return loss, penalty
}

type penalized interface{ loss() *tensor.Tensor }

type penalizedMLP struct {
	l1, l2, l3 *nn.Linear
	x, y       *tensor.Tensor
}

func newPenalizedMLP() penalized {
	return &penalizedMLP{linear(12, 8), linear(12, 12), linear(4, 12), tensor.Randn(32, 8), tensor.Randn(32, 4)}
}

func (m *penalizedMLP) loss() *tensor.Tensor {
	h := m.l2.Forward(m.l1.Forward(m.x).Tanh())
	return nn.MSELoss(m.l3.Forward(h.Softplus()), m.y)
}

type penalizedConv struct {
	conv, bias *tensor.Tensor
	norm       *nn.LayerNorm
	head       *nn.Linear
	x, y       *tensor.Tensor
}

func newPenalizedConv() penalized {
	return &penalizedConv{drawn(3, 2, 3, 3), constant(0, 3), nn.NewLayerNorm([]int{3, 5, 5}), linear(2, 75), tensor.Randn(16, 2, 5, 5), tensor.Randn(16, 2)}
}

func (m *penalizedConv) loss() *tensor.Tensor {
	h := tensor.Conv2d(m.x, m.conv, m.bias, tensor.ConvOptions{Padding: []int{1}}).Tanh()
	return nn.MSELoss(m.head.Forward(m.norm.Forward(h).Flatten(1, -1)), m.y)
}
