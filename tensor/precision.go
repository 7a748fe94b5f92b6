package tensor

import (
	"sync/atomic"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
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
//   - "high" represents each number by the sum of two bfloat16 numbers, and a product by three products of bfloat16. AMX computes them
//     faster than one product of float32; processors without AMX are slower. Numbers have 16 significant bits instead of 24: the error of a sum of
//     products is at most 2^-15 times the sum of their magnitudes. Results that depend on a number that is not finite, or larger than 3.38e38,
//     are NaN. On a GPU with tensor cores, numbers are rounded to TF32 instead, with 11 significant bits.
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

// CPUProducts returns a line about matrix products on this processor: the kernels that they use,
// how fast bfloat16 is next to float32, and why.
func CPUProducts() string { return asm.About() }
