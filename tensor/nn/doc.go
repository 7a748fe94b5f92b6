// Package nn has modules: layers with parameters, and what is done with a model's
// parameters. It is torch.nn.
//
//	net := nn.Sequential(nn.NewLinear(784, 128), nn.ReLU(), nn.NewDropout(0.1), nn.NewLinear(128, 10))
//	loss := nn.CrossEntropy(net.Forward(x), labels, nn.LabelSmoothing(0.1))
//
// Losses are functions, under the names of torch.nn.functional, and modules:
// [NewCrossEntropyLoss]. [Train] and [Eval] switch what behaves otherwise in use.
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
// A module with several arguments or results has a method Run as well as Forward, which is
// the plain case:
//
//	out, h := nn.NewGRU(8, 16).Run(x, nil)
//	y, weights := nn.NewMultiheadAttention(16, 4).Run(out, out, out, nn.MultiheadOptions{})
//
// Sequences of different lengths are stacked by [PadSequence], or packed without padding, and
// recurrent layers read what is packed:
//
//	packed := nn.PackSequence(sequences, nn.EnforceSorted(false))
//	out, h := nn.NewGRU(8, 16).RunPacked(packed, nil)
//	padded, lengths := nn.PadPackedSequence(out)
//
// [CTCLoss] compares unaligned sequences. [AdaptiveLogSoftmaxWithLoss] is for many classes,
// [GumbelSoftmax] draws samples that have a gradient, [MaxUnpool2d] undoes pooling by the
// indices that [MaxPool.Run] returns, and [NewFractionalMaxPool2d] pools at places that are
// drawn. [WeightNorm] and [SpectralNorm] compute a module's weight from other parameters:
//
//	net := nn.Sequential(nn.SpectralNorm(nn.NewConv2d(3, 16, 3)), nn.NewRReLU(1.0/8, 1.0/3), nn.Flatten())
//
// A model's lists of modules are slices, its dictionaries maps. [NamedModules], [Apply],
// [Print] and [Summarize] walk it likewise; [Hook] puts functions of your own around a
// module. The functions InitX fill weights as torch.nn.init does.
//
// The package knows nothing of autocast or optimizers.
package nn
