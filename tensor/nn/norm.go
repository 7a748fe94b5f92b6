package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"halfnote/tensor"
)

// ChannelNorm holds the state common to the layers that normalise each channel and may keep
// running statistics.
type ChannelNorm struct {
	TrainingMode
	Weight            *tensor.Tensor // (channels), or nil
	Bias              *tensor.Tensor // (channels), or nil
	RunningMean       *tensor.Tensor // (channels), or nil
	RunningVar        *tensor.Tensor // (channels), or nil
	NumBatchesTracked *tensor.Tensor // int64, or nil

	name     string
	ranks    []int // numbers of dimensions that x may have
	channels int
	eps      float64
	c        visionConfig
	total    func(x *tensor.Tensor) *tensor.Tensor // sum over processes, nil for one
}

// Layers that normalise each channel, over a batch or within each sample:
// torch.nn.BatchNorm1d and its variants.
type (
	BatchNorm1d    struct{ ChannelNorm }
	BatchNorm2d    struct{ ChannelNorm }
	BatchNorm3d    struct{ ChannelNorm }
	InstanceNorm1d struct{ ChannelNorm }
	InstanceNorm2d struct{ ChannelNorm }
	InstanceNorm3d struct{ ChannelNorm }
)

// NewBatchNorm1d returns a float32 layer that normalises the channels of (n, c) or
// (n, c, l): by the batch's statistics in training, by running statistics in evaluation. It
// takes Eps, Momentum, CumulativeAverage, Affine, Bias and TrackRunningStats. It is
// torch.nn.BatchNorm1d.
func NewBatchNorm1d(channels int, options ...Option) *BatchNorm1d {
	return &BatchNorm1d{newChannelNorm("BatchNorm1d", channels, true, options, 2, 3)}
}

// NewBatchNorm2d is NewBatchNorm1d for (n, c, h, w). It is torch.nn.BatchNorm2d.
func NewBatchNorm2d(channels int, options ...Option) *BatchNorm2d {
	return &BatchNorm2d{newChannelNorm("BatchNorm2d", channels, true, options, 4)}
}

// NewBatchNorm3d is NewBatchNorm1d for (n, c, d, h, w). It is torch.nn.BatchNorm3d.
func NewBatchNorm3d(channels int, options ...Option) *BatchNorm3d {
	return &BatchNorm3d{newChannelNorm("BatchNorm3d", channels, true, options, 5)}
}

// NewInstanceNorm1d returns a float32 layer that normalises each channel of each sample of
// (n, c, l), by default without parameters and running statistics. It takes Eps, Momentum,
// Affine, Bias and TrackRunningStats. It is torch.nn.InstanceNorm1d.
func NewInstanceNorm1d(channels int, options ...Option) *InstanceNorm1d {
	return &InstanceNorm1d{newChannelNorm("InstanceNorm1d", channels, false, options, 2, 3)}
}

// NewInstanceNorm2d is NewInstanceNorm1d for (n, c, h, w). It is
// torch.nn.InstanceNorm2d.
func NewInstanceNorm2d(channels int, options ...Option) *InstanceNorm2d {
	return &InstanceNorm2d{newChannelNorm("InstanceNorm2d", channels, false, options, 3, 4)}
}

// NewInstanceNorm3d is NewInstanceNorm1d for (n, c, d, h, w). It is
// torch.nn.InstanceNorm3d.
func NewInstanceNorm3d(channels int, options ...Option) *InstanceNorm3d {
	return &InstanceNorm3d{newChannelNorm("InstanceNorm3d", channels, false, options, 4, 5)}
}

func newChannelNorm(name string, channels int, on bool, options []Option, ranks ...int) ChannelNorm {
	op := "new_" + snake(name)
	all := config{bias: true, vision: visionConfig{momentum: 0.1, affine: on, track: on}}
	all.eps = 1e-5
	all = configure(op, all, options, "Eps", "Momentum", "CumulativeAverage", "Affine", "Bias", "TrackRunningStats")
	checkChannels(op, channels)
	n := ChannelNorm{name: name, ranks: ranks, channels: channels, c: all.vision, eps: all.eps}
	if n.c.affine {
		n.Weight, n.Bias = weightAndBias(all.bias, channels)
	}
	if n.c.track {
		n.RunningMean, n.RunningVar = tensor.Zeros(channels), tensor.Ones(channels)
		n.NumBatchesTracked = tensor.Full(0).To(tensor.Int64)
	}
	return n
}

