package tensor

import (
	"math"
	"slices"
)

// ctcLoss is the CTC loss of log-probabilities (T, N, C).
type ctcLoss struct {
	*ctcBatch
	reduction
}

func (ctcLoss) Info() Info {
	return info("ctc_loss", "torch.nn.functional.ctc_loss", SavesOperands)
}

func (l ctcLoss) Forward(in []*Tensor) *Tensor {
	x := in[0]
	logs := newCTCTable(x)
	losses := make([]float64, len(l.labels))
	for n := range losses {
		losses[n], _, _ = l.sample(n, logs).loss(0)
		if l.zeroInfinity && math.IsInf(losses[n], 1) {
			losses[n] = 0
		}
	}
	if l.reduction == reduceNone {
		y := newTensor(x.mem.backend, Float64, []int{len(losses)})
		return narrow(y.setFloat64s(losses), x.dtype)
	}
	sum := 0.0
	for n, w := range l.weights() {
		sum += float64(losses[n] * w)
	}
	return narrow(newTensor(x.mem.backend, Float64, nil).setFloat64s([]float64{sum}), x.dtype)
}

// weights returns the factor of each sample in the reduced loss.
func (l ctcLoss) weights() []float64 {
	w := make([]float64, len(l.labels))
	for n := range w {
		w[n] = 1
		if l.reduction == reduceMean {
			w[n] = 1 / float64(len(w)*max(l.target(n), 1))
		}
	}
	return w
}

func (l ctcLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	w := dy.To(wideOf(dy.dtype))
	if l.reduction != reduceNone {
		w = w.Mul(NewAs(w.dtype, l.weights(), len(l.labels)).ToDevice(w.Device()))
	}
	return []*Tensor{apply(ctcGrad{l.ctcBatch}, in[0], w)}
}

// ctcGrad is the gradient of the losses, given a factor for each sample, (N).
type ctcGrad struct{ *ctcBatch }

func (ctcGrad) Info() Info {
	return info("ctc_loss_backward", "torch.ops.aten._ctc_loss_backward", SavesOperands)
}
func (g ctcGrad) Forward(in []*Tensor) *Tensor { return g.gradients(in[0], in[1], nil) }

// gradients returns the gradient for log-probabilities x and factors w, or its directional
// derivative along d.
func (b *ctcBatch) gradients(x, w, d *Tensor) *Tensor {
	logs, weights := newCTCTable(x), convert(w, Float64).Float64s()
	var change ctcTable
	if d != nil {
		change = newCTCTable(d)
	}
	out := ctcTable{hostSlice[float64]("ctc_loss", len(logs.data)), logs.batch, logs.classes}
	for n := range b.labels {
		s := b.sample(n, logs)
		if d != nil {
			s.change = change.of(n)
		}
		s.gradient(weights[n], b.zeroInfinity, out.of(n))
	}
	return narrow(newTensor(x.mem.backend, Float64, x.shape).setFloat64s(out.data), x.dtype)
}

func (g ctcGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	x, w := in[0], in[1]
	dw := apply(g, x, OnesLike(w)).To(w.dtype).Mul(d.To(w.dtype)).Sum(0, 2)
	return []*Tensor{apply(ctcCurvature{g.ctcBatch}, x, w, d), dw}
}

// ctcCurvature is the product of d, (T, N, C), and the derivative of ctcGrad with respect to
// the log-probabilities, a symmetric matrix.
type ctcCurvature struct{ *ctcBatch }

func (ctcCurvature) Info() Info {
	return info("ctc_loss_double_backward", "torch.nn.functional.ctc_loss", SavesOperands)
}
func (c ctcCurvature) Forward(in []*Tensor) *Tensor { return c.gradients(in[0], in[1], in[2]) }
func (c ctcCurvature) VJP(_, _ *Tensor, in []*Tensor) []*Tensor {
	fail("ctc_loss_double_backward", in[:1], "the third derivative is not supported; want at most the second")
	return nil
}

