package tensor

import (
	"sync/atomic"

	"halfnote/tensor/driver"
)

// The values of [SetFloat32MatmulPrecision].
const (
	highest = "highest"
	high    = "high"
)

var highProducts atomic.Bool // whether the precision is high

// SetFloat32MatmulPrecision sets how matrix products and convolutions of float32 are computed from now on, in all goroutines.
//
//   - "highest", the default, is float32.
//   - "high" takes each number as the sum of two of bfloat16, so that a product consists of three, which AMX computes faster than one of
//     float32. On processors without AMX it is slower. A number has 16 bits instead of 24: the error of a sum of products is at most 2^-15 of the sum of their
//     magnitudes. A number that is not finite, or larger than 3.38e38, makes NaN of the results that it is part of. On a GPU with tensor cores, numbers are rounded to
//     TF32 instead, with 11 bits.
//
// It panics for any other precision. It is torch.set_float32_matmul_precision without "medium", for which there is Autocast with bfloat16.
func SetFloat32MatmulPrecision(precision string) {
	if precision != highest && precision != high {
		fail("set_float32_matmul_precision", nil, `the precision is %q; want "highest" or "high"`, precision)
	}
	highProducts.Store(precision == high)
}

// Float32MatmulPrecision returns "highest" or "high". It is torch.get_float32_matmul_precision.
func Float32MatmulPrecision() string {
	if highProducts.Load() {
		return high
	}
	return highest
}

// productKernel returns the kernel for a product with the precision that has been set.
func productKernel(c driver.Code, p driver.Params) driver.Kernel {
	return driver.Kernel{Code: c, Params: p, High: highProducts.Load()}
}