// weightAndBias returns a weight of ones and a bias of zeros or nil.
func weightAndBias(bias bool, shape ...int) (w, b *tensor.Tensor) {
	if bias {
		b = tensor.Zeros(shape...).RequireGrad()
	}
	return tensor.Ones(shape...).RequireGrad(), b
}

func checkChannels(op string, channels int) {
	if channels < 1 {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("%d channels; want at least 1", channels)})
	}
}

// Forward normalises x.
func (n *ChannelNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	instance := strings.HasPrefix(n.name, "Instance")
	fits := false
	for _, r := range n.ranks {
		fits = fits || x.Dim() == r
	}
	if !fits {
		panic(&tensor.Error{Op: snake(n.name), Shapes: [][]int{x.Shape()}, Why: fmt.Sprintf("input is %d-D; want %d-D", x.Dim(), n.ranks[len(n.ranks)-1])})
	}
	if instance && x.Dim() < n.ranks[1] {
		return n.Forward(x.Unsqueeze(0)).Squeeze(0)
	}
	o := tensor.BatchNormOptions{Training: n.Training() || n.RunningMean == nil, Eps: n.eps, Momentum: n.c.momentum}
	mean, variance := n.RunningMean, n.RunningVar
	if n.Training() && n.NumBatchesTracked != nil && !instance {
		tensor.NoGrad(func() { n.NumBatchesTracked.AddAssign(tensor.OnesLike(n.NumBatchesTracked)) })
		if n.c.cumulative {
			o.Momentum = 1 / n.NumBatchesTracked.Item()
		}
	}
	if instance {
		return tensor.InstanceNorm(x, mean, variance, n.Weight, n.Bias, o)
	}
	if n.total != nil && o.Training {
		return n.acrossProcesses(x, o)
	}
	return tensor.BatchNorm(x, mean, variance, n.Weight, n.Bias, o)
}

// String returns what torch prints.
func (n *ChannelNorm) String() string {
	momentum := python(n.c.momentum)
	if n.c.cumulative {
		momentum = "None"
	}
	return fmt.Sprintf("%s(%d, eps=%s, momentum=%s, affine=%s, bias=%s, track_running_stats=%s)", n.name, n.channels, python(n.eps), momentum, truth(n.c.affine), truth(n.Bias != nil), truth(n.c.track))
}

// GroupNorm normalises groups of channels. It is torch.nn.GroupNorm.
type GroupNorm struct {
	Weight           *tensor.Tensor // (channels), or nil
	Bias             *tensor.Tensor // (channels), or nil
	groups, channels int
	eps              float64
}

// NewGroupNorm returns a float32 layer that normalises each group of neighbouring
// channels. It takes Eps, Affine and Bias. It is torch.nn.GroupNorm.
func NewGroupNorm(groups, channels int, options ...Option) *GroupNorm {
	const op = "new_group_norm"
	all := config{bias: true, vision: visionConfig{affine: true}}
	all.eps = 1e-5
	all = configure(op, all, options, "Eps", "Affine", "Bias")
	checkChannels(op, channels)
	if groups < 1 || channels%groups != 0 {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("groups %d, channels %d; want groups to divide the channels", groups, channels)})
	}
	g := &GroupNorm{groups: groups, channels: channels, eps: all.eps}
	if all.vision.affine {
		g.Weight, g.Bias = weightAndBias(all.bias, channels)
	}
	return g
}

// Forward normalises x (n, channels, …).
func (g *GroupNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.GroupNorm(x, g.groups, g.Weight, g.Bias, tensor.NormOptions{Eps: g.eps})
}

// String returns what torch prints.
func (g *GroupNorm) String() string {
	return fmt.Sprintf("GroupNorm(%d, %d, eps=%s, affine=%s, bias=%s)", g.groups, g.channels, python(g.eps), truth(g.Weight != nil), truth(g.Bias != nil))
}

