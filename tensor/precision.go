package tensor

import (
	"slices"
	"sync/atomic"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// precisions are the values of [SetFloat32MatmulPrecision], the most precise first.
var precisions = []string{highest: "highest", high: "high", medium: "medium"}

const (
	highest int32 = iota
	high
	medium
)

var precision atomic.Int32 // index of the value that has been set

// SetFloat32MatmulPrecision sets how matrix products and convolutions of float32 are computed from now on, in all goroutines. Their
// results stay float32.
//
//   - "highest", the default, is float32.
//   - "high" represents each number by the sum of two bfloat16 numbers, and a product by three products of bfloat16. AMX computes them
//     faster than one product of float32; processors without AMX are slower. Numbers have 16 significant bits instead of 24: the error of a sum of
//     products is at most 2^-15 times the sum of their magnitudes. Results that depend on a number that is not finite, or larger than 3.38e38,
//     are NaN. On a GPU with tensor cores, numbers are rounded to TF32 instead, with 11 significant bits.
//   - "medium" rounds each number to bfloat16, with 8 significant bits; products are exact, and summed in float32. The error is at most
//     2^-7 times the sum of the magnitudes of the products. Numbers larger than 3.39e38 become infinite.
//
// Each value means the same on every processor, with the same bits; torch uses a lower precision only where that is fast, and for products
// only, not for convolutions. It panics for any other precision. It is torch.set_float32_matmul_precision.
func SetFloat32MatmulPrecision(name string) {
	i := slices.Index(precisions, name)
	if i < 0 {
		fail("set_float32_matmul_precision", nil, `the precision is %q; want "highest", "high" or "medium"`, name)
	}
	precision.Store(int32(i))
}

// Float32MatmulPrecision returns "highest", "high" or "medium". It is torch.get_float32_matmul_precision.
func Float32MatmulPrecision() string { return precisions[precision.Load()] }

// productKernel returns the kernel for a product with the precision that has been set.
func productKernel(c driver.Code, p driver.Params) driver.Kernel {
	return driver.Kernel{Code: c, Params: p, High: precision.Load() == high}
}

// factors returns the factors of a product in the precision that has been set, and a function that releases what is new.
func factors(x, y *Tensor) (a, b *Tensor, done func()) {
	if precision.Load() != medium || x.dtype != Float32 || y.dtype != Float32 {
		return x, y, func() {}
	}
	a, b = rounded(x), rounded(y)
	return a, b, func() { release(a, b) }
}

// rounded returns t in bfloat16, with its shape and strides. Memory that windows share is converted once.
func rounded(t *Tensor) *Tensor {
	if t.Numel() == 0 {
		return convert(t, BFloat16)
	}
	first, last := t.offset, t.offset
	for i, n := range t.shape {
		first, last = first+min(0, (n-1)*t.stride[i]), last+max(0, (n-1)*t.stride[i])
	}
	whole := convert(t.alias(first, []int{last - first + 1}, []int{1}), BFloat16)
	return whole.alias(t.offset-first, t.shape, t.stride)
}

// CPUProducts returns a line about matrix products on this processor: the kernels that they use,
// how fast bfloat16 is next to float32, and why.
func CPUProducts() string { return asm.About() }
