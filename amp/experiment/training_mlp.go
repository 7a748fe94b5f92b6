package experiment

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// MLPSize holds the sizes of [NewMLPTraining].
type MLPSize struct{ Batch, Width, Layers int }

// LaptopMLP returns sizes that take milliseconds per step.
func LaptopMLP() MLPSize { return MLPSize{Batch: 128, Width: 1024, Layers: 3} }

// FullMLP returns the sizes of the R torch vignette and of the PyTorch recipe: 137.4 GFLOP
// in the products of a step.
func FullMLP() MLPSize { return MLPSize{Batch: 512, Width: 4096, Layers: 3} }

// NewMLPTraining returns the training of linear layers with ReLU between them, by mean squared
// error and SGD, in dtype: "float32", "bfloat16" or "float16".
func NewMLPTraining(s MLPSize, dtype string) *Training {
	within("NewMLPTraining", "Layers", s.Layers, 1, mostLayers)
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
