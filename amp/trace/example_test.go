package trace_test

import (
	"fmt"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func ExampleStart() {
	net := nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 4))
	x, y := tensor.Randn(32, 8), tensor.Randn(32, 4)

	rec := trace.Start()
	amp.Autocast(amp.Float16, func() { nn.MSELoss(net.Forward(x), y) })
	rec.Stop()

	for _, op := range rec.Ops() {
		fmt.Printf("%-8s in %v with %d casts, result %v %v\n", op.Name, op.Computed, op.Casts, op.Out, op.Shape)
	}
	// Output:
	// linear   in float16 with 3 casts, result float16 [32 16]
	// relu     in float16 with 0 casts, result float16 [32 16]
	// linear   in float16 with 2 casts, result float16 [32 4]
	// mse_loss in float32 with 1 casts, result float32 []
}

// By adds up the operations by a property, forward and backward.
func ExampleRecorder_By() {
	net := nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 4))
	x, y := tensor.Randn(32, 8), tensor.Randn(32, 4)

	rec := trace.Start()
	var loss *tensor.Tensor
	amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })
	loss.Backward()
	rec.Stop()

	for _, name := range []string{"bfloat16", "float32"} {
		total, _ := rec.By("dtype").Find(name)
		fmt.Printf("%-8s %2d operations, %.0f FLOP\n", name, total.Times, total.FLOPs)
	}
	// Output:
	// bfloat16 10 operations, 30464 FLOP
	// float32   8 operations, 597 FLOP
}
