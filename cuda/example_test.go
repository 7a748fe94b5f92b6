//go:build cuda && linux && cgo

package cuda_test

import (
	"fmt"

	"halfnote/amp"
	"halfnote/cuda"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

func ExampleCapture() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(2, 8), nn.NewReLU(), nn.NewLinear(8, 1))
	nn.To(net, tensor.CUDA)
	opt := optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9))
	x, y := tensor.Zeros(4, 2).ToDevice(tensor.CUDA), tensor.Zeros(4, 1).ToDevice(tensor.CUDA)
	var loss *tensor.Tensor
	step := func() {
		opt.ZeroGrad()
		amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		loss.Backward()
		opt.Step()
	}
	step() // warm up: allocate buffers, load kernels
	g, err := cuda.Capture(step)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Free()
	for i := range 40 {
		x.Assign(tensor.New([]float64{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2)) // next batch
		y.Assign(tensor.New([]float64{0, 1, 1, 0}, 4, 1))
		g.Replay()
		if i == 0 || i == 39 {
			fmt.Printf("replay %d: a loss of %.1f\n", i+1, loss.Item())
		}
	}
	// Output:
	// replay 1: a loss of 0.3
	// replay 40: a loss of 0.0
}
