package tensor

import (
	"slices"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// Classification losses. Targets are class indices and are read before anything runs.
// nllLoss has as operands log-probabilities (N, C, …), the target classes (N, 1, …), their
// weights in float32 or float64 and that shape, and the sum of the weights if only the device
// knows it.
type nllLoss struct {
	reduction
	total float64 // sum of the weights, unless it is an operand
}

func (nllLoss) Info() Info {
	return info("nll_loss", "torch.nn.functional.nll_loss", SavesOperands)
}
func (l nllLoss) Forward(in []*Tensor) *Tensor {
	x, class, w := in[0], in[1], in[2]
	y := newTensor(x.mem.backend, x.dtype, class.shape)
	run(driver.Kernel{Code: driver.Gather, Axis: 1}, y, x, class)
	// Ignored elements may be infinite.
	kept := newTensor(x.mem.backend, w.dtype, y.shape)
	runBroadcast(driver.Kernel{Code: driver.Where}, kept, convert(w, Bool), convert(y, w.dtype), constant(w, w.dtype, 0))
	run(driver.Kernel{Code: driver.Mul}, kept, kept, w)
	run(driver.Kernel{Code: driver.Affine, Alpha: -1}, kept, kept)
	if l.reduction == reduceNone {
		return narrow(shaped(kept, dropDims(kept.shape, []int{1})), x.dtype)
	}
	all := seq(len(kept.shape))
	sum := (over{dims: all}).finish(reduce(driver.Sum, kept, all, kept.dtype))
	if l.reduction == reduceMean {
		total := constant(sum, sum.dtype, l.total)
		if len(in) > 3 {
			total = in[3]
		}
		run(driver.Kernel{Code: driver.Div}, sum, sum, total)
	}
	release(kept)
	return narrow(sum, x.dtype)
}
func (l nllLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	x, class, w := in[0], in[1], in[2]
	g := dy.To(w.dtype)
	switch l.reduction {
	case reduceMean:
		// The mean of no targets is NaN; its gradient is 0, so that a batch without targets changes nothing.
		if len(in) > 3 {
			total, zero := in[3], constant(in[3], in[3].dtype, 0)
			g = g.Mul(total.EqScalar(0).Where(zero, total.Reciprocal()))
		} else if l.total == 0 {
			g = g.MulScalar(0)
		} else {
			g = g.MulScalar(1 / l.total)
		}
	case reduceNone:
		g = g.Unsqueeze(1)
	}
	dx := make([]*Tensor, len(in))
	dx[0] = apply(nllLossGrad{x.shape}, g.Mul(w).Neg().To(x.dtype), class)
	return dx
}

// nllLossGrad is zeros (N, C, …) with the first operand (N, 1, …) at the classes.
type nllLossGrad struct{ shape []int }

func (nllLossGrad) Info() Info {
	return info("nll_loss_backward", "torch.ops.aten.nll_loss_backward", SavesIndices)
}
func (l nllLossGrad) Forward(in []*Tensor) *Tensor {
	g := in[0]
	d := g.dtype
	if !g.mem.backend.Offers(driver.ScatterAdd, d, d, Int64) {
		d = wideOf(d)
	}
	y := newTensor(g.mem.backend, d, l.shape)
	run(driver.Kernel{Code: driver.ScatterAdd, Axis: 1}, y, convert(g, d), in[1])
	return narrow(y, g.dtype)
}
func (nllLossGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(gather{1}, d, in[1]), nil}
}

// nllLoss2d is nllLoss of images, under torch's name.
type nllLoss2d struct{ nllLoss }

func (nllLoss2d) Info() Info {
	return info("nll_loss2d", "torch.nn.functional.nll_loss", SavesOperands)
}

// NLLLoss is nn.NLLLoss.
func (functional) NLLLoss(t, target *Tensor, o lossOptions) *Tensor {
	const op = "nll_loss"
	given(op, t, target)
	if len(t.shape) == 1 && len(target.shape) == 0 {
		return functional{}.NLLLoss(t.Unsqueeze(0), target.Unsqueeze(0), o).reshapedIf(o.Reduction == reduceNone, nil)
	}
	l, in := nllLoss{reduction: elements(o, op)}, []*Tensor{t}
	if t.unread(target) {
		c := classesOnDevice(op, t, target, o)
		in = append(in, c.index.Unsqueeze(1), c.weight.Unsqueeze(1), c.total)
	} else {
		c := classesOf(op, t, target, o)
		shape := slices.Insert(slices.Clone(target.shape), 1, 1)
		l.total = c.total
		in = append(in, FromInt64s(c.index, shape...).ToDevice(t.Device()), NewAs(wideOf(t.dtype), c.weight, shape...).ToDevice(t.Device()))
	}
	if len(t.shape) > 2 {
		return apply(nllLoss2d{l}, in...)
	}
	return apply(l, in...)
}

