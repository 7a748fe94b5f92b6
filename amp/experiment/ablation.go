package experiment

import (
	"fmt"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// Ablation trains a linear layer to match a given one: in float32, in mixed precision, and in mixed
// precision without loss scaling or without float32 weights (sections 3.1, 3.2 and 4 of the paper).
// bfloat16 needs no scaling. The loss is multiplied by weight, and the learning rate divided by it,
// as for an auxiliary task. With weight 1 the gradients are large enough for float16, like those of
// ResNet-50 in the paper; with 1e-4 most are not. The run with float16 weights has weight 1, so that
// only updates are lost.
//
// The layer and its learning rate of 0.5 were chosen because they show both effects; most other
// small networks that were tried lose nothing. So the experiment shows that the effects exist, not
// how common they are.
func Ablation(steps int, weight float64, seed int64) *RunsReport {
	within("Ablation", "steps", steps, 1, mostSteps)
	const batches, batch, in, out, lr = 20, 64, 32, 64, 0.5
	r := &RunsReport{}
	for _, t := range []runSpec{
		{name: "float32", dtype: "float32", policy: amp.Off},
		{name: "float16, scaled", dtype: "float16", policy: amp.Float16, scale: 65536},
		{name: "float16, no scaling", dtype: "float16", policy: amp.Float16},
		{name: "float16 weights", dtype: "float16", policy: amp.Off, half: true},
		{name: "bfloat16", dtype: "bfloat16", policy: amp.BFloat16},
	} {
		g := tensor.NewGenerator(seed)
		net := models.NewMLP([]int{in, out}, nn.InitFrom(g))
		teacher := g.Normal(0, 0.1, in, out)
		var x, y []*tensor.Tensor
		for range batches {
			x = append(x, g.Randn(batch, in))
			y = append(y, x[len(x)-1].MatMul(teacher))
		}
		t.steps = steps
		by := weight
		if t.half {
			by = 1
		}
		run := t.run(net, func(params []*tensor.Tensor) *optim.Optimizer {
			return optim.NewSGD(params, lr/by)
		}, func(i int, forward func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
			return nn.MSELoss(forward(x[i%batches]), y[i%batches]).MulScalar(by)
		})
		for i := range run.Losses {
			run.Losses[i] /= by
		}
		r.Runs = append(r.Runs, run)
	}
	r.compare()
	final := func(i int) float64 { return r.Runs[i].Final() }
	r.Says = fmt.Sprintf("The loss ends at %.2g in float32 and at %.2g in scaled mixed precision; without scaling at %.2g, with float16 weights at %.2g.", final(0), final(1), final(2), final(3))
	return r
}
