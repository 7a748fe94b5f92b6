package fp8_test

import (
	"fmt"

	"halfnote/amp/fp8"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// The scale maps the largest magnitude of each tensor to the largest number of its 8-bit format:
// 448 for E4M3, 57344 for E5M2.
func ExampleNew() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(16, 16), nn.NewReLU(), nn.NewLinear(16, 4))
	x, y := tensor.Randn(32, 16), tensor.Randn(32, 4)

	scaler := fp8.New(fp8.CurrentScaling{}, net)
	var loss *tensor.Tensor
	scaler.Autocast(func() { loss = nn.MSELoss(net.Forward(x), y) })
	loss.Backward()

	for _, s := range scaler.Scales() {
		fmt.Printf("%-9s %-14v largest %.4f, scaled %.0f, saturated %d\n", s.Name, s.Format, s.AMax, s.AMax*s.Scale, s.Saturated)
	}
	// Output:
	// 0.input   float8_e4m3fn  largest 3.3793, scaled 448, saturated 0
	// 0.weight  float8_e4m3fn  largest 0.2495, scaled 448, saturated 0
	// 0.grad    float8_e5m2    largest 0.0161, scaled 57344, saturated 0
	// 2.input   float8_e4m3fn  largest 1.8516, scaled 448, saturated 0
	// 2.weight  float8_e4m3fn  largest 0.2449, scaled 448, saturated 0
	// 2.grad    float8_e5m2    largest 0.0510, scaled 57344, saturated 0
}