// RMSNorm divides its input by its root mean square. It is torch.nn.RMSNorm.
type RMSNorm struct {
	Weight *tensor.Tensor // (shape…), or nil
	shape  []int
	eps    float64
}

// NewRMSNorm returns a float32 layer that divides by the root mean square over the last
// dimensions, whose sizes are shape. It takes Affine and Eps, by default the machine epsilon
// of the input's dtype. It is torch.nn.RMSNorm.
func NewRMSNorm(shape []int, options ...Option) *RMSNorm {
	all := configure("new_rms_norm", config{vision: visionConfig{affine: true}}, options, "Eps", "Affine")
	r := &RMSNorm{shape: append([]int(nil), shape...), eps: all.eps}
	if all.vision.affine {
		r.Weight = tensor.Ones(shape...).RequireGrad()
	}
	return r
}

// Forward normalises x.
func (r *RMSNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.RMSNorm(x, r.shape, r.Weight, tensor.NormOptions{Eps: r.eps})
}

// String returns what torch prints.
func (r *RMSNorm) String() string {
	eps := "None"
	if r.eps != 0 {
		eps = python(r.eps)
	}
	return fmt.Sprintf("RMSNorm(%s, eps=%s, elementwise_affine=%s)", tuple(r.shape), eps, truth(r.Weight != nil))
}

// SynchronizeNorms makes the BatchNorm layers of model normalise, in training, by statistics over several processes. total returns the
// sum of the processes' vectors, differentiably.
func (internals) SynchronizeNorms(model any, total func(x *tensor.Tensor) *tensor.Tensor) {
	w := walker{seen: map[any]bool{}}
	w.visit = func(v reflect.Value) {
		if v.Type() == reflect.TypeFor[ChannelNorm]() && v.CanAddr() {
			if n := (*ChannelNorm)(v.Addr().UnsafePointer()); strings.HasPrefix(n.name, "Batch") {
				n.total = total
			}
		}
	}
	w.walk(reflect.ValueOf(model), "")
}

// acrossProcesses is BatchNorm by the statistics of x in all processes. The sums are those of torch's SyncBatchNorm: counts, means and
// squares in float32, the variance from deviations from the common mean.
func (n *ChannelNorm) acrossProcesses(x *tensor.Tensor, o tensor.BatchNormOptions) *tensor.Tensor {
	dtype := x.DType()
	x = x.Float()
	others := append([]int{0}, upTo(2, x.Dim())...)
	per := make([]int, x.Dim())
	for i := range per {
		per[i] = 1
	}
	per[1] = n.channels
	count := tensor.Full(float64(x.Numel() / n.channels)).Reshape(1)
	first := n.total(tensor.Cat(0, x.Sum(others...), count))
	all := first.Narrow(0, n.channels, 1).Item()
	mean := first.Narrow(0, 0, n.channels).DivScalar(all)
	centred := x.Sub(mean.Reshape(per...))
	variance := n.total(centred.Mul(centred).Sum(others...)).DivScalar(all)
	if n.RunningMean != nil {
		tensor.NoGrad(func() {
			n.RunningMean.Assign(n.RunningMean.MulScalar(1-o.Momentum).AddScaled(mean.Detach(), o.Momentum))
			n.RunningVar.Assign(n.RunningVar.MulScalar(1-o.Momentum).AddScaled(variance.Detach().MulScalar(all/(all-1)), o.Momentum))
		})
	}
	y := centred.Div(variance.AddScalar(o.Eps).Sqrt().Reshape(per...))
	if n.Weight != nil {
		y = y.Mul(n.Weight.Float().Reshape(per...))
	}
	if n.Bias != nil {
		y = y.Add(n.Bias.Float().Reshape(per...))
	}
	return y.To(dtype)
}

