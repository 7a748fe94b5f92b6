package autograd_test

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/autograd"
)

func ExampleJacobian() {
	square := func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Pow(2) }
	fmt.Println(autograd.Jacobian(square, tensor.New([]float64{1, 2}))[0])
	// Output:
	// tensor([[2., 0.],
	//         [0., 4.]])
}

func ExampleHessian() {
	f := func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Pow(3).Sum() }
	fmt.Println(autograd.Hessian(f, tensor.New([]float64{1, 2}))[0][0])
	// Output:
	// tensor([[ 6.,  0.],
	//         [ 0., 12.]])
}

func ExampleGradCheck() {
	f := func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sigmoid().Mul(in[1]) }
	x, y := tensor.Full(0.5).Double(), tensor.Full(2).Double()
	fmt.Println(autograd.GradCheck(f, x, y))
	// Output:
	// <nil>
}
