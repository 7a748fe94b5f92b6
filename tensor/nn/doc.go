// Package nn provides modules, which are layers with parameters, and functions over a
// model's parameters. It is torch.nn.
//
//	net := nn.NewSequential(nn.NewLinear(784, 128), nn.NewReLU(), nn.NewDropout(0.1), nn.NewLinear(128, 10))
//	loss := nn.CrossEntropy(net.Forward(x), labels, nn.LabelSmoothing(0.1))
//
// Every class of torch.nn has a constructor: New followed by torch's name. Functions of
// torch.nn.functional without weights, such as losses, pooling and attention, are functions of this package
// with torch's names. Functions with weights are in package tensor:
//
//	torch                                  here
//	torch.nn.CrossEntropyLoss(…)(x, y)     nn.NewCrossEntropyLoss(…).Forward(x, y)
//	F.cross_entropy(x, y, reduction="sum") nn.CrossEntropy(x, y, nn.Reduction("sum"))
//	F.linear(x, w, b)                      tensor.Linear(x, w, b)
//
// Options are functions with the names of torch's keywords. [Train] and [Eval] switch a model between training and evaluation.
//
// A model of your own is a struct with a Forward method. No registration is needed:
// [Parameters] finds its tensors by walking its fields.
//
//	type Net struct{ In, Out *nn.Linear }
//
//	func (n *Net) Forward(x *tensor.Tensor) *tensor.Tensor {
//		return n.Out.Forward(n.In.Forward(x).ReLU())
//	}
//
// A module with several arguments or results has another method for them. Forward is its simplest use:
//
//	out, h := nn.NewGRU(8, 16).ForwardState(x, nil)
//	y, weights := nn.NewMultiheadAttention(16, 4).Attend(out, out, out)
//
// [PadSequence] stacks sequences of different lengths with padding; [PackSequence] packs
// them without padding. Recurrent layers read packed sequences:
//
//	packed := nn.PackSequence(sequences, nn.EnforceSorted(false))
//	out, h := nn.NewGRU(8, 16).ForwardPacked(packed, nil)
//	padded, lengths := nn.PadPackedSequence(out)
//
// [CTCLoss] compares unaligned sequences. [AdaptiveLogSoftmaxWithLoss] is for many classes,
// [GumbelSoftmax] draws differentiable samples, [MaxUnpool2d] inverts pooling with the
// indices that [MaxPool.ForwardIndices] returns, and [NewFractionalMaxPool2d] pools over random
// windows. [WeightNorm] and [SpectralNorm] compute a module's weight from other parameters:
//
//	net := nn.NewSequential(nn.SpectralNorm(nn.NewConv2d(3, 16, 3)), nn.NewRReLU(1.0/8, 1.0/3), nn.NewFlatten())
//
// Lists of modules are slices and dictionaries are maps. [NamedModules], [Apply], [Print]
// and [Summarize] walk a model in the same way; [Hook] adds functions around a module. The
// functions InitX fill weights as torch.nn.init does.
//
// The package does not depend on autocast or optimizers.
package nn
