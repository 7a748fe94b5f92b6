package apex_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// apexRuns lists the runs of testdata/apex.py for each of its models.
var apexRuns = map[string]struct {
	level apex.OptLevel
	start float64 // initial scale, or 0 for the level's default
	bad   []int   // steps with an infinite gradient
}{
	"O0":                      {level: apex.O0},
	"O1":                      {level: apex.O1},
	"O1 128":                  {level: apex.O1.LossScale(128)},
	"O2":                      {level: apex.O2},
	"O2 128":                  {level: apex.O2.LossScale(128)},
	"O2 without masters":      {level: apex.O2.MasterWeights(false)},
	"O2 batch norm half":      {level: apex.O2.KeepBatchNormFP32(false)},
	"O3":                      {level: apex.O3},
	"O3 128, batch norm kept": {level: apex.O3.KeepBatchNormFP32(true).LossScale(128)},
	"O1 from 2^24":            {level: apex.O1, start: 1 << 24},
	"O2 from 2^24":            {level: apex.O2, start: 1 << 24},
	"O1, inf at 3, 4, 9":      {level: apex.O1, bad: []int{3, 4, 9}},
	"O2, inf at 3, 4, 9":      {level: apex.O2, bad: []int{3, 4, 9}},
}

// apexModel is a model of testdata/apex.py with its data.
type apexModel struct {
	net  nn.Module
	x    *tensor.Tensor
	loss func(out *tensor.Tensor) *tensor.Tensor
	opt  *optim.Optimizer
}

func apexMLP() apexModel {
	var layers []*nn.Linear
	for _, size := range [][2]int{{16, 32}, {32, 32}, {32, 4}} {
		layers = append(layers, drawnLinear(size[0], size[1]))
	}
	net := nn.NewSequential(layers[0], nn.NewReLU(), layers[1], nn.NewReLU(), layers[2])
	x, y := tensor.Randn(64, 16), tensor.Randn(64, 4)
	return apexModel{net, x, func(out *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(out, y) }, optim.NewSGD(nn.Parameters(net), 0.1)}
}

func drawnLinear(in, out int) *nn.Linear {
	w := tensor.Randn(out, in).MulScalar(1 / math.Sqrt(float64(in))).RequireGrad()
	return &nn.Linear{Weight: w, Bias: tensor.Zeros(out).RequireGrad()}
}

func apexCNN() apexModel {
	conv := func(in, out int) *nn.Conv2d {
		c := nn.NewConv2d(in, out, 3, nn.Padding(1), nn.InitFrom(tensor.NewGenerator(0)))
		c.Weight.SetData(tensor.Randn(out, in, 3, 3).MulScalar(1 / math.Sqrt(float64(in*9))))
		c.Bias.SetData(tensor.Zeros(out))
		return c
	}
	a, b := conv(3, 8), conv(8, 16)
	net := nn.NewSequential(a, nn.NewBatchNorm2d(8), nn.NewReLU(), nn.NewMaxPool2d(2), b, nn.NewBatchNorm2d(16), nn.NewReLU(), nn.NewFlatten(), drawnLinear(256, 10))
	x, y := tensor.Randn(16, 3, 8, 8), tensor.Arange(0, 16).Remainder(tensor.Scalar(10)).Long()
	return apexModel{net, x, func(out *tensor.Tensor) *tensor.Tensor { return nn.CrossEntropy(out, y) }, optim.NewSGD(nn.Parameters(net), 0.01, optim.Momentum(0.9))}
}

// TestTraining compares 30 training steps with those of testdata/apex.py. Scales and skips must be
// equal. Losses and parameters must agree to 1e-3 for 10 steps and to 2e-2 afterwards.
func TestTraining(t *testing.T) {
	text, err := os.ReadFile("testdata/apex.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Runs map[string][][]float64 }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(apexRuns); len(file.Runs) != want {
		t.Errorf("got %d runs in the file, want %d", len(file.Runs), want)
	}
	for kind, make := range map[string]func() apexModel{"MLP": apexMLP, "CNN": apexCNN} {
		for name, c := range apexRuns {
			t.Run(kind+" "+name, func(t *testing.T) {
				tensor.ManualSeed(1)
				m := make()
				model, opt := apex.Initialize(m.net, m.opt, c.level.Verbosity(0))
				if c.start != 0 {
					if err := apex.LoadStateDict(opt, map[string]map[string]float64{"loss_scaler0": {"loss_scale": c.start, "unskipped": 0}}); err != nil {
						t.Fatal(err)
					}
				}
				var worst [2]float64
				for k, want := range file.Runs[kind+" "+name] {
					opt.ZeroGrad()
					scale := apex.StateDict(opt)["loss_scaler0"]["loss_scale"]
					loss := m.loss(model.Forward(m.x))
					apex.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) {
						scaled.Backward()
						for _, bad := range c.bad {
							if bad == k {
								nn.Parameters(m.net)[0].Grad().Select(0, 0).Select(0, 0).Fill(math.Inf(1))
							}
						}
					})
					opt.Step()
					size := 0.0
					for _, p := range nn.Parameters(m.net) {
						for _, x := range p.Float64s() {
							size += math.Abs(x)
						}
					}
					if skipped := opt.LastStep().Skipped; scale != want[1] || skipped != (want[2] == 1) {
						t.Fatalf("step %d: got scale %v and skipped %v, want %v and %v", k, scale, skipped, want[1], want[2] == 1)
					}
					off := max(math.Abs(loss.Item()-want[0])/want[0], math.Abs(size-want[3])/want[3])
					within := 1e-3
					if k >= 10 {
						within = 2e-2
					}
					if !(off <= within) {
						t.Fatalf("step %d: got loss %v and parameters %v, want %v and %v", k, loss.Item(), size, want[0], want[3])
					}
					worst[min(k/10, 1)] = max(worst[min(k/10, 1)], off)
				}
				t.Logf("largest difference: %.2g in the first ten steps, %.2g afterwards", worst[0], worst[1])
			})
		}
	}
}
