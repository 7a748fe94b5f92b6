package nn

import (
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// AdaptiveLogSoftmaxWithLoss is a softmax over many classes sorted by decreasing frequency.
// Rare classes are in clusters that have fewer features each. E. Grave and others, "Efficient
// softmax approximation for GPUs" (2017). It is torch.nn.AdaptiveLogSoftmaxWithLoss.
type AdaptiveLogSoftmaxWithLoss struct {
	Head *Linear       // logits of the frequent classes and the clusters
	Tail []*Sequential // logits of the classes of each cluster

	cutoffs []int // first class of each cluster, then the number of classes
}

// DivValue divides the features of each cluster by a further factor: 4 by default. It is
// div_value.
func DivValue(v float64) Option { return Option{"DivValue", func(c *config) { c.divValue = v }} }

// HeadBias gives the head of an adaptive softmax a bias; it has none by default. It is
// head_bias=True.
func HeadBias() Option { return Option{"HeadBias", func(c *config) { c.headBias = true }} }

// NewAdaptiveLogSoftmaxWithLoss returns a float32 softmax from in features to classes.
// Clusters begin at cutoffs, which increase from at least 1 to below classes. It takes
// DivValue, HeadBias and InitFrom. It is torch.nn.AdaptiveLogSoftmaxWithLoss.
func NewAdaptiveLogSoftmaxWithLoss(in, classes int, cutoffs []int, options ...Option) *AdaptiveLogSoftmaxWithLoss {
	const op = "new_adaptive_log_softmax_with_loss"
	c := configure(op, config{divValue: 4}, options, "DivValue", "HeadBias", "InitFrom")
	all := append(slices.Clone(cutoffs), classes)
	for i := range all {
		if len(cutoffs) == 0 || all[0] < 1 || i > 0 && all[i] <= all[i-1] {
			panic(&tensor.Error{Op: op, Why: text.Sprintf("cutoffs %v for %d classes; want one or more in increasing order, from 1 to %d", cutoffs, classes, classes-1)})
		}
	}
	linear := func(in, out int, bias bool) *Linear {
		return newLinear(in, out, config{bias: bias, generator: c.generator})
	}
	a := &AdaptiveLogSoftmaxWithLoss{Head: linear(in, cutoffs[0]+len(cutoffs), c.headBias), cutoffs: all}
	width := float64(in)
	for i := range cutoffs {
		width /= c.divValue
		if !(width >= 1 && width <= float64(in)*1e6) {
			panic(&tensor.Error{Op: op, Why: fmt.Sprintf("%d features divided by DivValue %v to the power %d give %v; want at least 1 feature: lower DivValue", in, c.divValue, i+1, width)})
		}
		a.Tail = append(a.Tail, NewSequential(linear(in, int(width), false), linear(int(width), all[i+1]-all[i], false)))
	}
	return a
}

// ForwardLoss returns the log-probability of each target class, (n), for x (n, in) and integer
// targets (n), and the negated mean of these; for x (in) and a target () both are scalars.
// It computes only the clusters that contain targets. It panics if a target is not a valid
// class.
func (a *AdaptiveLogSoftmaxWithLoss) ForwardLoss(x, target *tensor.Tensor) (output, loss *tensor.Tensor) {
	const op = "adaptive_log_softmax_with_loss"
	required(op, "input", x)
	required(op, "target", target)
	shapes := [][]int{x.Shape(), target.Shape()}
	if x.Dim() == 1 && target.Dim() == 0 {
		output, loss = a.ForwardLoss(x.Unsqueeze(0), target.Unsqueeze(0))
		return output.Squeeze(0), loss
	}
	if x.Dim() != 2 || !slices.Equal(target.Shape(), x.Shape()[:1]) || target.DType().IsFloat() || target.DType() == tensor.Bool {
		panic(&tensor.Error{Op: op, Shapes: shapes, Why: "want input (n, in) and integer targets (n), or input (in) and one target"})
	}
	rows := make([][]int, len(a.cutoffs)) // rows of the input in each cluster, frequent classes first
	within := make([][]int, len(a.cutoffs))
	inHead := make([]int, x.Size(0))
	for n, class := range target.Int64s() {
		k, cluster := int(class), 0
		if class < 0 || class >= int64(a.cutoffs[len(a.cutoffs)-1]) {
			panic(&tensor.Error{Op: op, Shapes: shapes, Why: fmt.Sprintf("target %d is %d; want a class from 0 to %d", n, class, a.cutoffs[len(a.cutoffs)-1]-1)})
		}
		for k >= a.cutoffs[cluster] {
			cluster++
		}
		inHead[n] = k
		if cluster > 0 {
			inHead[n] = a.cutoffs[0] + cluster - 1
			rows[cluster] = append(rows[cluster], n)
			within[cluster] = append(within[cluster], k-a.cutoffs[cluster-1])
		}
	}
	output = pick(a.Head.Forward(x).LogSoftmax(1), inHead)
	for cluster, list := range rows {
		if len(list) > 0 {
			index := positionsOn(x, list)
			logs := a.Tail[cluster-1].Forward(x.IndexSelect(0, index)).LogSoftmax(1)
			output = output.IndexAdd(0, index, pick(logs, within[cluster]).To(output.DType()), 1)
		}
	}
	return output, output.Mean().Neg()
}

// pick returns the element of each row at the row's class.
func pick(logs *tensor.Tensor, classes []int) *tensor.Tensor {
	return logs.Gather(1, positionsOn(logs, classes).Unsqueeze(1)).Squeeze(1)
}

// Forward is LogProb.
func (a *AdaptiveLogSoftmaxWithLoss) Forward(x *tensor.Tensor) *tensor.Tensor { return a.LogProb(x) }

// LogProb returns the log-probabilities of all classes for x (n, in): (n, classes). It is
// torch.nn.AdaptiveLogSoftmaxWithLoss.log_prob.
func (a *AdaptiveLogSoftmaxWithLoss) LogProb(x *tensor.Tensor) *tensor.Tensor {
	head := a.Head.Forward(x).LogSoftmax(1)
	frequent := a.cutoffs[0]
	parts := []*tensor.Tensor{head.Slice(1, 0, frequent)}
	for i, t := range a.Tail {
		parts = append(parts, t.Forward(x).LogSoftmax(1).Add(head.Slice(1, frequent+i, frequent+i+1)))
	}
	return tensor.Cat(1, parts...)
}

// Predict returns the most probable class for each row of x (n, in), as int64. Clusters are
// computed only for rows whose head selects one; those rows take the largest probability of
// all classes. It is torch.nn.AdaptiveLogSoftmaxWithLoss.predict.
func (a *AdaptiveLogSoftmaxWithLoss) Predict(x *tensor.Tensor) *tensor.Tensor {
	best := a.Head.Forward(x).Detach().Argmax(1)
	var rest []int
	for n, class := range best.Int64s() {
		if class >= int64(a.cutoffs[0]) {
			rest = append(rest, n)
		}
	}
	if len(rest) == 0 {
		return best
	}
	index := positionsOn(x, rest)
	return best.IndexCopy(0, index, a.LogProb(x.IndexSelect(0, index)).Detach().Argmax(1))
}