// reshapedIf returns t reshaped to shape if cond is true, and t otherwise.
func (t *Tensor) reshapedIf(cond bool, shape []int) *Tensor {
	if cond {
		return t.Reshape(shape...)
	}
	return t
}

// classes are targets that have been read.
type classes struct {
	index  []int64   // class of each target; 0 for ignored targets
	weight []float64 // weight of each target; 0 for ignored targets
	total  float64   // sum of the weights
}

// checkClasses panics unless target (N, …) holds classes of x (N, C, …). It returns the
// classes to ignore.
func checkClasses(op string, x, target *Tensor, o lossOptions) (ignore []int) {
	if len(x.shape) < 2 || !slices.Equal(target.shape, slices.Delete(slices.Clone(x.shape), 1, 2)) {
		fail(op, []*Tensor{x, target}, "input and target do not match; want (N, C, …) and (N, …), or (C) and a scalar")
	}
	if target.dtype.IsFloat() || target.dtype == Bool {
		failDType(op, []*Tensor{x, target}, "target has dtype %v; want class indices of an integer dtype such as int64", target.dtype)
	}
	if n := x.shape[1]; o.Weight != nil && !slices.Equal(o.Weight.shape, []int{n}) {
		fail(op, []*Tensor{x, o.Weight}, "weight does not match the classes; want (%d,), one weight for each class", n)
	}
	if o.Weight != nil {
		withoutGradient(op, o.Weight)
	}
	if o.IgnoreIndex == nil {
		return []int{-100}
	}
	return o.IgnoreIndex
}

// classesOf reads the targets of x (N, C, …), of shape (N, …).
func classesOf(op string, x, target *Tensor, o lossOptions) classes {
	ignore := checkClasses(op, x, target, o)
	if target.Device() == CPU {
		target.sameInReplays(op)
	}
	n := x.shape[1]
	var weight []float64
	if o.Weight != nil {
		weight = o.Weight.Float64s()
	}
	c := classes{index: target.Int64s(), weight: hostSlice[float64](op, target.Numel())}
	for i, class := range c.index {
		pollAt(i)
		switch {
		case slices.Contains(ignore, int(class)):
			c.index[i] = 0
			continue
		case class < 0 || class >= int64(n):
			which := ""
			if len(ignore) > 0 {
				which = ", or " + strings.Trim(text.Shape(ignore), "(,)") + ", which is ignored"
			}
			fail(op, []*Tensor{x, target}, "the target at %v is %d; want a class from 0 to %d%s", place(i, target.shape), class, n-1, which)
		case weight == nil:
			c.weight[i] = 1
		default:
			c.weight[i] = weight[class]
		}
		c.total += c.weight[i]
	}
	return c
}

// place returns the multi-dimensional index of element i, counted in row-major order.
func place(i int, shape []int) []int {
	at := make([]int, len(shape))
	for d, step := range rowMajor(shape) {
		at[d], i = i/step, i%step
	}
	return at
}

// CrossEntropy is nn.CrossEntropy.
func (functional) CrossEntropy(t, target *Tensor, o lossOptions) *Tensor {
	const op = "cross_entropy"
	given(op, t, target)
	dim := 1
	if len(t.shape) < 2 {
		dim = 0
	}
	s := o.LabelSmoothing
	if len(t.shape) == 0 || !(s >= 0 && s <= 1) {
		fail(op, []*Tensor{t, target}, "LabelSmoothing is %v; want 0 to 1, and an input (N, C), (C) or (N, C, …)", s)
	}
	in := offered(Info{Name: "cross_entropy_loss"}, t, target)
	t, target = in[0], in[1]
	logs := t.LogSoftmax(dim)
	if target.dtype.IsFloat() && slices.Equal(t.shape, target.shape) {
		return logs.crossEntropyOf(target, dim, o)
	}
	loss := functional{}.NLLLoss(logs, target, o)
	if s == 0 {
		return loss
	}
	n := float64(t.shape[dim])
	return loss.MulScalar(1 - s).Add(logs.smoothLoss(target, dim, o).MulScalar(s / n))
}

