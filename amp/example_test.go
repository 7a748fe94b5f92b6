package amp_test

import (
	"fmt"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// Inside the region each operation runs in the dtype of its category. Parameters stay float32,
// and so do their gradients.
func ExampleAutocast() {
	tensor.ManualSeed(1)
	net := nn.NewLinear(8, 4)
	x, y := tensor.Randn(16, 8), tensor.Randn(16, 4)

	var out, loss *tensor.Tensor
	amp.Autocast(amp.BFloat16, func() {
		out = net.Forward(x)
		loss = nn.MSELoss(out, y)
	})
	loss.Backward()

	fmt.Println("output:", out.DType())
	fmt.Println("loss:", loss.DType())
	fmt.Println("weight:", net.Weight.DType(), "with a gradient in", net.Weight.Grad().DType())
	// Output:
	// output: bfloat16
	// loss: float32
	// weight: float32 with a gradient in float32
}

// Enter opens a region for straight-line code.
func ExamplePolicy_Enter() {
	x, w := tensor.Ones(2, 3), tensor.Ones(3, 2)
	region := amp.Float16.Enter()
	y := x.MatMul(w)
	z := y.Softmax(1)
	region.Exit()
	fmt.Println(y.DType(), z.DType(), x.MatMul(w).DType())
	// Output:
	// float16 float32 float32
}

func ExamplePolicy_Why() {
	fmt.Println(amp.Float16.Why("matmul"))
	fmt.Println(amp.Float16.Why("softmax"))
	fmt.Println(amp.Float16.Why("relu"))
	// Output:
	// Under amp.Float16, matmul runs in float16: torch's CUDA list lower_precision_fp. Tensor cores compute matrix products fast, and sum them in float32.
	// Under amp.Float16, softmax runs in float32, unless the call names a dtype: torch's CUDA list fp32_set_opt_dtype. Its results or sums exceed float16's range, or lose too much precision.
	// Under amp.Float16, relu runs in its operands' dtype: on none of torch's CUDA lists. It is safe in any dtype, so a cast would only cost time.
}

// With returns a policy with another category for an operation.
func ExamplePolicy_With() {
	p := amp.Float16.With("softmax", amp.Unlisted)
	x := tensor.Ones(2, 3).Half()
	amp.Autocast(amp.Float16, func() { fmt.Println(x.Softmax(1).DType()) })
	amp.Autocast(p, func() { fmt.Println(x.Softmax(1).DType()) })
	// Output:
	// float32
	// float16
}

// The first scale is too large for float16, so the scaler skips steps and halves the scale
// until the gradients are finite.
func ExampleGradScaler() {
	tensor.ManualSeed(1)
	net := nn.NewLinear(8, 4)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	scaler := amp.NewGradScaler(amp.InitScale(1 << 20)) // the default is 1 << 16
	x, y := tensor.Randn(16, 8), tensor.Randn(16, 4)

	for range 4 {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		scaler.Scale(loss).Backward()
		result := scaler.Step(opt)
		scaler.Update()
		fmt.Printf("loss %.3f, scale %.0f, skipped %t\n", loss.Item(), result.Scale, result.Skipped)
	}
	// Output:
	// loss 1.165, scale 1048576, skipped true
	// loss 1.165, scale 524288, skipped true
	// loss 1.165, scale 262144, skipped true
	// loss 1.165, scale 131072, skipped false
}

// Clip gradients in their true units: Unscale comes first.
func ExampleGradScaler_Unscale() {
	tensor.ManualSeed(1)
	net := nn.NewLinear(8, 4)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	x, y := tensor.Randn(16, 8), tensor.Randn(16, 4)

	var loss *tensor.Tensor
	amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
	scaler.Scale(loss).Backward()

	scaler.Unscale(opt)
	norm := nn.ClipGradNorm(nn.Parameters(net), 1)
	scaler.Step(opt)
	scaler.Update()
	fmt.Printf("norm %.2f, clipped to %.2f\n", norm, nn.TotalNorm(nn.Parameters(net), 2))
	// Output:
	// norm 1.06, clipped to 1.00
}

// Several batches are accumulated into one step. All accumulated gradients must have the same
// scale, so Unscale, Step, Update and ZeroGrad come only after the last batch.
func ExampleGradScaler_accumulation() {
	tensor.ManualSeed(1)
	net := nn.NewLinear(8, 4)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	x, y := tensor.Randn(64, 8), tensor.Randn(64, 4)

	const batches = 4
	for k := range 8 {
		var loss *tensor.Tensor
		rows := tensor.R(k%batches*16, k%batches*16+16)
		amp.Autocast(amp.Float16, func() {
			loss = nn.MSELoss(net.Forward(x.Index(rows)), y.Index(rows)).MulScalar(1. / batches)
		})
		scaler.Scale(loss).Backward()
		if k%batches == batches-1 {
			result := scaler.Step(opt)
			scaler.Update()
			opt.ZeroGrad()
			fmt.Printf("batch %d: step %d, skipped %t\n", k, result.Step, result.Skipped)
		}
	}
	// Output:
	// batch 3: step 0, skipped false
	// batch 7: step 1, skipped false
}

// A gradient penalty differentiates gradients of the scaled loss. They are divided by the scale,
// out of place, before they are added to the loss.
func ExampleGradScaler_penalty() {
	tensor.ManualSeed(1)
	net := nn.NewLinear(8, 4)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	x, y := tensor.Randn(16, 8), tensor.Randn(16, 4)

	var loss, penalty *tensor.Tensor
	amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
	grads := tensor.GradGraph(scaler.Scale(loss), nn.Parameters(net)...)
	amp.Autocast(amp.Float16, func() {
		squares := tensor.Scalar(0)
		for _, g := range grads {
			squares = squares.Add(g.MulScalar(1 / scaler.CurrentScale()).Pow(2).Sum())
		}
		penalty = squares.Sqrt()
		loss = loss.Add(penalty)
	})
	scaler.Scale(loss).Backward()
	result := scaler.Step(opt)
	scaler.Update()
	fmt.Printf("penalty %.2f in %v, skipped %t\n", penalty.Item(), penalty.DType(), result.Skipped)
	// Output:
	// penalty 1.06 in float32, skipped false
}

// Several losses, models and optimizers share one scaler, which is updated once. A non-finite
// gradient skips the step of its own optimizer only, and lowers the scale for all.
func ExampleGradScaler_several() {
	tensor.ManualSeed(1)
	first, second := nn.NewLinear(8, 4), nn.NewLinear(8, 4)
	opts := []*optim.Optimizer{optim.NewSGD(nn.Parameters(first), 0.1), optim.NewAdamW(nn.Parameters(second), 0.01)}
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	x, y := tensor.Randn(16, 8), tensor.Randn(16, 4)

	var loss0, loss1 *tensor.Tensor
	amp.Autocast(amp.Float16, func() {
		a, b := first.Forward(x), second.Forward(x)
		loss0 = nn.MSELoss(a, y)
		loss1 = nn.MSELoss(b.MulScalar(1e6), y) // overflows
	})
	scaler.Scale(loss0).Backward()
	scaler.Scale(loss1).Backward()
	for _, opt := range opts {
		fmt.Println("skipped:", scaler.Step(opt).Skipped)
	}
	scaler.Update()
	fmt.Println("next scale:", scaler.CurrentScale())
	// Output:
	// skipped: false
	// skipped: true
	// next scale: 512
}

// A checkpoint holds the states of the model, the optimizer and the scaler, taken after Update.
func ExampleGradScaler_StateDict() {
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	state := scaler.StateDict()

	resumed := amp.NewGradScaler()
	resumed.LoadStateDict(state)
	fmt.Println(resumed.CurrentScale())
	// Output:
	// 1024
}

// The forward of this function runs in float32 inside a region, whatever its operands, because
// float16 cannot hold its squares.
func ExampleCustomFwd() {
	energy := amp.CustomBwd(amp.CustomFwd(tensor.Function{
		Name: "energy",
		Forward: func(c *tensor.Context, in []*tensor.Tensor) *tensor.Tensor {
			c.Save(in[0])
			return in[0].Mul(in[0]).Sum()
		},
		Backward: func(c *tensor.Context, dy *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{c.Saved()[0].Mul(dy).MulScalar(2)}
		},
	}, tensor.Float32))

	x := tensor.New([]float64{300, 400}).Half().RequireGrad()
	amp.Autocast(amp.Float16, func() {
		fmt.Println(x.Mul(x))
		y := energy.Apply(x)
		fmt.Println(y)
		y.Backward()
	})
	fmt.Println(x.Grad())
	// Output:
	// tensor([inf, inf], dtype=float16, grad_fn=mul)
	// tensor(250000., grad_fn=energy)
	// tensor([600., 800.], dtype=float16)
}

// A module may have its own precision, as in jmp and Keras.
func ExampleWithPrecision() {
	net := amp.WithPrecision(nn.NewLinear(8, 4), amp.ParsePrecision("p=f32,c=f16,o=f32"))
	fmt.Println(net.Forward(tensor.Ones(2, 8)).DType())
	// Output:
	// float32
}

// triple is an operation of three times its operand, with its own derivative.
type triple struct{}

func (triple) Info() tensor.Info                          { return tensor.Info{Name: "triple"} }
func (triple) Forward(in []*tensor.Tensor) *tensor.Tensor { return in[0].MulScalar(3) }
func (triple) VJP(dy, _ *tensor.Tensor, _ []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy.MulScalar(3)}
}

