package diagnose_test

import (
	"halfnote/dist"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// Mistakes in training on several ranks that one rank shows too.
var mistakesOfRanks = []mistake{
	{code: "reduce-overflow", step: func(b *bench, bad bool, _ int) func() {
		if err := dist.InitProcessGroup(); err != nil {
			panic(err)
		}
		d := dist.NewDistributedDataParallel(b.net)
		b.opt = optim.NewSGD(nn.Parameters(b.net), 1e-9)
		d.RegisterCommHook(dist.FP16CompressHook)
		if !bad {
			d.RegisterCommHook(dist.BF16CompressHook)
		}
		return func() {
			b.opt.ZeroGrad()
			d.Forward(b.x).Sum().MulScalar(1e5).Backward()
			if !bad { // the gradients are infinite
				b.opt.Step()
			}
		}
	}},
	{code: "sampler-epoch", step: func(b *bench, bad bool, _ int) func() {
		set := data.NewTensorDataset(b.x, b.y)
		sampler := data.NewDistributedSampler(set.Len(), 1, 0)
		loader := data.NewLoader(set, width, data.WithSampler(sampler))
		epoch := 0
		return func() {
			if epoch++; !bad {
				sampler.SetEpoch(epoch)
			}
			for _, batch := range loader.Batches() {
				b.learn(b.cast(func() *tensor.Tensor { return nn.MSELoss(b.net.Forward(batch.Input), batch.Target) }))
			}
		}
	}},
}
