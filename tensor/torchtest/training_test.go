package torchtest

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// trainings are the runs of make_training.py. Each returns the loss of every step.
var trainings = map[string]func() []float64{
	"mlp, sgd": func() []float64 {
		net, batches := mlp()
		return train(net.Forward, optim.NewSGD(nn.Parameters(net), 0.1), meanSquare, batches)
	},
	"mlp, adamw": func() []float64 {
		net, batches := mlp()
		return train(net.Forward, optim.NewAdamW(nn.Parameters(net), 0.01), meanSquare, batches)
	},
	"cnn, momentum": func() []float64 {
		tensor.ManualSeed(2)
		net := nn.NewSequential(
			nn.NewConv2d(3, 8, 3, nn.Padding(1), nn.Bias(false)), nn.NewBatchNorm2d(8), nn.NewReLU(), nn.NewMaxPool2d(2),
			nn.NewConv2d(8, 16, 3, nn.Padding(1)), nn.NewBatchNorm2d(16), nn.NewReLU(), nn.NewAdaptiveAvgPool2d(1), nn.NewFlatten(),
			nn.NewLinear(16, 10),
		)
		var batches []batch
		for range 4 {
			batches = append(batches, batch{tensor.Randn(8, 3, 8, 8), tensor.Randint(0, 10, 8)})
		}
		loss := func(y, target T) T { return nn.CrossEntropy(y, target) }
		opt := optim.NewSGD(nn.Parameters(net), 0.05, optim.Momentum(0.9), optim.WeightDecay(5e-4))
		losses := train(net.Forward, opt, loss, batches)
		nn.Eval(net) // compares the running statistics too
		return append(losses, loss(net.Forward(batches[0].x), batches[0].y).Item())
	},
	"transformer, adamw": func() []float64 {
		tensor.ManualSeed(3)
		net := newClassifier()
		var batches []batch
		for range 4 {
			batches = append(batches, batch{tensor.Randint(0, 50, 8, 10), tensor.Randint(0, 3, 8)})
		}
		loss := func(y, target T) T { return nn.CrossEntropy(y, target) }
		return train(net.Forward, optim.NewAdamW(nn.Parameters(net), 1e-3), loss, batches)
	},
}

// TestTraining trains small networks from the same seed as PyTorch: generator,
// layers, losses, derivatives and optimizers together. Losses agree to 1e-5 for ten
// steps and to 1e-3 afterwards, because rounding errors grow as a network learns.
func TestTraining(t *testing.T) {
	text, err := os.ReadFile("testdata/training.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Losses map[string][]float64 }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(file.Losses)) {
		t.Run(name, func(t *testing.T) { sameLosses(t, trainings[name](), file.Losses[name]) })
	}
}

// sameLosses compares the losses of every step and logs their largest difference.
func sameLosses(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d losses, want %d", len(got), len(want))
	}
	worst, failed := 0.0, 0
	for i := range want {
		tolerance := 1e-3
		if i < 10 {
			tolerance = 1e-5
		}
		off := math.Abs(got[i]-want[i]) / math.Abs(want[i])
		worst = max(worst, off)
		if !(off <= tolerance) && failed < 3 {
			t.Errorf("step %d: got loss %v, want %v: they differ by %.2g", i, got[i], want[i], off)
			failed++
		}
	}
	t.Logf("%d losses from %.6g to %.6g: the largest difference is %.2g", len(want), want[0], want[len(want)-1], worst)
}

type batch struct{ x, y T }

func meanSquare(y, target T) T { return nn.MSELoss(y, target) }

// train returns the losses of 50 steps that cycle through the batches.
func train(net func(T) T, opt *optim.Optimizer, loss func(y, target T) T, batches []batch) []float64 {
	var losses []float64
	for i := range 50 {
		b := batches[i%len(batches)]
		opt.ZeroGrad()
		e := loss(net(b.x), b.y)
		e.Backward()
		opt.Step()
		losses = append(losses, e.Item())
	}
	return losses
}

func mlp() (nn.Module, []batch) {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(16, 32), nn.NewReLU(), nn.NewLinear(32, 32), nn.NewReLU(), nn.NewLinear(32, 4))
	var batches []batch
	for range 5 {
		batches = append(batches, batch{tensor.Randn(20, 16), tensor.Randn(20, 4)})
	}
	return net, batches
}

// classifier is a tiny transformer: embedding, encoder layers, the mean over positions,
// a linear layer.
type classifier struct {
	Embedding *nn.Embedding
	Layers    []*nn.TransformerEncoderLayer
	Head      *nn.Linear
}

func newClassifier() *classifier {
	c := &classifier{Embedding: nn.NewEmbedding(50, 32)}
	for range 2 {
		c.Layers = append(c.Layers, nn.NewTransformerEncoderLayer(32, 4, nn.DimFeedforward(64), nn.DropoutP(0), nn.Activation("gelu"), nn.BatchFirst()))
	}
	c.Head = nn.NewLinear(32, 3)
	return c
}

func (c *classifier) Forward(ids T) T {
	x := c.Embedding.Forward(ids)
	for _, l := range c.Layers {
		x = l.Forward(x)
	}
	return c.Head.Forward(x.Mean(1))
}
