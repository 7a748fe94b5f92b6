package nn

import (
	"fmt"

	"halfnote/tensor"
)

// ParametersToVector returns the elements of params concatenated into one vector, with the
// dtype and device of the first. Gradients flow back to params. It panics if params is empty
// or on several devices. It is torch.nn.utils.parameters_to_vector.
func ParametersToVector(params []*tensor.Tensor) *tensor.Tensor {
	if len(params) == 0 {
		failVector("parameters_to_vector", "params is empty; want at least one tensor, for example from nn.Parameters(net)")
	}
	flat := make([]*tensor.Tensor, len(params))
	for i, p := range params {
		if p == nil {
			failVector("parameters_to_vector", "parameter %d is nil; want a tensor", i)
		}
		flat[i] = p.Reshape(-1)
	}
	return tensor.Cat(0, flat...)
}

// VectorToParameters copies the elements of v into params in turn, in place and converted to
// their dtypes. It panics unless v is a vector with as many elements as params in total. It
// is torch.nn.utils.vector_to_parameters.
func VectorToParameters(v *tensor.Tensor, params []*tensor.Tensor) {
	n := 0
	for i, p := range params {
		if p == nil {
			failVector("vector_to_parameters", "parameter %d is nil; want a tensor", i)
		}
		n += p.Numel()
	}
	if v == nil || v.Dim() != 1 || v.Numel() != n {
		failVector("vector_to_parameters", "%s for %d parameters with %d elements; want a vector of %d", describeVector(v), len(params), n, n)
	}
	tensor.NoGrad(func() {
		at := 0
		for _, p := range params {
			p.Assign(v.Slice(0, at, at+p.Numel()).Reshape(p.Shape()...))
			at += p.Numel()
		}
	})
}

func describeVector(v *tensor.Tensor) string {
	if v == nil {
		return "a nil tensor"
	}
	return fmt.Sprintf("a tensor of shape %s", tuple(v.Shape()))
}

func failVector(op, format string, args ...any) {
	panic(&tensor.Error{Op: op, Why: fmt.Sprintf(format, args...)})
}
