package tensor_test

import (
	"fmt"

	"halfnote/tensor"
)

func ExampleNew() {
	x := tensor.New([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x)
	fmt.Println(x.Shape(), x.DType())
	fmt.Println(tensor.Arange(0, 3).To(tensor.Int64))
	fmt.Println(tensor.FullAs(tensor.BFloat16, 0.1, 2))
	fmt.Println(tensor.New([]float64{60000, 70000}).Half()) // the largest float16 is 65504
	// Output:
	// tensor([[1., 2., 3.],
	//         [4., 5., 6.]])
	// [2 3] float32
	// tensor([0, 1, 2])
	// tensor([0.1001, 0.1001], dtype=bfloat16)
	// tensor([60000.,    inf], dtype=float16)
}

func ExampleTensor_Index() {
	x := tensor.Arange(0, 12).Reshape(3, 4)
	fmt.Println(x.Index(1, -1))                          // x[1, -1]
	fmt.Println(x.Index(tensor.All, 0))                  // x[:, 0]
	fmt.Println(x.Index(tensor.R(1), tensor.R(0, 4, 2))) // x[1:, 0:4:2]
	fmt.Println(x.Index(x.Gt(tensor.Scalar(8))))         // x[x > 8]
	// Output:
	// tensor(7.)
	// tensor([0., 4., 8.])
	// tensor([[ 4.,  6.],
	//         [ 8., 10.]])
	// tensor([ 9., 10., 11.])
}

// A row is a view: it shares the memory of the matrix.
func ExampleTensor_Set() {
	x := tensor.Zeros(2, 3)
	row := x.Index(1)
	x.Set(5, tensor.All, 0) // x[:, 0] = 5
	row.AddAssign(tensor.Ones(3))
	fmt.Println(x)
	fmt.Println(row)
	// Output:
	// tensor([[5., 0., 0.],
	//         [6., 1., 1.]])
	// tensor([6., 1., 1.])
}

func ExampleTensor_Backward() {
	w := tensor.New([]float64{1, 2, 3}).RequireGrad()
	loss := w.Pow(2).Sum()
	loss.Backward()
	fmt.Println(loss.Item())
	fmt.Println(w.Grad())
	// Output:
	// 14
	// tensor([2., 4., 6.])
}

// The result of GradGraph can be differentiated again.
func ExampleGradGraph() {
	x := tensor.Scalar(2).RequireGrad()
	first := tensor.GradGraph(x.Pow(3), x)[0]
	second := tensor.Grad(first, x)[0]
	fmt.Println(first.Item(), second.Item())
	// Output:
	// 12 12
}

func ExampleNoGrad() {
	w := tensor.Ones(2).RequireGrad()
	tensor.NoGrad(func() {
		w.SubAssign(tensor.Full(0.25, 2)) // a step of an optimizer is not recorded
		fmt.Println(w.MulScalar(2).RequiresGrad())
	})
	fmt.Println(w.MulScalar(2).RequiresGrad())
	fmt.Println(w)
	// Output:
	// false
	// true
	// tensor([0.7500, 0.7500], requires_grad=True)
}

// Operands of different dtypes are promoted by torch's rules.
func ExamplePromoteTypes() {
	fmt.Println(tensor.PromoteTypes(tensor.Float16, tensor.Float32))
	fmt.Println(tensor.PromoteTypes(tensor.Float16, tensor.BFloat16))
	fmt.Println(tensor.PromoteTypes(tensor.Int64, tensor.Float16))

	half := tensor.Ones(2).Half()
	fmt.Println(half.Add(tensor.Ones(2)).DType())   // the wider dtype wins
	fmt.Println(half.Add(tensor.Scalar(1)).DType()) // a scalar tensor does not widen
	fmt.Println(half.Gt(tensor.Zeros(2)).DType())
	// Output:
	// float32
	// float32
	// float16
	// float32
	// float16
	// bool
}

// A seed gives the same numbers as in PyTorch on a CPU.
func ExampleManualSeed() {
	tensor.ManualSeed(0)
	fmt.Println(tensor.Rand(3))
	fmt.Println(tensor.Randperm(5))

	tensor.ManualSeed(0)
	fmt.Println(tensor.Rand(3))
	// Output:
	// tensor([0.4963, 0.7682, 0.0885])
	// tensor([0, 4, 2, 1, 3])
	// tensor([0.4963, 0.7682, 0.0885])
}
