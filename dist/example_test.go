package dist_test

import (
	"fmt"

	"halfnote/dist"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Without mpiexec there is one rank; `mpiexec -n 4` starts four, and the sum is 6.
func ExampleAllReduce() {
	if err := dist.InitProcessGroup(); err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.New([]float64{float64(dist.Rank())})
	dist.AllReduce(x, dist.Sum)
	fmt.Println("rank", dist.Rank(), "of", dist.WorldSize(), "sum", x.Item())
	// Output: rank 0 of 1 sum 0
}

// On two ranks each has about half of the elements. The first layer's parameters are whole, in bfloat16, while it runs.
func ExampleFullyShard() {
	if err := dist.InitProcessGroup(); err != nil {
		fmt.Println(err)
		return
	}
	net := nn.NewSequential(nn.NewLinear(2, 3), nn.NewReLU(), nn.NewLinear(3, 1, nn.Bias(false)))
	net.Modules[0] = dist.FullyShard(net.Modules[0], dist.MixedPrecisionPolicy{ParamDType: tensor.BFloat16, ReduceDType: tensor.Float32, OutputDType: tensor.Float32})
	model := dist.FullyShard(net, dist.MixedPrecisionPolicy{})
	y := model.Forward(tensor.Ones(4, 2))
	y.Mean().Backward()
	for _, p := range nn.NamedParameters(model) {
		fmt.Println(p.Name, p.Tensor.Shape(), p.Tensor.DType(), p.Tensor.Grad().DType())
	}
	// Output:
	// 0.weight [6] float32 float32
	// 0.bias [3] float32 float32
	// 2.weight [3] float32 float32
}