// A custom operation runs in float16 wherever autocast is on.
func ExampleRegisterAutocast() {
	x := tensor.Ones(2)
	amp.RegisterAutocast("triple", amp.LowerPrecision)
	amp.Autocast(amp.Float16, func() { fmt.Println("registered:", tensor.Apply(triple{}, x).DType()) })
	amp.Autocast(amp.Float16.With("triple", amp.FP32), func() { fmt.Println("moved:", tensor.Apply(triple{}, x).DType()) })
	fmt.Println("outside:", tensor.Apply(triple{}, x).DType())
	// Output:
	// registered: float16
	// moved: float32
	// outside: float32
}

// Four bits in each product of a linear layer. The gradients are rounded stochastically, with the generator's seeds.
func ExampleNVFP4() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(32, 32), nn.NewReLU(), nn.NewLinear(32, 1))
	x := tensor.Randn(64, 32)
	y := x.Sum(1).Unsqueeze(1)
	opt := optim.NewAdam(nn.Parameters(net), 0.01)
	for range 100 {
		var loss *tensor.Tensor
		amp.Autocast(amp.NVFP4(), func() { loss = nn.MSELoss(net.Forward(x), y) })
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
	}
	loss := nn.MSELoss(net.Forward(x), y).Item()
	fmt.Println("learned:", loss < 0.1*y.Square().Mean().Item())
	// Output: learned: true
}
