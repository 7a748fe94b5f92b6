package optim_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestTraining trains the MLP of testdata/training.py from the same seed: generator,
// layers, loss, clipping and optimizer together give torch's losses.
func TestTraining(t *testing.T) {
	text, err := os.ReadFile("testdata/training.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	tensor.ManualSeed(1)
	net := nn.Sequential(nn.NewLinear(8, 16), nn.ReLU(), nn.NewLinear(16, 16), nn.Tanh(), nn.NewLinear(16, 4))
	batches := data.RandomBatches(5, 10, 8, 4)
	opt := optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9))
	step := 0
	for range 4 {
		for _, b := range batches {
			loss := nn.MSELoss(net.Forward(b.Input), b.Target)
			loss.Backward()
			nn.ClipGradNorm(nn.Parameters(net), 0.5)
			opt.Step()
			opt.ZeroGrad()
			if got := loss.Item(); math.Abs(got-want[step]) > 1e-4*want[step] {
				t.Errorf("step %d: loss %v, torch has %v", step, got, want[step])
			}
			step++
		}
	}
	if step != len(want) {
		t.Errorf("%d steps, torch has %d", step, len(want))
	}
}
