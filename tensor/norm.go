package tensor

import (
	"fmt"
	"slices"

	"halfnote/tensor/driver"
)

// NormOptions configures LayerNorm, GroupNorm and RMSNorm.
type NormOptions struct {
	Eps float64 // added to the variance, default 1e-5; for RMSNorm to the mean square, default FInfo(dtype).Eps
}

// BatchNormOptions configures BatchNorm and InstanceNorm.
type BatchNormOptions struct {
	Training bool    // use the batch's statistics and blend them into the running ones
	Momentum float64 // weight of the batch in the running statistics; default 0.1
	Eps      float64 // added to the variance; default 1e-5
}

func orElse(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// BatchNorm normalises each channel of t (n, c, …): it subtracts the mean, divides by
// √(variance + Eps), multiplies by w (c) and adds b (c). w and b may be nil. In training it
// uses the batch's statistics and blends them, the variance with divisor n-1, into mean and
// variance (c), which may be nil; otherwise it uses mean and variance. It computes in float32
// and rounds once to t's dtype; the other operands may be float32 if t is float16. It is
// torch.nn.functional.batch_norm.
func BatchNorm(t, mean, variance, w, b *Tensor, o BatchNormOptions) *Tensor {
	const op = "batch_norm"
	t.given(op)
	if len(t.shape) < 2 {
		fail(op, []*Tensor{t}, "input is %d-dimensional; want (n, c, …)", len(t.shape))
	}
	channels := t.shape[1]
	s := standardize{slices.Delete(seq(len(t.shape)), 1, 2), orElse(o.Eps, 1e-5), !o.Training}
	in := perChannel(op, t, channels, mean, variance, w, b)
	stats := s.known(op, t, in)
	if o.Training {
		count := t.Numel() / max(1, channels)
		if count == 1 {
			fail(op, []*Tensor{t}, "one value per channel has no variance; training needs at least 2")
		}
		stats = apply(normStats{s.dims}, t)
		s.track(stats, in, count, orElse(o.Momentum, 0.1))
	}
	return apply(batchNorm{s}, standardized(t, stats, in[2], in[3])...)
}

// InstanceNorm is BatchNorm with the statistics of each channel of each n. Their averages over
// n are blended into mean and variance, if non-nil. Without Training, it uses mean and variance
// if they are non-nil. It is torch.nn.functional.instance_norm; Training is use_input_stats.
func InstanceNorm(t, mean, variance, w, b *Tensor, o BatchNormOptions) *Tensor {
	const op = "instance_norm"
	t.given(op)
	if len(t.shape) < 3 {
		fail(op, []*Tensor{t}, "input is %d-dimensional; want (n, c, …)", len(t.shape))
	}
	in := perChannel(op, t, t.shape[1], mean, variance, w, b)
	s := standardize{seq(len(t.shape))[2:], orElse(o.Eps, 1e-5), !o.Training}
	stats := s.known(op, t, in)
	if o.Training {
		count := size(t.shape[2:])
		if count == 1 {
			fail(op, []*Tensor{t}, "one value per channel has no variance; want at least 2")
		}
		stats = apply(normStats{s.dims}, t)
		s.track(stats, in, count, orElse(o.Momentum, 0.1))
	}
	return apply(instanceNorm{s}, standardized(t, stats, in[2], in[3])...)
}

// LayerNorm normalises t over its last dimensions, whose sizes are shape: it subtracts the
// mean, divides by √(variance + Eps), multiplies by w and adds b, which have that shape or are
// nil. It computes in float32 and rounds once. It is torch.nn.functional.layer_norm.
func LayerNorm(t *Tensor, shape []int, w, b *Tensor, o NormOptions) *Tensor {
	t.given("layer_norm")
	dims := lastDims("layer_norm", t, shape, w, b)
	s := standardize{dims: dims, eps: orElse(o.Eps, 1e-5)}
	return apply(layerNorm{s}, standardized(t, apply(normStats{s.dims}, t), w, b)...)
}

// GroupNorm normalises t (n, c, …) over groups of adjacent channels, with w and b (c), which
// may be nil. It is torch.nn.functional.group_norm.
func GroupNorm(t *Tensor, groups int, w, b *Tensor, o NormOptions) *Tensor {
	const op = "group_norm"
	t.given(op)
	if len(t.shape) < 2 || groups < 1 || t.shape[1]%groups != 0 {
		fail(op, []*Tensor{t}, "got %d groups; want an input (n, c, …) with c a multiple of the number of groups", groups)
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

// perChannel returns the per-channel operands, nil where absent, in a shape that broadcasts to
// t's.
func perChannel(op string, t *Tensor, channels int, list ...*Tensor) []*Tensor {
	shape := slices.Repeat([]int{1}, len(t.shape))
	shape[1] = channels
	out := make([]*Tensor, len(list))
	for i, x := range list {
		if x == nil {
			continue
		}
		if !slices.Equal(x.shape, []int{channels}) {
			fail(op, []*Tensor{t, x}, "%s does not match the input's channels; want shape (%d,)", [...]string{"the mean", "the variance", "the weight", "the bias"}[i], channels)
		}
		out[i] = x.Reshape(shape...)
	}
	return out
}

// known returns the running statistics in[0] and in[1] of t as one tensor, unless s computes
// its own.
func (s *standardize) known(op string, t *Tensor, in []*Tensor) *Tensor {
	if !s.given {
		return nil
	}
	if in[0] == nil || in[1] == nil {
		fail(op, []*Tensor{t}, "mean or variance is nil; pass both, or set Training")
	}
	stats := newTensor(t.mem.backend, wideOf(t.dtype), append([]int{2}, in[0].shape...))
	mean, variance := statistics(stats)
	run(driver.Kernel{Code: driver.Copy}, mean, in[0])
	run(driver.Kernel{Code: driver.Copy}, variance, in[1])
	return stats
}

// track blends stats, of count elements each, into the running ones, in[0] and in[1].
func (s standardize) track(stats *Tensor, in []*Tensor, count int, momentum float64) {
	if in[0] == nil || in[1] == nil {
		return
	}
	mean, variance := statistics(stats)
	NoGrad(func() {
		for i, x := range []*Tensor{mean, variance} {
			if i == 1 {
				x = x.MulScalar(float64(count) / float64(count-1))
			}
			if x.shape[0] != 1 {
				x = x.KeepDim().Mean(0)
			}
			in[i].Detach().MulScalarAssign(1-momentum).AddScaledAssign(x, momentum)
		}
	})
}

// lastDims returns the last dimensions of t. Their sizes must be shape, which is also the shape
// of w and b unless they are nil.
func lastDims(op string, t *Tensor, shape []int, w, b *Tensor) []int {
	lead := len(t.shape) - len(shape)
	if len(shape) == 0 || lead < 0 || !slices.Equal(t.shape[lead:], shape) {
		fail(op, []*Tensor{t}, "the normalized shape is %v; want the sizes of one or more of the input's last dimensions", shape)
	}
	for i, x := range []*Tensor{w, b} {
		if x != nil && !slices.Equal(x.shape, shape) {
			fail(op, []*Tensor{t, x}, "%s does not match the input; want shape %s", [...]string{"weight", "bias"}[i], shapeString(shape))
		}
	}
	return seq(len(t.shape))[lead:]
}

// rmsNorm is x / √(mean of x² + eps), with an optional weight.
type rmsNorm struct {
	dims []int
	eps  float64
}

func (rmsNorm) Info() Info {
	return info("rms_norm", "torch.nn.functional.rms_norm", SavesOperands)
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

// RMSNorm divides t by its root mean square over the last dimensions, whose sizes are shape,
// and multiplies by w of that shape, which may be nil. It computes in float32 and rounds once
// to t's dtype. It is torch.nn.functional.rms_norm.
func RMSNorm(t *Tensor, shape []int, w *Tensor, o NormOptions) *Tensor {
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

func (renorm) Info() Info { return info("renorm", "torch.renorm", SavesOperands) }
func (r renorm) f(in []*Tensor) *Tensor {
	x := in[0]
	dims := slices.Delete(seq(len(x.shape)), r.dim, r.dim+1)
	n := x.Abs().Pow(r.p).KeepDim().Sum(dims...).Pow(1 / r.p)
	one := constant(x, x.dtype, 1)
	return x.Mul(n.Detach().AddScalar(-r.most).Step().Where(n.AddScalar(1e-7).Reciprocal().MulScalar(r.most), one))
}
func (r renorm) Forward(in []*Tensor) *Tensor              { return compose(r.f, in) }
func (r renorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(r.f, dy, in) }

// Renorm scales each slice of t along dim whose p-norm exceeds maxNorm down to that norm. It is
// torch.renorm.
func (t *Tensor) Renorm(p float64, dim int, maxNorm float64) *Tensor {
	t.given("renorm")
	if p <= 0 || maxNorm < 0 {
		panic(&Error{Op: "renorm", Why: fmt.Sprintf("p is %v and the limit is %v; want a positive p and a limit of at least 0", p, maxNorm)})
	}
	if len(t.shape) < 2 {
		fail("renorm", []*Tensor{t}, "input is %d-dimensional; want at least 2 dimensions", len(t.shape))
	}
	return apply(renorm{p, maxNorm, axis("renorm", t, dim, len(t.shape))}, t)
}
