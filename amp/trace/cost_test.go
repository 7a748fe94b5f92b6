package trace_test

import (
	"fmt"
	"testing"
	"time"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/display"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// trained returns a net and a function that trains it for a step in float16.
func trained(net nn.Module, opt *optim.Optimizer, loss func() *tensor.Tensor) func() {
	scaler := amp.NewGradScaler()
	return func() {
		var l *tensor.Tensor
		amp.Autocast(amp.Float16, func() { l = loss() })
		scaler.Scale(l).Backward()
		scaler.Step(opt)
		scaler.Update()
		opt.ZeroGrad()
	}
}

// workloads returns the models for measuring the cost of a recording.
func workloads() map[string]func() (net nn.Module, step func()) {
	return map[string]func() (nn.Module, func()){
		"mlp": func() (nn.Module, func()) { // three layers of 256, batch 64
			net := models.NewMLP([]int{256, 256, 256, 256})
			x, y := tensor.Randn(64, 256), tensor.Randn(64, 256)
			return net, trained(net, optim.NewSGD(nn.Parameters(net), 0.01), func() *tensor.Tensor { return nn.MSELoss(net.Forward(x), y) })
		},
		"wide": func() (nn.Module, func()) { // three layers of 1024, batch 256
			net := models.NewMLP([]int{1024, 1024, 1024, 1024})
			x, y := tensor.Randn(256, 1024), tensor.Randn(256, 1024)
			return net, trained(net, optim.NewSGD(nn.Parameters(net), 0.01), func() *tensor.Tensor { return nn.MSELoss(net.Forward(x), y) })
		},
		"cnn": func() (nn.Module, func()) { // two convolutions with batch norm on 16 images of 16 × 16
			net := nn.NewSequential(nn.NewConv2d(3, 16, 3), nn.NewBatchNorm2d(16), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewConv2d(16, 32, 3), nn.NewBatchNorm2d(32), nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(32*5*5, 10))
			x, y := tensor.Randn(16, 3, 16, 16), tensor.Randint(0, 10, 16)
			return net, trained(net, optim.NewSGD(nn.Parameters(net), 0.01, optim.Momentum(0.9)), func() *tensor.Tensor { return nn.CrossEntropy(net.Forward(x), y) })
		},
		"transformer": func() (nn.Module, func()) { // BERT of two layers, 8 sequences of 32
			net := models.NewBERTClassifier(models.BERTConfig{Vocabulary: 200, Positions: 64, Types: 2, Hidden: 64, Layers: 2, Heads: 4, Intermediate: 128}, 2)
			x, y := tensor.Randint(3, 200, 8, 32), tensor.Randint(0, 2, 8)
			return net, trained(net, optim.NewAdamW(nn.Parameters(net), 0.001), func() *tensor.Tensor { return nn.CrossEntropy(net.Forward(x), y) })
		},
	}
}

// BenchmarkOverhead trains for a second and a half with a recording and as long without, alternating, seven times,
// and reports the time that the recording adds, alone and with a dashboard.
func BenchmarkOverhead(b *testing.B) {
	for name, workload := range workloads() {
		for _, live := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/live=%t", name, live), func(b *testing.B) {
				net, step := workload()
				options := []trace.Option{trace.Models(net)}
				if live {
					options = append(options, trace.LiveOn(display.NewScreen(func() display.Sink { return new(sink) })))
				}
				var c trace.Cost
				steps := int(20 * 1500 * time.Millisecond / timed(20, step))
				for b.Loop() {
					c = trace.Overhead(steps, step, options...)
				}
				b.Log(c)
				b.ReportMetric(100*c.Share(), "%more")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// timed returns the time of n steps.
func timed(n int, step func()) time.Duration {
	step()
	start := time.Now()
	for range n {
		step()
	}
	return time.Since(start)
}

// BenchmarkRecording measures the time of an operation with and without a recording.
func BenchmarkRecording(b *testing.B) {
	x := tensor.Ones(1)
	b.Run("off", func(b *testing.B) {
		for b.Loop() {
			x.Neg()
		}
	})
	b.Run("on", func(b *testing.B) {
		defer trace.Start().Stop()
		for b.Loop() {
			x.Neg()
		}
	})
}
