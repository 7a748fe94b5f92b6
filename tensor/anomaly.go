package tensor

import (
	"fmt"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// DetectAnomaly runs body; within it, Backward and Grad panic at the first operation whose
// derivative produces a NaN. The panic names the operation, the cell line and module that
// called it, the operand and the element. Record the operations inside body too, or their lines
// are unknown. Checking every gradient is slow: use it to find a fault, not to train. It is
// torch.autograd.detect_anomaly.
func DetectAnomaly(body func()) {
	driver.SetTracing(true)
	defer driver.SetTracing(false)
	s := current()
	s.anomaly = true
	s.do(body)
}

// expectNumber panics if the gradient dx of operand i of v contains a NaN.
func (v *vertex) expectNumber(op string, dx *Tensor, i int) {
	var at []int
	Unobserved(func() {
		if dx.Counts().NaNs > 0 {
			at = unravel(int(dx.IsNaN().Reshape(-1).To(Uint8).Argmax().Item()), dx.shape)
		}
	})
	if at == nil {
		return
	}
	why := text.Sprintf("the derivative of %s is NaN for operand %d at element %v", v.of, i, at)
	if x := v.in[i]; x.mem != nil {
		why += fmt.Sprintf(", where the operand is %v", x.Detach().At(at...))
	}
	if v.source != "" {
		why += ", in " + v.source
	}
	if v.module != "" {
		why += fmt.Sprintf(", in module %q", v.module)
	}
	panic(&Error{Op: op, Why: why + "; look for 0/0, inf-inf or 0*inf there"})
}

// unravel returns the index of element n, in row-major order, of a tensor of the given shape.
func unravel(n int, shape []int) []int {
	at := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		at[i], n = n%shape[i], n/shape[i]
	}
	return at
}
