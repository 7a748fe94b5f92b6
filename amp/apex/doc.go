// Package apex has the levels of NVIDIA Apex, O0 to O3: what apex.amp did before PyTorch had
// autocast, and what it removed in 2025. O2 and O3 convert the model to float16, which package amp
// does not do; O2 keeps master weights in float32.
//
//	base := optim.NewSGD(nn.Parameters(net), 0.1)
//	model, opt := apex.Initialize(net, base, apex.O2)
//	…
//	loss := nn.MSELoss(model.Forward(x), y)
//	apex.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) { scaled.Backward() })
//	opt.Step()
//	opt.ZeroGrad()
//
// [OptLevels] shows the levels with their properties, and [OptLevel] has a method for each
// property. Names and behaviour are those of apex.amp before its removal; amp/DIALECTS.md lists
// them next to other frameworks' names. [Float16] is the policy of O1 for [amp.Autocast].
package apex
