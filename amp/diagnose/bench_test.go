package diagnose

import (
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// BenchmarkRecording measures a training step of an MLP without and with recorders.
func BenchmarkRecording(b *testing.B) {
	for _, c := range []struct {
		name  string
		watch func(net any, opt *optim.Optimizer, s *amp.GradScaler) (after func(loss *tensor.Tensor), stop func())
	}{
		{"alone", func(any, *optim.Optimizer, *amp.GradScaler) (func(*tensor.Tensor), func()) {
			return func(*tensor.Tensor) {}, func() {}
		}},
		{"replay", func(net any, _ *optim.Optimizer, _ *amp.GradScaler) (func(*tensor.Tensor), func()) {
			return func(*tensor.Tensor) {}, NewReplay(net).Stop
		}},
		{"replay-activations", func(net any, _ *optim.Optimizer, _ *amp.GradScaler) (func(*tensor.Tensor), func()) {
			return func(*tensor.Tensor) {}, NewReplay(net, WithActivations).Stop
		}},
		{"rewind", func(net any, opt *optim.Optimizer, s *amp.GradScaler) (func(*tensor.Tensor), func()) {
			rw := NewRewind(net, opt, s)
			return rw.Record, rw.Stop
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			tensor.ManualSeed(1)
			net := models.NewMLP([]int{256, 256, 256, 256})
			opt := optim.NewAdamW(nn.Parameters(net), 1e-3)
			s := amp.NewGradScaler()
			x, y := tensor.Randn(64, 256), tensor.Randn(64, 256)
			after, stop := c.watch(net, opt, s)
			defer stop()
			for b.Loop() {
				var loss *tensor.Tensor
				amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
				s.Scale(loss).Backward()
				s.Step(opt)
				s.Update()
				opt.ZeroGrad()
				after(loss)
			}
		})
	}
}