func upTo(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// LayerNorm subtracts the mean over the last dimensions, divides by the standard
// deviation, multiplies by Weight and adds Bias. It is torch.nn.LayerNorm.
type LayerNorm struct {
	Weight *tensor.Tensor // shape of the last dimensions, or nil
	Bias   *tensor.Tensor // shape of the last dimensions, or nil

	shape []int
	eps   float64
}

// NewLayerNorm returns a float32 layer that normalises last dimensions of the given shape,
// with weights 1 and biases 0. It takes Eps (1e-5 by default), Affine and Bias. It is
// torch.nn.LayerNorm.
func NewLayerNorm(shape []int, options ...Option) *LayerNorm {
	c := config{bias: true, vision: visionConfig{affine: true}}
	c.eps = 1e-5
	c = configure("new_layer_norm", c, options, "Eps", "Affine", "Bias")
	l := newLayerNorm(shape, c)
	if !c.vision.affine {
		l.Weight, l.Bias = nil, nil
	}
	return l
}

func newLayerNorm(shape []int, c config) *LayerNorm {
	if len(shape) == 0 || slices.Min(shape) < 1 {
		panic(&tensor.Error{Op: "new_layer_norm", Shapes: [][]int{shape}, Why: "want one or more sizes of at least 1"})
	}
	l := &LayerNorm{shape: slices.Clone(shape), eps: c.eps}
	l.Weight, l.Bias = weightAndBias(c.bias, shape...)
	return l
}

// Forward maps x (…, shape) to the same shape.
func (l *LayerNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.LayerNorm(x, l.shape, l.Weight, l.Bias, tensor.NormOptions{Eps: l.eps})
}

// String returns what torch prints.
func (l *LayerNorm) String() string {
	return fmt.Sprintf("LayerNorm(%s, eps=%g, elementwise_affine=%s, bias=%s)", tuple(l.shape), l.eps, truth(l.Weight != nil), truth(l.Bias != nil))
}

// Eps is the term that normalisation adds to the variance; each constructor documents its
// default. It is eps.
func Eps(e float64) Option { return Option{"Eps", func(c *config) { c.eps = e }} }

// Alpha is the factor of the mean square in a local response normalisation. It is alpha.
func Alpha(a float64) Option { return Option{"Alpha", func(c *config) { c.alpha = a }} }

// K is the summand of the base in a local response normalisation. It is k.
func K(k float64) Option { return Option{"K", func(c *config) { c.k = k }} }

func responseNorm(options []Option) config {
	return configure("local_response_norm", config{alpha: 1e-4, beta: 0.75, k: 1}, options, "Alpha", "Beta", "K")
}

// LocalResponseNorm returns x (n, c, …) divided by (k + alpha m)^beta, where m is the mean square
// of size neighbouring channels; channels beyond the ends are 0. It takes Alpha, 1e-4 by
// default, Beta, 0.75 by default, and K, 1 by default. It is
// torch.nn.functional.local_response_norm.
func LocalResponseNorm(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	c := responseNorm(options)
	return functional.LocalResponseNorm(x, size, c.alpha, c.beta, c.k)
}

// NewLocalResponseNorm returns LocalResponseNorm as a module. It is torch.nn.LocalResponseNorm.
func NewLocalResponseNorm(size int, options ...Option) *Func {
	c := responseNorm(options)
	text := fmt.Sprintf("LocalResponseNorm(%d, alpha=%s, beta=%s, k=%s)", size, python(c.alpha), python(c.beta), python(c.k))
	return &Func{text, func(x *tensor.Tensor) *tensor.Tensor {
		return functional.LocalResponseNorm(x, size, c.alpha, c.beta, c.k)
	}}
}

// Normalize returns x divided by its norms along a dimension, or by Eps where a norm is
// smaller, in x's shape. It takes P, the order of the norm, 2 by default, Dim, 1 by
// default, and Eps, 1e-12 by default. It panics if x lacks the dimension. It is
// torch.nn.functional.normalize.
func Normalize(x *tensor.Tensor, options ...Option) *tensor.Tensor {
	c := config{dim: 1, loss: lossOptions{P: 2}}
	c.eps = 1e-12
	c = configure("normalize", c, options, "P", "Dim", "Eps")
	return x.Div(x.KeepDim().NormWith(c.loss.P, tensor.PNormOptions{Dims: []int{c.dim}}).ClampMin(c.eps))
}
