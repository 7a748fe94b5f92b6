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

// Weight decay of 1e-4 a step is less than half a unit in the last place of bfloat16, so it is lost; stochastic rounding keeps it in the mean.
func ExampleStochasticRounding() {
	left := func(options ...optim.Option) float64 {
		tensor.ManualSeed(1)
		p := tensor.Ones(4096).To(tensor.BFloat16).RequireGrad()
		opt := optim.NewSGD([]*tensor.Tensor{p}, 1e-3, append(options, optim.WeightDecay(0.1))...)
		for range 1000 {
			p.SetGrad(tensor.ZerosLike(p))
			opt.Step()
		}
		return p.Detach().Float().Mean().Item()
	}
	fmt.Printf("to nearest %.1f, stochastic %.1f, Kahan %.1f\n", left(), left(optim.StochasticRounding()), left(optim.KahanSum()))
	// Output: to nearest 1.0, stochastic 0.9, Kahan 0.9
}

// Muon takes matrices; other parameters have an optimizer next to it.
func ExampleNewMuon() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(4, 32), nn.NewTanh(), nn.NewLinear(32, 1))
	var matrices, others []*tensor.Tensor
	for _, p := range nn.Parameters(net) {
		if len(p.Shape()) == 2 {
			matrices = append(matrices, p)
		} else {
			others = append(others, p)
		}
	}
	muon, adam := optim.NewMuon(matrices, 0.02, optim.WeightDecay(0)), optim.NewAdamW(others, 0.01)
	x := tensor.Randn(128, 4)
	y := x.Sum(1).Unsqueeze(1).Sin()
	var loss *tensor.Tensor
	for range 100 {
		loss = nn.MSELoss(net.Forward(x), y)
		loss.Backward()
		muon.Step()
		adam.Step()
		muon.ZeroGrad()
		adam.ZeroGrad()
	}
	fmt.Println("learned:", loss.Item() < 0.1*y.Square().Mean().Item())
	// Output: learned: true
}
