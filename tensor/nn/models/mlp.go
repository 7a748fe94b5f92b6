package models

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// NewMLP returns linear layers from each of sizes to the next, with ReLU between them.
// It takes the options of nn.NewLinear.
func NewMLP(sizes []int, options ...nn.Option) *nn.Sequential {
	net := nn.NewSequential()
	for i := 1; i < len(sizes); i++ {
		if i > 1 {
			net.Append(nn.NewReLU())
		}
		net.Append(nn.NewLinear(sizes[i-1], sizes[i], options...))
	}
	return net
}

// Small is a network with layers from 8 features to 16, 16 and 1: too small to gain from
// half precision.
type Small struct {
	FC1, FC2, FC3 *nn.Linear
}

// NewSmall returns a Small with new parameters. It takes the options of nn.NewLinear.
func NewSmall(options ...nn.Option) *Small {
	return &Small{nn.NewLinear(8, 16, options...), nn.NewLinear(16, 16, options...), nn.NewLinear(16, 1, options...)}
}

// Forward maps x (n, 8) to (n, 1), with ReLU after the first two layers.
func (s *Small) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = in("fc1", s.FC1, x).ReLU()
	x = in("fc2", s.FC2, x).ReLU()
	return in("fc3", s.FC3, x)
}

// in calls a module under its name, which traced events carry.
func in(name string, m nn.Module, x *tensor.Tensor) (y *tensor.Tensor) {
	tensor.InModule(name, func() { y = m.Forward(x) })
	return y
}
