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

// TestOverflowEdge trains an autoencoder in float16 as testdata/overflow_edge.py does. Each decision of the loss scale is that of PyTorch but
// the last one: there the largest gradient lies so close to 65520, from which float16 rounds to infinity, that the order of the sums before it
// decides. PyTorch skips the step, and the losses differ from then on.
func TestOverflowEdge(t *testing.T) {
	text, err := os.ReadFile("testdata/overflow_edge.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Scales  []float64
		Largest float64
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	tensor.ManualSeed(126)
	net := nn.NewSequential(nn.NewLinear(64, 32), nn.NewTanh(), nn.NewLinear(32, 64))
	x := tensor.Randn(32, 64)
	opt := optim.NewAdam(nn.Parameters(net), 1e-2)
	scaler := amp.NewGradScaler(amp.InitScale(65536), amp.GrowthInterval(3))
	last := len(want.Scales) - 1
	for step, scale := range want.Scales[:last] {
		if got := scaler.CurrentScale(); got != scale {
			t.Fatalf("step %d: the scale is %v, want %v", step, got, scale)
		}
		var y *tensor.Tensor
		amp.Autocast(amp.Float16, func() { y = net.Forward(x) })
		opt.ZeroGrad()
		scaler.Scale(nn.MSELoss(y.Float(), x)).Backward()
		if step == last-1 {
			rounded, exact := largestOf(gradientsOf(net)), largestOf(exactGradients(net, x, scale))
			if rounded != 65504 {
				t.Errorf("the largest gradient is %v, want 65504, the largest number of float16", rounded)
			}
			for _, g := range []float64{exact, want.Largest} {
				if math.Abs(g-65520) > 65520*0x1p-11 {
					t.Errorf("in float64 the largest gradient is %v, want 65520 within the rounding of one operand", g)
				}
			}
		}
		scaler.Step(opt)
		scaler.Update()
	}
	if got := scaler.CurrentScale(); got != 2*want.Scales[last] {
		t.Errorf("the scale is %v and PyTorch's is %v, want twice PyTorch's", got, want.Scales[last])
	}
}

func gradientsOf(net *nn.Sequential) (grads []*tensor.Tensor) {
	for _, p := range nn.Parameters(net) {
		grads = append(grads, p.Grad())
	}
	return grads
}

// exactGradients returns the gradients of the loss times scale, computed in float64 from the same weights.
func exactGradients(net *nn.Sequential, x *tensor.Tensor, scale float64) []*tensor.Tensor {
	var w []*tensor.Tensor
	for _, p := range nn.Parameters(net) {
		w = append(w, p.Detach().Double().RequireGrad())
	}
	y := tensor.Linear(tensor.Linear(x.Double(), w[0], w[1]).Tanh(), w[2], w[3])
	return tensor.Grad(nn.MSELoss(y, x.Double()).MulScalar(scale), w...)
}

func largestOf(grads []*tensor.Tensor) (largest float64) {
	for _, g := range grads {
		largest = max(largest, g.Abs().Amax().Item())
	}
	return largest
}
