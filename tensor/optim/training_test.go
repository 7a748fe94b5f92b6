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

// TestTrainingMatchesTorch trains the MLP of testdata/training.py from the same seed and
// compares losses. It covers the generator, layers, loss, clipping and optimizer together.
func TestTrainingMatchesTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/training.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 16), nn.NewTanh(), nn.NewLinear(16, 4))
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
				t.Errorf("step %d: got loss %v, want %v", step, got, want[step])
			}
			step++
		}
	}
	if step != len(want) {
		t.Errorf("got %d steps, want %d", step, len(want))
	}
}

// TestClassifierMatchesTorch trains the classifier of testdata/classifier.py from the same seed
// and compares losses. It covers layers, initialisation, dropout's masks, weighted and smoothed
// cross entropy, clipping, AdamW with groups and the schedule together.
func TestClassifierMatchesTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/classifier.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Rows [][]float64 }
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	tensor.ManualSeed(5)
	body := nn.NewSequential(nn.NewLinear(6, 32), nn.NewSiLU(), nn.NewDropout(0.2), nn.NewLinear(32, 16), nn.NewLeakyReLU(0.1), nn.NewDropout(0.1))
	head := nn.NewLinear(16, 4)
	nn.InitKaimingNormal(head.Weight, nn.Nonlinearity("relu"))
	nn.InitZeros(head.Bias)
	net := nn.NewSequential(body, head)
	x, y := tensor.Randn(48, 6), tensor.Randint(0, 4, 48)
	criterion := nn.NewCrossEntropyLoss(nn.Weight(tensor.New([]float64{1, 2, 0.5, 1.5})), nn.LabelSmoothing(0.1), nn.IgnoreIndex(3))
	opt := optim.NewAdamW(nn.Parameters(body), 0.01, optim.AMSGrad()).AddGroup(nn.Parameters(head), optim.WeightDecay(0))
	schedule := optim.NewOneCycleLR(opt, 0.02, 60, optim.OneCycleOptions{})
	near := func(what string, step int, got, want, tolerance float64) {
		if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
			t.Errorf("step %d: got %s %v, want %v", step, what, got, want)
		}
	}
	for step, row := range want.Rows {
		if step == len(want.Rows)-1 {
			nn.Eval(net)
		}
		loss := criterion.Forward(net.Forward(x), y)
		near("loss", step, loss.Item(), row[0], 1e-5)
		if step == len(want.Rows)-1 {
			break
		}
		loss.Backward()
		near("norm", step, nn.ClipGradNorm(nn.Parameters(net), 0.5), row[1], 1e-4)
		near("learning rate", step, opt.Groups()[1].LR, row[2], 1e-12)
		near("beta", step, opt.Groups()[1].Beta1, row[3], 1e-12)
		opt.Step()
		schedule.Step()
		opt.ZeroGrad()
	}
	if len(want.Rows) != 51 {
		t.Errorf("rows in the fixture: got %d, want 51", len(want.Rows))
	}
}