// crossEntropyOf is the cross entropy of log-probabilities t and probabilities.
func (t *Tensor) crossEntropyOf(target *Tensor, dim int, o lossOptions) *Tensor {
	n := t.shape[dim]
	if s := o.LabelSmoothing; s > 0 {
		target = target.MulScalar(1 - s).AddScalar(s / float64(n))
	}
	y := t.Mul(target)
	if o.Weight != nil {
		y = y.Mul(o.Weight.alongDim("cross_entropy", t, dim))
	}
	switch r := elements(o, "cross_entropy"); r {
	case reduceNone:
		return y.Sum(dim).Neg()
	case reduceMean:
		return y.Sum().MulScalar(-float64(n) / float64(t.Numel()))
	}
	return y.Sum().Neg()
}

// smoothLoss is -Σ t over the classes of the targets that are not ignored, weighted.
func (t *Tensor) smoothLoss(target *Tensor, dim int, o lossOptions) *Tensor {
	x, y := t, target
	if dim == 0 {
		x, y = t.Unsqueeze(0), target.Unsqueeze(0)
	}
	all := t
	if o.Weight != nil {
		all = t.Mul(o.Weight.alongDim("cross_entropy", t, dim))
	}
	var mask *Tensor
	var mean func(sum *Tensor) *Tensor
	if x.unread(y) {
		c := classesOnDevice("cross_entropy", x, y, o)
		mask, mean = c.counted, func(sum *Tensor) *Tensor { return sum.Mul(c.total.Reciprocal()) }
	} else {
		counts := o
		counts.Weight = nil
		c := classesOf("cross_entropy", x, y, counts)
		if o.Weight != nil {
			c.total = classesOf("cross_entropy", x, y, o).total
		}
		mask, mean = NewAs(Bool, c.weight, len(c.weight)).ToDevice(t.Device()), func(sum *Tensor) *Tensor { return sum.MulScalar(1 / c.total) }
	}
	smooth := mask.Reshape(target.shape...).Where(all.Sum(dim).Neg(), constant(t, t.dtype, 0))
	switch o.Reduction {
	case reduceNone:
		return smooth
	case reduceMean:
		return mean(smooth.Sum())
	}
	return smooth.Sum()
}

// alongDim returns the weights t of the classes reshaped to broadcast to x, whose dimension
// dim holds the classes.
func (t *Tensor) alongDim(op string, x *Tensor, dim int) *Tensor {
	if !slices.Equal(t.shape, x.shape[dim:dim+1]) {
		fail(op, []*Tensor{x, t}, "weight does not match the classes; want (%d,), one weight for each class", x.shape[dim])
	}
	shape := make([]int, len(x.shape)-dim)
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = x.shape[dim]
	return t.Reshape(shape...)
}

// classesOnTensor are [classes] that have not been copied to the host.
type classesOnTensor struct {
	index   *Tensor // class of each target, int64; 0 for ignored targets
	counted *Tensor // mask of the targets that are not ignored, bool
	weight  *Tensor // weight of each target in the dtype of the arithmetic; 0 for ignored targets
	total   *Tensor // sum of the weights, a scalar
}

// unread reports whether to use the targets of t without reading them, because a graph is
// being captured and its replays will have other targets.
func (t *Tensor) unread(target *Tensor) bool {
	return capturing() && target.Device() != CPU && target.Device() == t.Device() && target.nearest() == target
}

// classesOnDevice is classesOf without reading the targets. Targets that are not classes are
// ignored.
func classesOnDevice(op string, x, target *Tensor, o lossOptions) (c classesOnTensor) {
	ignore, n := checkClasses(op, x, target, o), x.shape[1]
	Unobserved(func() {
		target := convert(target.Detach(), Int64)
		c.counted = target.GeScalar(0).And(target.LtScalar(float64(n)))
		for _, class := range ignore {
			if class >= 0 && class < n {
				c.counted = c.counted.And(target.NeScalar(float64(class)))
			}
		}
		zero := constant(target, Int64, 0)
		c.index = c.counted.Where(target, zero)
		c.weight = convert(c.counted, wideOf(x.dtype))
		if o.Weight != nil {
			weight := convert(o.Weight.Detach().ToDevice(x.Device()), wideOf(x.dtype))
			each := unsetTensor(x.mem.backend, weight.dtype, []int{target.Numel()})
			run(driver.Kernel{Code: driver.Gather}, each, weight, c.index.Reshape(-1))
			c.weight = c.weight.Mul(each.Reshape(target.shape...))
		}
		c.total = c.weight.Sum()
	})
	return c
}
