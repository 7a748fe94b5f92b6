package plumbing

// Norms is the group of functions about layers that normalise. T is *tensor.Tensor.
type Norms[T any] struct {
	// Synchronize makes the BatchNorm layers of model normalise, in training, by statistics over several processes. total
	// returns the sum of the processes' vectors, differentiably.
	Synchronize func(model any, total func(x T) T)
}
