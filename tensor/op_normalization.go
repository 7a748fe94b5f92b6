package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// All normalisations compute (x - mean)/√(variance + eps), times a weight, plus a bias, over
// different dimensions. They compute in float32, with float32 statistics, and round once.

// standardize has the operands x, its statistics and perhaps weight and bias, which broadcast
// to x's shape. Unless the statistics are given they depend on x, and are an operand only to
// avoid computing them again.
type standardize struct {
	dims  []int // dimensions of the statistics
	eps   float64
	given bool
	loud  bool // a variance that overflows makes NaN, as in torch's layer and group norms; otherwise the quotient by it, 0
}

// normStats returns the means of x over dims, followed by the variances: (2, …) with size 1
// along dims.
type normStats struct{ dims []int }

func (normStats) Info() Info {
	return info("batch_norm_stats", "torch.batch_norm_stats", NoDerivative)
}
func (s normStats) Forward(in []*Tensor) *Tensor {
	x := in[0]
	y := unsetTensor(x.mem.backend, wideOf(x.dtype), append([]int{2}, keepDims(x.shape, s.dims)...))
	mean, variance := statistics(y)
	if x.mem.backend.Offers(driver.Moments, y.dtype, x.dtype, y.dtype) {
		run(driver.Kernel{Code: driver.Moments}, variance, x, mean)
		return y
	}
	w := wide(x)
	run(driver.Kernel{Code: driver.Mean}, mean, w)
	c := unsetTensor(x.mem.backend, w.dtype, x.shape)
	runBroadcast(driver.Kernel{Code: driver.Sub}, c, w, mean)
	run(driver.Kernel{Code: driver.Mul}, c, c, c)
	run(driver.Kernel{Code: driver.Mean}, variance, c)
	release(c)
	if w != x {
		release(w)
	}
	return y
}
func (normStats) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// statistics returns views of the means and the variances.
func statistics(stats *Tensor) (mean, variance *Tensor) {
	part := func(i int) *Tensor {
		return stats.alias(stats.offset+i*stats.stride[0], stats.shape[1:], stats.stride[1:])
	}
	return part(0), part(1)
}

// scale returns 1/√(variance + eps).
func (s standardize) scale(variance *Tensor) *Tensor {
	r := affineOf(variance, 1, s.eps)
	run(driver.Kernel{Code: driver.Sqrt}, r, r)
	run(driver.Kernel{Code: driver.Reciprocal}, r, r)
	if s.loud { // 0 times infinity is NaN, and times other numbers changes nothing
		run(driver.Kernel{Code: driver.AddScaled}, r, r, variance)
	}
	return r
}

func (standardize) derived() int { return 1 }

func (s standardize) Forward(in []*Tensor) *Tensor {
	mean, variance := statistics(in[1])
	r := s.scale(variance)
	defer release(r)
	factors := []*Tensor{mean, r}
	for _, t := range in[2:] {
		factors = append(factors, convert(t, r.dtype))
	}
	if len(in) == 3 { // adding -0 changes nothing
		factors = append(factors, filled(factors[2], math.Copysign(0, -1)))
	}
	if y := normalized(driver.Kernel{Code: driver.Normalize}, in[:1], factors); y != nil {
		return y
	}
	y := s.centred(in[0], mean)
	for i, f := range factors[1:] {
		runBroadcast(driver.Kernel{Code: [...]driver.Code{driver.Mul, driver.Mul, driver.Add}[i]}, y, y, f)
	}
	return narrow(y, in[0].dtype)
}

// filled returns a tensor like x filled with value.
func filled(x *Tensor, value float64) *Tensor {
	y := unsetTensor(x.mem.backend, x.dtype, x.shape)
	run(driver.Kernel{Code: driver.Fill, Alpha: value}, y)
	return y
}

// normalized returns the result of kernel k for the operands given, of one shape, and factors
// that broadcast to it. It is nil if the backend does not have the kernel.
func normalized(k driver.Kernel, given, factors []*Tensor) *Tensor {
	x := given[0]
	src := append(slices.Clone(given), factors...)
	dtypes := make([]DType, len(src))
	for i, t := range src {
		dtypes[i] = t.dtype
	}
	if !x.mem.backend.Offers(k.Code, x.dtype, dtypes...) {
		return nil
	}
	y := unsetTensor(x.mem.backend, x.dtype, x.shape)
	runBroadcast(k, y, src...)
	return y
}

