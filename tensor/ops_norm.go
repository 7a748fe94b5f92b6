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
	r := c.Mul(c).KeepDim().Mean(n.dims...).AddScalar(n.eps).Pow(-0.5)
	z := c.Mul(r)
	return g.Sub(g.KeepDim().Mean(n.dims...)).Sub(z.Mul(g.Mul(z).KeepDim().Mean(n.dims...))).Mul(r)
}
