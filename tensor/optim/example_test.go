package optim_test

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// The loop learns y = 3x - 1 from points on the line.
func ExampleNewAdam() {
	x := tensor.Linspace(-1, 1, 16).Reshape(16, 1)
	y := x.MulScalar(3).AddScalar(-1)
	net := nn.NewLinear(1, 1)
	opt := optim.NewAdam(nn.Parameters(net), 0.1)
	for range 200 {
		opt.ZeroGrad()
		nn.MSELoss(net.Forward(x), y).Backward()
		opt.Step()
	}
	fmt.Printf("y = %.2f x %+.2f\n", net.Weight.Item(), net.Bias.Item())
	// Output:
	// y = 3.00 x -1.00
}

// A schedule warms up for two steps and then decays.
func ExampleNewSequentialLR() {
	net := nn.NewLinear(4, 2)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	rates := optim.NewSequentialLR([]*optim.Scheduler{
		optim.NewLinearLR(opt, 0.25, 1, 2),
		optim.NewExponentialLR(opt, 0.5),
	}, []int{2})
	x := tensor.Ones(8, 4)
	for range 5 {
		fmt.Printf("%.4f\n", opt.LR())
		opt.ZeroGrad()
		net.Forward(x).Pow(2).Mean().Backward()
		opt.Step()
		rates.Step()
	}
	// Output:
	// 0.0250
	// 0.0625
	// 0.1000
	// 0.0500
	// 0.0250
}

// Groups give the body and the head of a model different settings.
func ExampleOptimizer_AddGroup() {
	body, head := nn.NewLinear(8, 8), nn.NewLinear(8, 2)
	opt := optim.NewAdamW(nn.Parameters(body), 1e-4)
	opt.AddGroup(nn.Parameters(head), optim.LR(1e-3), optim.WeightDecay(0))
	for _, g := range opt.Groups() {
		fmt.Println(len(g.Params()), g.LR, g.WeightDecay)
	}
	// Output:
	// 2 0.0001 0.01
	// 2 0.001 0
}
