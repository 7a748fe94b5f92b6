package optim

import "halfnote/tensor"

// The arithmetic of torch's optimizers. Each function rounds once.

// approach moves x towards y by the fraction w: torch's lerp_.
func approach(x, y *tensor.Tensor, w float64) *tensor.Tensor { return x.Assign(x.Lerp(y, w)) }

// addProduct adds c a b to x: torch's addcmul_.
func addProduct(x, a, b *tensor.Tensor, c float64) *tensor.Tensor {
	return x.Assign(x.Addcmul(a, b, c))
}

// addQuotient adds c a / b to x: torch's addcdiv_.
func addQuotient(x, a, b *tensor.Tensor, c float64) *tensor.Tensor {
	return x.Assign(x.Addcdiv(a, b, c))
}
