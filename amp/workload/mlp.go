package workload

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// MLPSize are the sizes of [NewMLP].
type MLPSize struct{ Batch, Width, Layers int }

// LaptopMLP returns sizes for milliseconds a step.
func LaptopMLP() MLPSize { return MLPSize{Batch: 128, Width: 1024, Layers: 3} }

// SeedMLP returns the sizes of the R torch vignette and of the PyTorch recipe: 137.4 GFLOP
// in the products of a step.
func SeedMLP() MLPSize { return MLPSize{Batch: 512, Width: 4096, Layers: 3} }

// maxLayers is how deep a network may be.
const maxLayers = 10000

// NewMLP returns the training of linear layers with ReLU between them, by mean squared
// error and SGD, in dtype: "float32", "bfloat16" or "float16".
func NewMLP(s MLPSize, dtype string) *Training {
	if s.Layers < 1 || s.Layers > maxLayers {
		panic(fmt.Sprintf("workload: mlp: %d layers: expected 1 to %d", s.Layers, maxLayers))
	}
	sizes := make([]int, s.Layers+1)
	for i := range sizes {
		sizes[i] = s.Width
	}
	net := models.NewMLP(sizes)
	draw(net)
	x, y := tensor.Randn(s.Batch, s.Width), tensor.Randn(s.Batch, s.Width)
	return newTraining("mlp step", dtype, optim.NewSGD(nn.Parameters(net), 0.1), func() *tensor.Tensor {
		return nn.MSELoss(net.Forward(x), y)
	})
}
