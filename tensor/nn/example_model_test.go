package nn_test

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Net is a model: a struct with a Forward method.
type Net struct {
	In, Out *nn.Linear
	Gain    *tensor.Tensor
}

func NewNet() *Net {
	return &Net{In: nn.NewLinear(4, 8), Out: nn.NewLinear(8, 2), Gain: tensor.Ones(2).RequireGrad()}
}

func (n *Net) Forward(x *tensor.Tensor) *tensor.Tensor {
	return n.Out.Forward(n.In.Forward(x).ReLU()).Mul(n.Gain)
}

// The parameters of a model are found in its fields, without registration.
func ExampleNamedParameters() {
	net := NewNet()
	for _, p := range nn.NamedParameters(net) {
		fmt.Println(p.Name, p.Tensor.Shape())
	}
	fmt.Println(len(nn.Parameters(net)), "parameters for an optimizer")
	// Output:
	// in.weight [8 4]
	// in.bias [8]
	// out.weight [2 8]
	// out.bias [2]
	// gain [2]
	// 5 parameters for an optimizer
}
