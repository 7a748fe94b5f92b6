package plumbing

// Call is a call other than an operation, one whose order matters to diagnostics.
type Call[T any] struct {
	// Name is torch's name of the call: "backward", "grad", "item", "zero_grad",
	// "optimizer.step" and, after it, "optimizer.stepped", "lr_scheduler.step", "clip_grad_norm_", "clip_grad_value_", or another
	// name that a package chooses.
	Name    string
	Module  string  // path of the running module, set by Note
	Source  string  // calling cell line: "In[3], line 5", set by Note
	By      any     // object of the call, for example an *optim.Optimizer; may be nil
	Tensors []T     // tensors involved, for example parameters; must not be kept
	Number  float64 // argument: the norm to clip to; 1 for a Backward that keeps the graph
}
