package tensor

import (
	"fmt"
	"slices"

	"halfnote/tensor/driver"
)

// NormOptions are what LayerNorm, GroupNorm and RMSNorm may be told.
type NormOptions struct {
	Eps float64 // added to the variance, 1e-5; of RMSNorm to the mean square, FInfo of the dtype's Eps
}

// BatchNormOptions are what BatchNorm and InstanceNorm may be told.
type BatchNormOptions struct {
	Training bool    // use the batch's statistics, and blend them into the running ones
	Momentum float64 // the batch's share in the running statistics, 0.1
	Eps      float64 // added to the variance, 1e-5
}

func orElse(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// BatchNorm returns t (n, c, …) minus its channels' means, divided by √(variance +
// eps), times w (c) plus b (c), which may be nil. In training the statistics are
// those of the batch and go, the variance with the divisor n-1, into mean and
// variance (c), which may be nil; otherwise they are mean and variance. It computes
// in float32 and rounds once to t's dtype; the others may be float32 beside a t of
// float16. It is torch.nn.functional.batch_norm.
func (t *Tensor) BatchNorm(mean, variance, w, b *Tensor, o BatchNormOptions) *Tensor {
	const op = "batch_norm"
	t.given(op)
	if len(t.shape) < 2 {
		fail(op, []*Tensor{t}, "it has %d dimensions; expected (n, c, …)", len(t.shape))
	}
	channels := t.shape[1]
	s := standardize{slices.Delete(seq(len(t.shape)), 1, 2), orElse(o.Eps, 1e-5), !o.Training}
	in := perChannel(op, t, channels, mean, variance, w, b)
	stats := s.known(op, t, in)
	if o.Training {
		count := t.Numel() / max(1, channels)
		if count == 1 {
			fail(op, []*Tensor{t}, "there is one number a channel, whose variance is 0; expected more of them in training")
		}
		stats = apply(normStats{s.dims}, t)
		s.track(stats, in, count, orElse(o.Momentum, 0.1))
	}
	return apply(batchNorm{s}, standardized(t, stats, in[2], in[3])...)
}

// InstanceNorm is BatchNorm with statistics of each channel of each n, blended into
// mean and variance, if there are any, as their averages over n; without Training
// and with mean and variance, those are used. It is
// torch.nn.functional.instance_norm, Training being use_input_stats.
func (t *Tensor) InstanceNorm(mean, variance, w, b *Tensor, o BatchNormOptions) *Tensor {
	const op = "instance_norm"
	t.given(op)
	if len(t.shape) < 3 {
		fail(op, []*Tensor{t}, "it has %d dimensions; expected (n, c, …)", len(t.shape))
	}
	in := perChannel(op, t, t.shape[1], mean, variance, w, b)
	s := standardize{seq(len(t.shape))[2:], orElse(o.Eps, 1e-5), !o.Training}
	stats := s.known(op, t, in)
	if o.Training {
		count := size(t.shape[2:])
		if count == 1 {
			fail(op, []*Tensor{t}, "there is one number a channel, whose variance is 0; expected more of them")
		}
		stats = apply(normStats{s.dims}, t)
		s.track(stats, in, count, orElse(o.Momentum, 0.1))
	}
	return apply(instanceNorm{s}, standardized(t, stats, in[2], in[3])...)
}

// LayerNorm returns t minus its means over the last dimensions, whose sizes are
// shape, divided by √(variance + eps), times w plus b, which have that shape or are
// nil. It computes in float32 and rounds once. It is
// torch.nn.functional.layer_norm.
func (t *Tensor) LayerNorm(shape []int, w, b *Tensor, o NormOptions) *Tensor {
	t.given("layer_norm")
	dims := lastDims("layer_norm", t, shape, w, b)
	s := standardize{dims: dims, eps: orElse(o.Eps, 1e-5)}
	return apply(layerNorm{s}, standardized(t, apply(normStats{s.dims}, t), w, b)...)
}

// GroupNorm is LayerNorm over each of groups of neighbouring channels of t (n, c,
// …), with w and b (c), which may be nil. It is torch.nn.functional.group_norm.
func (t *Tensor) GroupNorm(groups int, w, b *Tensor, o NormOptions) *Tensor {
	const op = "group_norm"
	t.given(op)
	if len(t.shape) < 2 || groups < 1 || t.shape[1]%groups != 0 {
		fail(op, []*Tensor{t}, "%d groups; expected (n, c, …) with c a multiple of the groups", groups)
	}
	channels := t.shape[1]
	in := perChannel(op, t, channels, nil, nil, w, b)
	s := standardize{dims: []int{2, 3}, eps: orElse(o.Eps, 1e-5)}
	for i, x := range in {
		if x != nil {
			in[i] = x.Reshape(1, groups, channels/groups, 1)
		}
	}
	x := t.Reshape(t.shape[0], groups, channels/groups, size(t.shape[2:]))
	y := apply(groupNorm{s}, standardized(x, apply(normStats{s.dims}, x), in[2], in[3])...)
	return y.Reshape(t.shape...)
}

// standardized returns the operands of a normalisation.
func standardized(x, stats, w, b *Tensor) []*Tensor {
	in := []*Tensor{x, stats}
	if w == nil && b != nil {
		w = OnesLike(b.Detach())
	}
	for _, t := range []*Tensor{w, b} {
		if t != nil {
			in = append(in, t)
		}
	}
	return in
}

// perChannel returns what there is one of a channel, nil where there is none, in a
// shape that repeats to t's.
func perChannel(op string, t *Tensor, channels int, list ...*Tensor) []*Tensor {
	shape := slices.Repeat([]int{1}, len(t.shape))
	shape[1] = channels
	out := make([]*Tensor, len(list))
	for i, x := range list {
		if x == nil {
			continue
		}
		if !slices.Equal(x.shape, []int{channels}) {
			fail(op, []*Tensor{t, x}, "%s does not fit the input; expected (%d,)", [...]string{"the mean", "the variance", "the weight", "the bias"}[i], channels)
		}
		out[i] = x.Reshape(shape...)
	}
	return out
}

// known returns the running statistics in[0] and in[1] of t as one tensor, unless s
// computes its own.
func (s *standardize) known(op string, t *Tensor, in []*Tensor) *Tensor {
	if !s.given {
		return nil
	}
	if in[0] == nil || in[1] == nil {
		fail(op, []*Tensor{t}, "there are no running statistics; expected some, or Training")
	}
	stats := newTensor(t.mem.backend, wideOf(t.dtype), append([]int{2}, in[0].shape...))
	mean, variance := statistics(stats)
	run(driver.Kernel{Code: driver.Copy}, mean, in[0])
	run(driver.Kernel{Code: driver.Copy}, variance, in[1])
	return stats
}

// track blends stats, of count elements each, into the running ones, in[0] and
// in[1].
func (s standardize) track(stats *Tensor, in []*Tensor, count int, momentum float64) {
	if in[0] == nil || in[1] == nil {
		return
	}
	mean, variance := statistics(stats)
	NoGrad(func() {
		for i, x := range []*Tensor{mean, variance} {
			if i == 1 {
				x = x.Scale(float64(count) / float64(count-1))
			}
			if x.shape[0] != 1 {
				x = x.KeepDim().Mean(0)
			}
			in[i].Detach().ScaleAssign(1-momentum).AddScaledAssign(x, momentum)
		}
	})
}

// lastDims returns the last dimensions of t, which must have the sizes of shape, as
// w and b must unless they are nil.
func lastDims(op string, t *Tensor, shape []int, w, b *Tensor) []int {
	lead := len(t.shape) - len(shape)
	if len(shape) == 0 || lead < 0 || !slices.Equal(t.shape[lead:], shape) {
		fail(op, []*Tensor{t}, "the normalized shape is %v; expected one or more of the last sizes", shape)
	}
	for i, x := range []*Tensor{w, b} {
		if x != nil && !slices.Equal(x.shape, shape) {
			fail(op, []*Tensor{t, x}, "the %s does not fit the input; expected %s", [...]string{"weight", "bias"}[i], shapeString(shape))
		}
	}
	return seq(len(t.shape))[lead:]
}

// rmsNorm is x / √(mean of x² + eps) of x and perhaps a weight.
type rmsNorm struct {
	dims []int
	eps  float64
}

func (rmsNorm) Info() Info {
	return Info{"rms_norm", "torch.nn.functional.rms_norm", Keep, ReadsOperands}
}
func (rmsNorm) promotes() {}
func (r rmsNorm) f(in []*Tensor) *Tensor {
	y := in[0].Mul(in[0].Mul(in[0]).KeepDim().Mean(r.dims...).AddScalar(r.eps).Pow(-0.5))
	if len(in) > 1 {
		y = y.Mul(in[1])
	}
	return y
}
func (r rmsNorm) Forward(in []*Tensor) *Tensor              { return compose(r.f, in) }
func (r rmsNorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(r.f, dy, in) }

// RMSNorm returns t divided by the root of its mean square over the last dimensions,
// whose sizes are shape, times w of that shape, which may be nil. It computes in
// float32 and rounds once, to t's dtype. It is torch.nn.functional.rms_norm.
func (t *Tensor) RMSNorm(shape []int, w *Tensor, o NormOptions) *Tensor {
	t.given("rms_norm")
	dims := lastDims("rms_norm", t, shape, w, nil)
	eps := o.Eps
	if eps == 0 {
		eps = FInfo(t.dtype).Eps
	}
	in := []*Tensor{t}
	if w != nil {
		in = append(in, w)
	}
	in = offered(rmsNorm{}.Info(), in...)
	return apply(rmsNorm{dims, eps}, in...).To(in[0].dtype)
}

// renorm limits the p-norm of each slice along dim.
type renorm struct {
	p, most float64
	dim     int
}

func (renorm) Info() Info { return Info{"renorm", "torch.renorm", Raise, ReadsOperands} }
func (r renorm) f(in []*Tensor) *Tensor {
	x := in[0]
	dims := slices.Delete(seq(len(x.shape)), r.dim, r.dim+1)
	n := x.Abs().Pow(r.p).KeepDim().Sum(dims...).Pow(1 / r.p)
	one := constant(x, x.dtype, 1)
	return x.Mul(n.Detach().AddScalar(-r.most).Step().Where(n.AddScalar(1e-7).Reciprocal().Scale(r.most), one))
}
func (r renorm) Forward(in []*Tensor) *Tensor              { return compose(r.f, in) }
func (r renorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(r.f, dy, in) }

// Renorm returns t with each slice along dim whose p-norm is above most scaled to
// it. It is torch.renorm.
func (t *Tensor) Renorm(p float64, dim int, most float64) *Tensor {
	t.given("renorm")
	if p <= 0 || most < 0 {
		panic(&Error{Op: "renorm", Why: fmt.Sprintf("p %v and limit %v; expected p above 0 and a limit of 0 or more", p, most)})
	}
	if len(t.shape) < 2 {
		fail("renorm", []*Tensor{t}, "it has %d dimensions; expected 2 or more", len(t.shape))
	}
	return apply(renorm{p, most, axis("renorm", t, dim, len(t.shape))}, t)
}
