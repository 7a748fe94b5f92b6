package nn_test

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func ExampleSequential() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(
		nn.NewLinear(784, 128),
		nn.NewReLU(),
		nn.NewDropout(0.1),
		nn.NewLinear(128, 10),
	)
	x := tensor.Rand(32, 784)
	fmt.Println(net.Forward(x).Shape())
	fmt.Println(nn.NumParameters(net), "parameters")
	fmt.Println(net)
	// Output:
	// [32 10]
	// 101770 parameters
	// Sequential(
	//   (0): Linear(in_features=784, out_features=128, bias=True)
	//   (1): ReLU()
	//   (2): Dropout(p=0.1, inplace=False)
	//   (3): Linear(in_features=128, out_features=10, bias=True)
	// )
}

func ExampleCrossEntropy() {
	logits := tensor.New([]float64{4, 0, 0, 0, 4, 0}, 2, 3)
	labels := tensor.FromInts([]int{0, 2})
	fmt.Printf("%.4f\n", nn.CrossEntropy(logits, labels).Item())
	fmt.Printf("%.4f\n", nn.CrossEntropy(logits, labels, nn.LabelSmoothing(0.1)).Item())
	fmt.Println(nn.CrossEntropy(logits, labels, nn.Reduction("none")))
	// Output:
	// 2.0360
	// 2.1026
	// tensor([0.0360, 4.0360])
}

func ExampleNewMaxPool2d() {
	image := tensor.Arange(0, 16).Reshape(1, 1, 4, 4)
	fmt.Println(nn.NewMaxPool2d(2).Forward(image))
	fmt.Println(nn.NewMaxPool2d(3, nn.Stride(1)).Forward(image).Shape())
	// Output:
	// tensor([[[[ 5.,  7.],
	//           [13., 15.]]]])
	// [1 1 2 2]
}

// A state dict holds the parameters and buffers of a model by name.
func ExampleStateDict() {
	tensor.ManualSeed(1)
	trained, fresh := nn.NewLinear(3, 2), nn.NewLinear(3, 2)
	if err := nn.LoadStateDict(fresh, nn.StateDict(trained)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(tensor.Equal(fresh.Weight, trained.Weight))
	fmt.Println(nn.LoadStateDict(nn.NewLinear(5, 2), nn.StateDict(trained)))
	// Output:
	// true
	// nn: load state dict: weight has shape (2, 3), want (2, 5)
}

// Dropout and batch norms compute differently in training and in evaluation.
func ExampleEval() {
	net := nn.NewSequential(nn.NewDropout(0.5))
	nn.Eval(net)
	fmt.Println(net.Forward(tensor.Ones(4)))
	nn.Train(net)
	tensor.ManualSeed(0)
	fmt.Println(net.Forward(tensor.Ones(6)))
	// Output:
	// tensor([1., 1., 1., 1.])
	// tensor([0., 0., 2., 0., 0., 0.])
}

// A body is loaded without its head, and the names that do not fit are returned. torch.compile has put _orig_mod. before the names.
func ExampleLoadStateDictPartly() {
	trained := map[string]*tensor.Tensor{"_orig_mod.0.weight": tensor.Ones(2, 3), "_orig_mod.0.bias": tensor.Zeros(2), "_orig_mod.classifier.weight": tensor.Ones(10, 2)}
	net := nn.NewSequential(nn.NewLinear(3, 2), nn.NewLinear(2, 1, nn.Bias(false)))
	keys, err := nn.LoadStateDictPartly(net, trained)
	fmt.Println(keys, err)
	fmt.Println(nn.StateDict(net)["0.weight"])
	// Output:
	// missing: 1.weight; unexpected: _orig_mod.classifier.weight <nil>
	// tensor([[1., 1., 1.],
	//         [1., 1., 1.]])
}
