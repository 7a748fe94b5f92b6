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

	rec := trace.Start(trace.Models(net))
	amp.Autocast(amp.Float16, func() { nn.MSELoss(net.Forward(x), y) })
	rec.Stop()

	for _, op := range rec.Ops() {
		fmt.Printf("%-8s of module %q: %v, casts: %d\n", op.Name, op.Module, op.Computed, op.Casts)
	}
	// Output:
	// linear   of module "0": float16, casts: 3
	// relu     of module "1": float16, casts: 0
	// linear   of module "2": float16, casts: 2
	// mse_loss of module "": float32, casts: 1
}

// By adds up the operations by a property, forward and backward.
func ExampleRecorder_By() {
	net := nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 4))
	x, y := tensor.Randn(32, 8), tensor.Randn(32, 4)

	rec := trace.Start(trace.Models(net))
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
