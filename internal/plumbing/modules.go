package plumbing

// Modules is the group of functions that name modules.
type Modules struct {
	// In is tensor.InModule for a module whose text an error of an operation in body shows. It calls
	// module's String method only then; module may be nil.
	In func(name string, module any, body func())
}

// Places is the group of functions that find tensors in modules. T is *tensor.Tensor.
type Places[T any] struct {
	// Of returns the fields of model that hold t and can be set.
	Of func(model any, t T) []*T
}
