package quant

import (
	"fmt"

	"halfnote/tensor"
)

// ScaledMM returns the product a bᵀ of a (m, k) and b (n, k): (m, n), as dtype d. Both are multiplied by their scales in float32, products are summed in
// float32, and the sum is rounded to d once. Blocks of both run along k; the schemes may differ. It is torch.nn.functional.scaled_mm, which on a CPU
// takes scales of tensors and of rows only. It panics if the shapes do not match or d is not a floating-point dtype.
func ScaledMM(a, b *Tensor, d tensor.DType) *tensor.Tensor {
	a.given("ScaledMM")
	b.given("ScaledMM")
	if len(a.shape) != 2 || len(b.shape) != 2 || a.shape[1] != b.shape[1] {
		fail("ScaledMM", nil, fmt.Errorf("shapes %v and %v; want (m, k) and (n, k)", a.shape, b.shape))
	}
	if !d.IsFloat() {
		fail("ScaledMM", nil, fmt.Errorf("to %v; want a floating-point dtype, such as tensor.BFloat16", d))
	}
	return a.Dequantize(tensor.Float32).MM(b.Dequantize(tensor.Float32).T()).To(d)
}
