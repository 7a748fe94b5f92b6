package nn

import (
	"fmt"
	"slices"

	"halfnote/internal/plumbing"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// LinearBias is the bias of LinearCrossEntropy's logits, (classes, d…); none by default.
// It is linear_bias.
func LinearBias(b *tensor.Tensor) Option {
	return Option{"LinearBias", func(c *config) { c.linearBias = b }}
}

// OutFeatures gives the logits of a linear cross entropy further dimensions, (n, classes,
// d…); none by default. It is out_features.
func OutFeatures(d ...int) Option { return Option{"OutFeatures", func(c *config) { c.places = d }} }

// LinearCrossEntropy returns the mean cross entropy of the logits computed from x (n, in) or
// (in) and a weight (classes, d…, in). The target holds classes (n, d…) or probabilities (n,
// classes, d…), without n for x (in). All logits are computed at once. It takes LinearBias,
// Weight, IgnoreIndex, LabelSmoothing and Reduction. It is
// torch.nn.functional.linear_cross_entropy.
func LinearCrossEntropy(x, weight, target *tensor.Tensor, options ...Option) *tensor.Tensor {
	c := configure("linear_cross_entropy", config{}, options, "LinearBias", "Weight", "IgnoreIndex", "LabelSmoothing", "Reduction")
	return linearCrossEntropy(x, weight, target, c)
}

func linearCrossEntropy(x, weight, target *tensor.Tensor, c config) *tensor.Tensor {
	const op = "linear_cross_entropy"
	required(op, "input", x)
	required(op, "weight", weight)
	required(op, "target", target)
	n, m := x.Dim(), weight.Dim()
	if n < 1 || n > 2 || m < 2 || weight.Size(-1) != x.Size(-1) || c.linearBias != nil && !slices.Equal(c.linearBias.Shape(), weight.Shape()[:m-1]) {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape(), weight.Shape()}, Why: "want input (n, in) or (in), weight (classes, d…, in) and bias (classes, d…) or none"})
	}
	if n == 1 && m > 2 {
		y := linearCrossEntropy(x.Unsqueeze(0), weight, target.Unsqueeze(0), c)
		if c.loss.Reduction == plumbing.ReduceNone {
			return y.Squeeze(0)
		}
		return y
	}
	bias := c.linearBias
	if bias != nil {
		bias = bias.Reshape(-1)
	}
	logits := tensor.Linear(x, weight.Reshape(-1, x.Size(-1)), bias)
	logits = logits.Reshape(append(x.Shape()[:n-1], weight.Shape()[:m-1]...)...)
	return functional.CrossEntropy(logits, target, c.loss)
}

// LinearCrossEntropyLoss is LinearCrossEntropy with its own layer. It is
// torch.nn.LinearCrossEntropyLoss.
type LinearCrossEntropyLoss struct {
	Weight *tensor.Tensor // weights of classes, or nil
	Linear *Linear        // layer from in features to classes times d…

	classes int
	c       config
}

// NewLinearCrossEntropyLoss returns the cross entropy of a float32 layer from in features to
// classes, without bias by default. It takes OutFeatures, Bias, Weight, IgnoreIndex,
// LabelSmoothing, Reduction and InitFrom. It is torch.nn.LinearCrossEntropyLoss.
func NewLinearCrossEntropyLoss(in, classes int, options ...Option) *LinearCrossEntropyLoss {
	const op = "new_linear_cross_entropy_loss"
	c := configure(op, config{}, options, "OutFeatures", "Bias", "Weight", "IgnoreIndex", "LabelSmoothing", "Reduction", "InitFrom")
	if classes < 1 || slices.ContainsFunc(c.places, func(n int) bool { return n < 1 }) {
		panic(&tensor.Error{Op: op, Why: text.Sprintf("%d classes, OutFeatures %v; want at least 1 each", classes, c.places)})
	}
	return &LinearCrossEntropyLoss{c.loss.Weight, newLinear(in, classes*product(c.places), c), classes, c}
}

// Forward returns the loss of x and target: see [LinearCrossEntropy].
func (l *LinearCrossEntropyLoss) Forward(x, target *tensor.Tensor) *tensor.Tensor {
	c := l.c
	c.loss.Weight = l.Weight
	shape := append([]int{l.classes}, c.places...)
	if l.Linear.Bias != nil {
		c.linearBias = l.Linear.Bias.Reshape(shape...)
	}
	return linearCrossEntropy(x, l.Linear.Weight.Reshape(append(shape, l.Linear.Weight.Size(1))...), target, c)
}

// String returns what torch prints.
func (l *LinearCrossEntropyLoss) String() string {
	ignored, places := "None", "()"
	if len(l.c.loss.IgnoreIndex) > 0 {
		ignored = fmt.Sprint(l.c.loss.IgnoreIndex[0])
	}
	if len(l.c.places) > 0 {
		places = tuple(l.c.places)
	}
	reduction := plumbing.Reductions[l.c.loss.Reduction]
	return fmt.Sprintf("LinearCrossEntropyLoss(\n  in_features=%d, num_classes=%d, out_features=%s, bias=%s, reduction=%s, ignore_index=%s, label_smoothing=%s, options=None\n  (linear): %v\n)",
		l.Linear.Weight.Size(1), l.classes, places, truth(l.Linear.Bias != nil), reduction, ignored, python(l.c.loss.LabelSmoothing), l.Linear)
}
