package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
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

// CTCLoss is nn.CTCLoss.
func (functional) CTCLoss(t, targets, inputLengths, targetLengths *Tensor, o lossOptions) *Tensor {
	const op = "ctc_loss"
	in := []*Tensor{t, targets, inputLengths, targetLengths}
	if slices.Contains(in, nil) {
		panic(named(&Error{Op: op, Why: "an operand is nil; want log-probabilities, targets, input lengths and target lengths"}))
	}
	if len(t.shape) == 2 {
		loss := functional{}.CTCLoss(t.Unsqueeze(1), targets.Reshape(-1), inputLengths.Reshape(-1), targetLengths.Reshape(-1), o)
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

// Connectionist temporal classification: A. Graves and others, "Connectionist Temporal
// Classification: Labelling Unsegmented Sequence Data with Recurrent Neural Networks"
// (2006). Numbers of equations refer to this paper.

// ctcBatch holds the inputs of a batch's loss, except the probabilities.
type ctcBatch struct {
	labels       [][]int // labels of each sample: the target with blanks around its elements
	times        []int   // number of time steps of each sample
	zeroInfinity bool
}

// target returns the length of the target of sample n.
func (b *ctcBatch) target(n int) int { return len(b.labels[n]) / 2 }

// ctcTable holds the numbers of a tensor (times, batch, classes).
type ctcTable struct {
	data           []float64
	batch, classes int
}

func newCTCTable(x *Tensor) ctcTable {
	return ctcTable{convert(x, Float64).Float64s(), x.shape[1], x.shape[2]}
}

// of returns the rows of sample n by time.
func (t ctcTable) of(n int) func(time int) []float64 {
	return func(time int) []float64 {
		at := (time*t.batch + n) * t.classes
		return t.data[at : at+t.classes]
	}
}

// ctcSample is one sample: its log-probabilities by time and, for a directional derivative,
// their tangent, or nil.
type ctcSample struct {
	labels       []int
	times        int
	logs, change func(time int) []float64
}

func (b *ctcBatch) sample(n int, logs ctcTable) ctcSample {
	return ctcSample{labels: b.labels[n], times: b.times[n], logs: logs.of(n)}
}

// reversed returns the sample read backwards, which turns backward variables into forward ones.
func (s ctcSample) reversed() ctcSample {
	back := func(f func(int) []float64) func(int) []float64 {
		if f == nil {
			return nil
		}
		return func(time int) []float64 { return f(s.times - 1 - time) }
	}
	labels := slices.Clone(s.labels)
	slices.Reverse(labels)
	return ctcSample{labels, s.times, back(s.logs), back(s.change)}
}

// ctcRow holds, for each label at one time, the log-probability of all paths that end there,
// and its change along the direction.
type ctcRow struct{ log, change []float64 }

func (r ctcRow) clone() ctcRow { return ctcRow{slices.Clone(r.log), slices.Clone(r.change)} }

// step computes the row of time from that of time-1: equations 6 and 7.
func (s ctcSample) step(r ctcRow, time int) {
	driver.Poll()
	logs := s.logs(time)
	for i := len(s.labels) - 1; i >= 0; i-- {
		first := max(i-1, 0)
		if i > 1 && s.labels[i] != s.labels[i-2] {
			first = i - 2
		}
		log, change := math.Inf(-1), 0.0
		if time > 0 {
			log, change = r.join(first, i)
		} else if i < 2 {
			log = 0
		}
		r.log[i] = log + logs[s.labels[i]]
		if s.change != nil {
			r.change[i] = change + s.change(time)[s.labels[i]]
		}
	}
}

// join returns the logarithm of the summed probabilities from first to last, and its change.
func (r ctcRow) join(first, last int) (log, change float64) {
	top := r.log[first]
	for _, x := range r.log[first+1 : last+1] {
		top = max(top, x)
	}
	if math.IsInf(top, -1) {
		return top, 0
	}
	sum, weighted := 0.0, 0.0
	for i := first; i <= last; i++ {
		p := 1.0
		if x := r.log[i]; x != top {
			p = elementary.Exp(x - top)
		}
		sum += p
		if r.change != nil && p > 0 {
			weighted += float64(p * r.change[i])
		}
	}
	return top + elementary.Log(sum), weighted / sum
}

// blank returns the row before the first time.
func (s ctcSample) blank() ctcRow {
	r := ctcRow{log: make([]float64, len(s.labels))}
	if s.change != nil {
		r.change = make([]float64, len(s.labels))
	}
	return r
}

// loss returns the negative log-probability of the target, equation 8, its change, and, if
// requested, the first row of each block of times.
func (s ctcSample) loss(block int) (loss, change float64, starts []ctcRow) {
	if s.times == 0 && len(s.labels) == 1 {
		return 0, 0, nil
	} else if s.times == 0 {
		return math.Inf(1), 0, nil
	}
	r := s.blank()
	for time := range s.times {
		s.step(r, time)
		if block > 0 && time%block == 0 {
			starts = append(starts, r.clone())
		}
	}
	last := len(s.labels) - 1
	log, change := r.join(max(last-1, 0), last)
	return -log, -change, starts
}

// rows calls f with the rows of each time, last to first. It recomputes each block from its
// first row.
func (s ctcSample) rows(block int, starts []ctcRow, f func(time int, r ctcRow)) {
	for k, start := range slices.Backward(starts) {
		rows := []ctcRow{start}
		for time := k*block + 1; time < min((k+1)*block, s.times); time++ {
			next := rows[len(rows)-1].clone()
			s.step(next, time)
			rows = append(rows, next)
		}
		for i, r := range slices.Backward(rows) {
			f(k*block+i, r)
		}
	}
}

// gradient sets out to weight times the gradient of the loss with respect to the
// log-probabilities, equation 16. As in torch, they must come from log_softmax, whose
// derivative passes the gradient through unchanged. With a direction it computes the change of
// that gradient. It stores about the square root of the number of rows.
func (s ctcSample) gradient(weight float64, zeroInfinity bool, out func(time int) []float64) {
	block := int(math.Ceil(math.Sqrt(float64(s.times))))
	loss, change, starts := s.loss(block)
	if zeroInfinity && math.IsInf(loss, 1) {
		return
	}
	back := s.reversed()
	beta := back.blank()
	s.rows(block, starts, func(time int, alpha ctcRow) {
		back.step(beta, s.times-1-time)
		row, p := out(time), s.logs(time)
		s.occupancy(row, p, alpha, beta, loss, change, time)
		for class, own := range row {
			all := elementary.Exp(p[class])
			if s.change != nil {
				all = float64(all * s.change(time)[class])
			}
			row[class] = (all - own) * weight
		}
	})
}

// occupancy sets row to the probability that a path is in each class at time, or to its change.
// If no path is possible the values are NaN.
func (s ctcSample) occupancy(row, p []float64, alpha, beta ctcRow, loss, change float64, time int) {
	if math.IsInf(loss, 1) {
		for class := range row {
			row[class] = math.NaN()
		}
		return
	}
	last := len(s.labels) - 1
	for i, class := range s.labels {
		both := alpha.log[i] + beta.log[last-i]
		if math.IsInf(both, -1) {
			continue
		}
		own := elementary.Exp(both + loss - p[class])
		if s.change != nil {
			own = float64(own * (alpha.change[i] + beta.change[last-i] + change - s.change(time)[class]))
		}
		row[class] += own
	}
}
