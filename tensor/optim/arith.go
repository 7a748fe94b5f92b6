package optim

import "halfnote/tensor"

// What torch's optimizers are written in; float32 numbers agree with its in all but
// the last bits.

// approach moves x towards y by the share w: torch's lerp_.
func approach(x, y *tensor.Tensor, w float64) *tensor.Tensor { return x.AddScaledAssign(y.Sub(x), w) }

// addProduct adds c a b to x: torch's addcmul_.
func addProduct(x, a, b *tensor.Tensor, c float64) *tensor.Tensor {
	return x.AddScaledAssign(a.Mul(b), c)
}

// addQuotient adds c a / b to x: torch's addcdiv_.
func addQuotient(x, a, b *tensor.Tensor, c float64) *tensor.Tensor {
	return x.AddScaledAssign(a.Div(b), c)
}
