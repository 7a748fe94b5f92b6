// Package fp8 computes matrix products and convolutions as 8-bit floating-point hardware does: both
// operands are scaled, saturated and rounded to E4M3, products are summed in float32, and the
// result is rounded to the low-precision dtype of [Scaler.Policy], commonly bfloat16. In the
// backward pass, the result's gradient is first rounded to E5M2 and then multiplied by the rounded
// operands. Everything else runs under the policy. The package is an experiment: it has the
// numerical results of FP8 hardware, but not the speed.
//
//	scaler := fp8.New(fp8.DelayedScaling{}, net)
//	scaler.Autocast(func() { loss = nn.MSELoss(net.Forward(x), y) })
//	loss.Backward()
//	scaler // shows the scale and the rounding losses of each tensor
//
// A recipe chooses the scales: [DelayedScaling], [CurrentScaling] or [UnitScaling]. Names and
// behaviour are those of NVIDIA's Transformer Engine.
package fp8
