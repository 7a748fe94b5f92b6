package plumbing

// Capture is the group of functions that concern CUDA graph capture: work is recorded once and
// replayed later with other values in the same memory.
type Capture struct {
	// Capturing reports whether this goroutine is capturing a graph: its work on the device is
	// recorded, not executed. It is torch.cuda.is_current_stream_capturing.
	Capturing func() bool

	// OnReplay registers f to be called before each replay of the graph that this goroutine is
	// capturing. f may panic if something that the step depends on has changed. Outside a capture
	// OnReplay does nothing.
	OnReplay func(f func())

	// NotInGraph panics with a *tensor.Error if this goroutine is capturing a graph, because op
	// cannot be part of one. Capture returns the panic as an error. why names the problem and the
	// expected usage.
	NotInGraph func(op, why string)
}
