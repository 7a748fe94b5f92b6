// Package autograd differentiates functions of tensors: torch.autograd.functional, and
// torch.autograd's checks of derivatives against central differences.
//
//	square := func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Pow(2) }
//	autograd.Jacobian(square, x)[0]   // (3, 3) for x of shape (3,)
//	autograd.GradCheck(square, x.Double())
//
// Backward and Grad, which differentiate one tensor, are in package tensor.
package autograd
