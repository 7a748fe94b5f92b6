package experiment

import (
	"fmt"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// LostConstantsReport is the result of [LostConstants].
type LostConstantsReport struct {
	Report
	Eps     float64 // 1e-8 in float16
	Mask    float64 // -1e9 in float16
	Row     float64 // element of the softmax of a fully masked row
	Refused error   // error of MaskedFill for -1e9 in float16
}

// LostConstants shows two common constants that fail in float16: an eps of 1e-8 is 0, and a
// mask of -1e9 is -inf, so softmax of a fully masked row is NaN.
func LostConstants() *LostConstantsReport {
	r := &LostConstantsReport{Eps: tensor.Scalar(1e-8).Half().Item()}
	row := tensor.Full(-1e9, 4).Half()
	r.Mask, r.Row = row.At(0), row.Softmax(0).At(0)
	r.Refused = tensor.Try(func() {
		tensor.ZerosAs(tensor.Float16, 4).MaskedFill(tensor.Ones(4).To(tensor.Bool), -1e9)
	})
	r.Header = []string{"in float32", "in float16", "so that"}
	r.row("eps 1e-8", r.Eps, fmt.Sprintf("1/(0 + eps) is %g", tensor.ZerosAs(tensor.Float16, 1).AddScalar(1e-8).Reciprocal().Item()))
	r.row("mask -1e9", r.Mask, fmt.Sprintf("softmax of a masked row is %g", r.Row))
	r.Says = "In float16 an eps of 1e-8 is 0 and a mask of -1e9 is -inf: use 1e-4 and -65504, or float32."
	return r
}

// SaturationReport is the result of [Saturation].
type SaturationReport struct {
	Report
	Sigmoid  float64 // sigmoid of x in float16
	Loss     float64 // binary cross entropy of Sigmoid with target 0, computed in float32
	Gradient float64 // gradient of the loss with logits at x, in float32
	Refused  error   // error of autocast for binary_cross_entropy
}

// Saturation computes the sigmoid of x in float16 and its loss with target 0. The sigmoid of 8.4 is
// exactly 1, so its binary cross entropy is torch's limit of 100, without a useful gradient. This is
// why autocast rejects binary_cross_entropy, and why there is a loss with logits.
func Saturation(x float64) *SaturationReport {
	logit := tensor.New([]float64{x})
	p := logit.Half().Sigmoid()
	r := &SaturationReport{Sigmoid: p.Item()}
	zero := tensor.Zeros(1)
	r.Loss = nn.BinaryCrossEntropy(p.Float(), zero).Item()
	leaf := logit.Clone().RequireGrad()
	with := nn.BinaryCrossEntropyWithLogits(leaf, zero)
	with.Backward()
	r.Gradient = leaf.Grad().Item()
	func() {
		defer func() { r.Refused, _ = recover().(error) }()
		amp.Autocast(amp.Float16, func() { nn.BinaryCrossEntropy(p, zero) })
	}()
	r.Header = []string{"", "value"}
	r.row(fmt.Sprintf("sigmoid(%g) in float32", x), logit.Sigmoid().Item())
	r.row(fmt.Sprintf("sigmoid(%g) in float16", x), r.Sigmoid)
	r.row("binary_cross_entropy of that, target 0", r.Loss)
	r.row("with logits, target 0", with.Item())
	r.row("its gradient", r.Gradient)
	r.Says = fmt.Sprintf("sigmoid(%g) is %.9g in float16; the loss of it is %.4g, where the loss with logits is %.4g.", x, r.Sigmoid, r.Loss, with.Item())
	return r
}

// DoubleSigmoidReport is the result of [DoubleSigmoid].
type DoubleSigmoidReport struct {
	Report
	Right float64 // loss with logits of perfect logits
	Twice float64 // loss with logits of their sigmoid
}

// DoubleSigmoid returns the binary cross entropy with logits of perfect logits, which are plus and
// minus logit for equal numbers of ones and zeros, and of their sigmoid, the output of a model that
// ends in a sigmoid. The latter cannot be below 0.503, the mean of log(1+exp(-1)) and log(2).
func DoubleSigmoid(logit float64) *DoubleSigmoidReport {
	x, y := tensor.New([]float64{logit, -logit}), tensor.New([]float64{1, 0})
	r := &DoubleSigmoidReport{
		Right: nn.BinaryCrossEntropyWithLogits(x, y).Item(),
		Twice: nn.BinaryCrossEntropyWithLogits(x.Sigmoid(), y).Item(),
	}
	r.Header = []string{"loss of perfect predictions", "value"}
	r.row("logits", r.Right)
	r.row("sigmoid, then the loss with logits", r.Twice)
	r.Says = fmt.Sprintf("Of perfect logits of %g the loss is %.3g; behind a sigmoid it cannot get below %.3f.", logit, r.Right, r.Twice)
	return r
}
