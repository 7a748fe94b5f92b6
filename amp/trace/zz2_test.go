package trace_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

func BenchmarkMLP(b *testing.B) {
	for _, c := range []struct {
		name string
		p    amp.Policy
	}{{"off", amp.Off}, {"f16", amp.Float16}, {"bf16", amp.BFloat16}} {
		b.Run(c.name, func(b *testing.B) {
			width, batch := 256, 128
			net := nn.Sequential(nn.NewLinear(width, width), nn.ReLU(), nn.NewLinear(width, width), nn.ReLU(), nn.NewLinear(width, width))
			opt := optim.NewSGD(nn.Parameters(net), 0.01)
			x, y := tensor.Randn(batch, width), tensor.Randn(batch, width)
			for b.Loop() {
				var loss *tensor.Tensor
				amp.Autocast(c.p, func() { loss = nn.MSELoss(net.Forward(x), y) })
				loss.Backward()
				opt.Step()
				opt.ZeroGrad()
			}
		})
	}
}