// centred returns x - mean in a new tensor of the dtype of the arithmetic.
func (s standardize) centred(x, mean *Tensor) *Tensor {
	w := wide(x)
	y := w
	if w == x {
		y = unsetTensor(x.mem.backend, w.dtype, x.shape)
	}
	runBroadcast(driver.Kernel{Code: driver.Sub}, y, w, mean)
	return y
}

// The normalisations have different places on autocast's lists.
type (
	batchNorm    struct{ standardize }
	groupNorm    struct{ standardize }
	instanceNorm struct{ standardize }
	layerNorm    struct{ standardize }
)

func (batchNorm) Info() Info {
	return info("batch_norm", "torch.nn.functional.batch_norm", SavesOperands)
}
func (groupNorm) Info() Info {
	return info("group_norm", "torch.nn.functional.group_norm", SavesOperands)
}
func (instanceNorm) Info() Info {
	return info("instance_norm", "torch.nn.functional.instance_norm", SavesOperands)
}
func (layerNorm) Info() Info {
	return info("layer_norm", "torch.nn.functional.layer_norm", SavesOperands)
}
func (b batchNorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor    { return b.gradients(b, dy, in) }
func (g groupNorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor    { return g.gradients(g, dy, in) }
func (i instanceNorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return i.gradients(i, dy, in) }
func (l layerNorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor    { return l.gradients(l, dy, in) }

// gradients are the gradients of op, which is s under its own name.
func (s standardize) gradients(op Op, dy *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	given := slices.Insert(slices.Clone(in[:min(len(in), 3)]), 0, dy)
	if len(in) > 2 && in[2].RequiresGrad() {
		sums := apply(normSums{s, op, in[2].shape}, dy, in[0], in[1])
		if s.weightEach(in[0], in[2]) {
			given = append(given, sums)
		}
		out[2] = sums.Select(0, 1)
		if len(in) > 3 && in[3].RequiresGrad() {
			out[3] = sums.Select(0, 0)
		}
	} else if len(in) > 3 && in[3].RequiresGrad() {
		out[3] = dy.To(wideOf(dy.dtype)).sumTo(in[3])
	}
	if in[0].RequiresGrad() {
		out[0] = apply(normGrad{s}, given...)
	}
	return out
}

// weightEach reports whether each of x's statistics has one weight. Then the means of [normGrad] are
// sums of [normSums] times the weight.
func (s standardize) weightEach(x, weight *Tensor) bool {
	return !s.given && slices.Equal(weight.shape, keepDims(x.shape, s.dims))
}

// normSums is the gradient of a bias, the sums of dy, followed by the gradient of a weight, the
// sums of dy (x - mean)/√(variance + eps). Its operands are dy, x and the statistics.
type normSums struct {
	standardize
	op    Op    // the normalisation without a weight
	shape []int // shape of the weight
}

func (normSums) Info() Info {
	return info("native_batch_norm_backward_weights", "torch.ops.aten.native_batch_norm_backward", SavesOperands)
}
func (n normSums) Forward(in []*Tensor) *Tensor {
	dy, x, b := in[0], in[1], in[0].mem.backend
	mean, variance := statistics(in[2])
	d := mean.dtype
	if !b.Offers(driver.NormalizeSums, d, d, dy.dtype, x.dtype, d, d) {
		return compose(n.f, in)
	}
	r := n.scale(variance)
	y := unsetTensor(b, d, append([]int{2}, n.shape...))
	first, second := statistics(y)
	first, second = ofRank(first, len(x.shape)), ofRank(second, len(x.shape))
	launch(driver.Kernel{Code: driver.NormalizeSums, Alpha: 1}, first, append([]driver.View{second.view()}, repeatedTo(x.shape, dy, x, mean, r)...))
	release(r)
	return y
}
func (n normSums) VJP(d, _ *Tensor, in []*Tensor) []*Tensor { return derive(n.f, d, in) }

// f is Forward composed of other operations.
func (n normSums) f(in []*Tensor) *Tensor {
	to := newTensor(in[0].mem.backend, in[0].dtype, n.shape)
	return Stack(0, in[0].sumTo(to), in[0].Mul(apply(n.op, in[1], in[2])).sumTo(to))
}

// ofRank returns t with leading sizes of 1 up to the given rank.
func ofRank(t *Tensor, rank int) *Tensor {
	n := rank - len(t.shape)
	return t.alias(t.offset, append(slices.Repeat([]int{1}, n), t.shape...), append(make([]int, n), t.stride...))
}

// repeatedTo returns views of list, broadcast to shape.
func repeatedTo(shape []int, list ...*Tensor) []driver.View {
	views := make([]driver.View, len(list))
	for i, t := range list {
		views[i] = t.view()
		views[i].Shape, views[i].Stride = shape, expandStride(t, shape)
	}
	return views
}

// normGrad is the gradient of x: with g = dy weight and z = (x - mean)/√(variance + eps), it is
// (g - mean of g - z mean of g z)/√(variance + eps), without the means if the statistics are
// given. Its operands are dy, x, the statistics, perhaps the weight, and perhaps the result of normSums.
type normGrad struct{ standardize }

func (normGrad) Info() Info {
	return info("native_batch_norm_backward", "torch.ops.aten.native_batch_norm_backward", SavesOperands)
}
func (n normGrad) Forward(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	mean, variance := statistics(in[2])
	r := n.scale(variance)
	if !n.given {
		if y := n.fused(in, mean, r); y != nil {
			release(r)
			return y
		}
	}
	g := unsetTensor(x.mem.backend, r.dtype, x.shape)
	weighted := wide(dy)
	if len(in) > 3 {
		runBroadcast(driver.Kernel{Code: driver.Mul}, g, weighted, convert(in[3], r.dtype))
		weighted = g
	}
	if n.given {
		runBroadcast(driver.Kernel{Code: driver.Mul}, g, weighted, r)
		return narrow(g, dy.dtype)
	}
	z := n.centred(x, mean)
	runBroadcast(driver.Kernel{Code: driver.Mul}, z, z, r)
	first := reduce(driver.Mean, weighted, n.dims, r.dtype)
	product := pairwise("", driver.Mul, weighted, z)
	second := reduce(driver.Mean, product, n.dims, r.dtype)
	runBroadcast(driver.Kernel{Code: driver.Mul}, z, z, second)
	runBroadcast(driver.Kernel{Code: driver.Sub}, g, weighted, first)
	run(driver.Kernel{Code: driver.Sub}, g, g, z)
	runBroadcast(driver.Kernel{Code: driver.Mul}, g, g, r)
	release(z, product, first, second, r)
	return narrow(g, dy.dtype)
}

// fused is Forward in one kernel or two, or nil if the backend does not have them.
func (n normGrad) fused(in []*Tensor, mean, r *Tensor) *Tensor {
	dy, x, b, d := in[0], in[1], in[0].mem.backend, r.dtype
	weight := []*Tensor(nil)
	dtypes := []DType{d, dy.dtype, x.dtype, d, d}
	if len(in) > 3 {
		weight = []*Tensor{convert(in[3], d)}
		dtypes = append(dtypes, d)
	}
	if !b.Offers(driver.NormalizeSums, d, dtypes...) {
		return nil
	}
	count, each := over{dims: n.dims}.count(x), len(in) > 3 && n.weightEach(x, in[3])
	if !each {
		if y := normalized(driver.Kernel{Code: driver.NormalizeGrad, Alpha: float64(count)}, []*Tensor{dy, x}, append([]*Tensor{mean, r}, weight...)); y != nil {
			return y
		}
	}
	means := unsetTensor(b, d, append([]int{2}, mean.shape...))
	first, second := statistics(means)
	if each {
		sums := in[len(in)-1]
		if len(in) == 4 {
			sums = normSums{n.standardize, nil, mean.shape}.Forward(in[:3])
			defer release(sums)
		}
		share := affineOf(weight[0], 1/float64(count), 0)
		runBroadcast(driver.Kernel{Code: driver.Mul}, means, sums, share)
		release(share)
	} else {
		k := driver.Kernel{Code: driver.NormalizeSums, Alpha: float64(count)}
		launch(k, first, append([]driver.View{second.view()}, repeatedTo(x.shape, append([]*Tensor{dy, x, mean, r}, weight...)...)...))
	}
	y := normalized(driver.Kernel{Code: driver.NormalizeGrad}, []*Tensor{dy, x}, append([]*Tensor{mean, r, first, second}, weight...))
	release(means)
	return y
}
func (n normGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor { return derive(n.f, d, in) }

// f is Forward composed of other operations, including the statistics.
func (n normGrad) f(in []*Tensor) *Tensor {
	g, x := in[0], in[1]
	if len(in) > 3 {
		g = g.Mul(in[3])
	}
	if n.given {
		return g.Mul(in[2].Select(0, 1).AddScalar(n.eps).Pow(-0.5))
	}
	c := x.Sub(x.KeepDim().Mean(n.dims...))
	variance := c.Mul(c).KeepDim().Mean(n.dims...)
	r := variance.AddScalar(n.eps).Pow(-0.5)
	if n.loud {
		r = r.AddScaled(variance.Detach(), 0)
	}
	z := c.Mul(r)
	return g.Sub(g.KeepDim().Mean(n.dims...)).Sub(z.Mul(g.Mul(z).KeepDim().Mean(n.dims...))).Mul(r)
}

// NormOptions configures LayerNorm, GroupNorm and RMSNorm.
type NormOptions struct {
	Eps float64 // added to the variance, default 1e-5; for RMSNorm to the mean square, default FInfo(dtype).Eps of the dtype that it computes in
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
	s := standardize{dims: slices.Delete(seq(len(t.shape)), 1, 2), eps: orElse(o.Eps, 1e-5), given: !o.Training}
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
	s := standardize{dims: seq(len(t.shape))[2:], eps: orElse(o.Eps, 1e-5), given: !o.Training}
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
	s := standardize{dims: dims, eps: orElse(o.Eps, 1e-5), loud: true}
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
	s := standardize{dims: []int{2, 3}, eps: orElse(o.Eps, 1e-5), loud: true}
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
// to t's dtype; Eps is float32's unless t is float64. It is torch.nn.functional.rms_norm.
func RMSNorm(t *Tensor, shape []int, w *Tensor, o NormOptions) *Tensor {
	t.given("rms_norm")
	dims := lastDims("rms_norm", t, shape, w, nil)
	eps := o.Eps
	if eps == 0 {
		eps = FInfo(wideOf(t.dtype)).Eps
	}
	in := []*Tensor{t}
	if w != nil {
		in = append(in, w)
	}
	in = offered(rmsNorm{}.Info(), in...)
	return apply(rmsNorm{dims, eps}, in...).To(in[0].dtype)
}

// localResponseNorm divides by a power of the mean square of neighbouring channels.
type localResponseNorm struct {
	size           int
	alpha, beta, k float64
}

func (localResponseNorm) Info() Info {
	return info("local_response_norm", "torch.nn.functional.local_response_norm", SavesOperands)
}
func (l localResponseNorm) f(in []*Tensor) *Tensor {
	x := in[0]
	n, c := x.shape[0], x.shape[1]
	pad := []int{0, 0, l.size / 2, (l.size - 1) / 2}
	stride := poolOptions{Stride: []int{1}}
	var mean *Tensor
	if squares := x.Mul(x); len(x.shape) == 3 {
		mean = functional{}.AvgPool(squares.Unsqueeze(1).Pad(pad, PadOptions{}), 2, []int{l.size, 1}, stride)
	} else { // autocast for the CPU lists avg_pool3d
		squares = squares.Reshape(n, 1, c, x.shape[2], size(x.shape[3:]))
		mean = functional{}.AvgPool(squares.Pad(append([]int{0, 0}, pad...), PadOptions{}), 3, []int{l.size, 1, 1}, stride)
	}
	mean = mean.Reshape(x.shape...)
	return x.Div(mean.MulScalar(l.alpha).AddScalar(l.k).Pow(l.beta))
}
func (l localResponseNorm) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l localResponseNorm) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// LocalResponseNorm is nn.LocalResponseNorm.
func (functional) LocalResponseNorm(t *Tensor, size int, alpha, beta, k float64) *Tensor {
	t.given("local_response_norm")
	if len(t.shape) < 3 || size < 1 {
		fail("local_response_norm", []*Tensor{t}, "size is %d; want at least 1, and an input (n, c, …)", size)
	}
	return apply(localResponseNorm{size, alpha, beta, k}, t)
}

func (l localResponseNorm) parts(in []*Tensor) *Tensor { return l.f(in) }
