package plumbing

import "halfnote/tensor/driver"

// Gradients is the group of functions that follow a Backward. T is *tensor.Tensor.
type Gradients[T any] struct {
	// OnReady calls f during Backward as soon as the gradient g of the leaf t is complete, before it is added to the leaf's
	// Grad. f must not change g. Functions that f passes to after run at the end of Backward, when all
	// gradients have been added. OnReady returns a function that removes the hook. torch's gradient accumulators run at
	// the same time.
	OnReady func(t T, f func(g T, after func(func()))) (remove func())

	// Peek returns t's Grad for a caller that does not keep it. The memory of a gradient that only such callers have seen is released
	// when the gradient is dropped.
	Peek func(t T) T
}

// Memory is the group of functions that give the memory of tensors to other libraries.
type Memory[T any] struct {
	// Bytes returns the elements of a contiguous tensor, in the host's byte order, without a copy; they are valid while t is
	// reachable. It returns nil for a tensor that is not contiguous or whose device has separate memory. With write it
	// counts a change of t in place.
	Bytes func(t T, write bool) []byte

	// Shared is Bytes for a tensor whose device other libraries can use; p is memory of that device. It returns nil for other tensors.
	Shared func(t T, write bool) (p []byte, device driver.Sharer)

	// Withdraw gives back the memory of t and its views. Until Lend nothing may use it.
	Withdraw func(t T)

	// Lend gives t and its views the memory of from, of the same size. Unlike an assignment it is not a change of t in place.
	Lend func(t, from T)
}
