// Package nn has modules: layers with parameters, and what is done with a model's
// parameters. It is torch.nn.
//
//	net := nn.Sequential(nn.NewLinear(784, 128), nn.ReLU(), nn.NewLinear(128, 10))
//	loss := nn.MSELoss(net.Forward(x), y)
//
// A model of your own is a struct with a Forward method. It declares nothing:
// [Parameters] finds its tensors by walking its fields.
//
//	type Net struct{ In, Out *nn.Linear }
//
//	func (n *Net) Forward(x *tensor.Tensor) *tensor.Tensor {
//		return n.Out.Forward(n.In.Forward(x).ReLU())
//	}
//
// The package knows nothing of autocast or optimizers.
package nn
