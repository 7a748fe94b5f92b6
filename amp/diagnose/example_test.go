package diagnose_test

import (
	"fmt"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// The second layer's results exceed 65504, the largest float16.
func ExampleOverflow() {
	net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 8))
	for _, p := range nn.Parameters(net) {
		nn.InitConstant(p, 1)
	}
	x, y := tensor.Full(20, 16, 64), tensor.Zeros(16, 8)

	report := diagnose.Overflow(net, func() {
		amp.Autocast(amp.Float16, func() { nn.MSELoss(net.Forward(x), y) })
	})
	c := report.Culprit
	fmt.Printf("%s of module %s: %d of %v are infinite, the largest would be %.0f\n", c.Op, c.Module, c.Infs, c.Shape, c.Largest)
	fmt.Println(c.Cure)
	// Output:
	// linear of module 2: 128 of [16 8] are infinite, the largest would be 81985
	// make the activations smaller (a normalisation layer before it, a smaller initialisation, clipping), keep it in float32 with amp.Float16.With("linear", amp.FP32), or train in bfloat16
}

// The gradients are clipped before they are unscaled.
func ExampleLint() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 64))
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	x, y := tensor.Randn(64, 64), tensor.Randn(64, 64)

	report := diagnose.Lint(net, func() {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		scaler.Scale(loss).Backward()
		nn.ClipGradNorm(nn.Parameters(net), 1)
		scaler.Step(opt)
		scaler.Update()
	})
	for _, f := range report.Findings {
		fmt.Println(f.Code)
		fmt.Println(f.What)
		fmt.Println(f.Cure)
	}
	// Output:
	// clip-before-unscale
	// Gradients were clipped to 1 while they carried the scale 1024: to 0.00098 in true units.
	// Call scaler.Unscale(opt) before clipping, or clip to the limit times scaler.CurrentScale().
}

// A normalization that squares numbers above 256 overflows in float16. The search finds the
// operation that needs float32.
func ExampleMinimalFP32Set() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU())
	x := tensor.Randn(16, 64).MulScalar(1000)

	result := diagnose.MinimalFP32Set(net, func() (y *tensor.Tensor) {
		amp.Autocast(amp.Float16, func() {
			h := net.Forward(x)
			y = h.Div(h.Mul(h).Mean(1).Unsqueeze(1).Sqrt())
		})
		return y
	}, diagnose.PrecisionSetOptions{Budget: 0.01})
	fmt.Println(result.Code)
	fmt.Printf("error before %.3f, after %.3f\n", result.Before, result.After)
	// Output:
	// amp.Float16.With("mul", amp.FP32)
	// error before 1.000, after 0.000
}

func ExampleFirstDifference() {
	record := func(dtype tensor.DType) *trace.Recorder {
		x := tensor.Arange(0, 8).To(dtype)
		rec := trace.Start(trace.Hashes())
		defer rec.Stop()
		x.MulScalar(0.5).Sum()
		return rec
	}
	a, b := record(tensor.Float32), record(tensor.Float16)
	p, err := diagnose.FirstDifference(a, b) // or recordings that trace.Open has read
	fmt.Println(p, err)
	// Output: operation 0, mul_scalar, step 0: computed in float32 with a result in float32 in the first recording, in float16 with one in float16 in the second <nil>
}