// ctcLoss is nn.CTCLoss.
func (t *Tensor) ctcLoss(targets, inputLengths, targetLengths *Tensor, o lossOptions) *Tensor {
	const op = "ctc_loss"
	in := []*Tensor{t, targets, inputLengths, targetLengths}
	if slices.Contains(in, nil) {
		panic(&Error{Op: op, Why: "an operand is nil; want log-probabilities, targets, input lengths and target lengths"})
	}
	if len(t.shape) == 2 {
		loss := t.Unsqueeze(1).ctcLoss(targets.Reshape(-1), inputLengths.Reshape(-1), targetLengths.Reshape(-1), o)
		return loss.reshapedIf(o.Reduction == reduceNone, nil)
	}
	if len(t.shape) != 3 || t.Numel() == 0 {
		fail(op, in[:1], "want non-empty log-probabilities (time, batch, classes) or (time, classes)")
	}
	if !t.dtype.IsFloat() {
		failDType(op, in[:1], "want a floating-point dtype")
	}
	b := &ctcBatch{zeroInfinity: o.ZeroInfinity}
	if o.Blank < 0 || o.Blank >= t.shape[2] {
		fail(op, in[:1], "Blank is %d; want a class from 0 to %d", o.Blank, t.shape[2]-1)
	}
	b.times = ctcLengths(op, "input length", t, inputLengths, t.shape[0])
	b.labels = ctcLabels(op, t, targets, targetLengths, o.Blank)
	return apply(ctcLoss{b, elements(o, op)}, t)
}

// ctcLengths returns the lengths of the samples of x, each from 0 to most.
func ctcLengths(op, what string, x, lengths *Tensor, most int) []int {
	if !slices.Equal(lengths.shape, x.shape[1:2]) || lengths.dtype.IsFloat() || lengths.dtype == Bool {
		failDType(op, []*Tensor{x, lengths}, "%ss do not match the input; want one integer for each sample, %d in all", what, x.shape[1])
	}
	out := make([]int, x.shape[1])
	for n, v := range lengths.Int64s() {
		if v < 0 || v > int64(most) {
			fail(op, []*Tensor{x, lengths}, "%s %d is %d; want 0 to %d", what, n, v, most)
		}
		out[n] = int(v)
	}
	return out
}

// ctcLabels returns the targets of each sample with blanks around their elements.
func ctcLabels(op string, x, targets, targetLengths *Tensor, blank int) [][]int {
	batch := x.shape[1]
	if targets.dtype.IsFloat() || targets.dtype == Bool || len(targets.shape) > 2 || len(targets.shape) == 0 || len(targets.shape) == 2 && targets.shape[0] != batch {
		failDType(op, []*Tensor{x, targets}, "targets do not match the input; want integers (%d, longest), or one vector of all targets", batch)
	}
	lengths := ctcLengths(op, "target length", x, targetLengths, targets.shape[len(targets.shape)-1])
	start := make([]int, batch)
	sum := 0
	for n := range start {
		if start[n] = sum; len(targets.shape) == 2 {
			start[n] = n * targets.shape[1]
		}
		sum += lengths[n]
	}
	if len(targets.shape) == 1 && sum != targets.shape[0] {
		fail(op, []*Tensor{x, targets}, "the target lengths add up to %d; want %d, the size of the targets", sum, targets.shape[0])
	}
	all := targets.Int64s()
	labels := make([][]int, batch)
	for n := range labels {
		labels[n] = []int{blank}
		for i, class := range all[start[n] : start[n]+lengths[n]] {
			if class < 0 || class >= int64(x.shape[2]) {
				fail(op, []*Tensor{x, targets}, "element %d of target %d is %d; want a class from 0 to %d", i, n, class, x.shape[2]-1)
			}
			labels[n] = append(labels[n], int(class), blank)
		}
	}
	return labels
}
