package nn

import (
	"fmt"
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
