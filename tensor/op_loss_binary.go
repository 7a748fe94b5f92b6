package tensor

import "halfnote/tensor/driver"

// Losses of the probabilities of two classes. Operands are input, target and the weights, if
// any.

type binaryCrossEntropy struct {
	reduction
	weighted bool
}

func (binaryCrossEntropy) Info() Info {
	return info("binary_cross_entropy", "torch.nn.functional.binary_cross_entropy", SavesOperands)
}
func (binaryCrossEntropy) promotes() {}
func (l binaryCrossEntropy) Forward(in []*Tensor) *Tensor {
	return compose(func(in []*Tensor) *Tensor {
		x, target := in[0], in[1]
		log, logRest := boundedLogs(x)
		y := target.AddScalar(-1).Mul(logRest).Sub(target.Mul(log))
		if l.weighted {
			y = y.Mul(in[2])
		}
		return l.of(y)
	}, in)
}
func (l binaryCrossEntropy) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	d := wideOf(in[0].dtype)
	x, target := in[0].To(d), in[1].To(d)
	g := l.share(dy.To(d), 1, x.Numel())
	if l.weighted {
		g = g.Mul(in[2].To(d))
	}
	out := make([]*Tensor, len(in))
	if in[0].RequiresGrad() {
		// The divisor must not be 0 at x = 0 and x = 1, where the logarithms are clamped.
		divisor := x.Mul(x.Neg().AddScalar(1)).Maximum(constant(x, d, 1e-12))
		out[0] = g.Mul(x.Sub(target)).Div(divisor)
	}
	if in[1].RequiresGrad() {
		log, logRest := boundedLogs(x)
		out[1] = g.Mul(logRest.Sub(log)).sumTo(in[1])
	}
	return out
}

// boundedLogs returns log(x) and log(1-x), at least -100.
func boundedLogs(x *Tensor) (log, logRest *Tensor) {
	bound := constant(x, x.dtype, -100)
	return x.Log().Maximum(bound), x.Neg().Log1p().Maximum(bound)
}

// BinaryCrossEntropy is nn.BinaryCrossEntropy.
func (functional) BinaryCrossEntropy(t, target *Tensor, o lossOptions) *Tensor {
	const op = "binary_cross_entropy"
	sameShape(op, t, target)
	if t.Numel() > 0 && t.dtype.IsFloat() {
		for _, c := range []driver.Code{driver.ReduceMin, driver.ReduceMax} {
			if x := reduce(c, t, seq(len(t.shape)), t.dtype).Item(); !(x >= 0 && x <= 1) {
				fail(op, []*Tensor{t, target}, "the input contains %v; want probabilities from 0 to 1, such as Sigmoid returns", x)
			}
		}
	}
	in := []*Tensor{t, target}
	if o.Weight != nil {
		in = append(in, withoutGradient(op, weightOf(op, o.Weight, t)))
	}
	return apply(binaryCrossEntropy{elements(o, op), o.Weight != nil}, in...)
}

// weightOf returns w. It panics unless w broadcasts to x's shape.
func weightOf(op string, w, x *Tensor) *Tensor {
	if s, ok := broadcastShapes(w.shape, x.shape); !ok || size(s) != size(x.shape) {
		fail(op, []*Tensor{w, x}, "cannot broadcast weight %s to the input's shape %s", shapeString(w.shape), shapeString(x.shape))
	}
	return w
}

// withoutGradient returns the weight w detached. It panics if w requires a gradient, as torch
// does for losses that have no derivative with respect to the weight.
func withoutGradient(op string, w *Tensor) *Tensor {
	if w.RequiresGrad() && IsGradEnabled() {
		fail(op, []*Tensor{w}, "the weight requires a gradient, but the loss has no derivative with respect to it: use Detach")
	}
	return w.Detach()
}

type bceWithLogits struct {
	reduction
	weighted, posWeighted bool
}

func (bceWithLogits) Info() Info {
	return info("binary_cross_entropy_with_logits", "torch.nn.functional.binary_cross_entropy_with_logits", SavesOperands)
}
func (bceWithLogits) promotes() {}

// weights returns the weights of the elements and of positive targets; nil stands for 1.
func (l bceWithLogits) weights(in []*Tensor) (w, pos *Tensor) {
	in = in[2:]
	if l.weighted {
		w, in = in[0], in[1:]
	}
	if l.posWeighted {
		pos = in[0]
	}
	return w, pos
}
func (l bceWithLogits) Forward(in []*Tensor) *Tensor {
	x, target := wide(in[0]), wide(in[1])
	w, pos := l.weights(in)
	// u = -log sigmoid(x) = log(1 + exp(-|x|)) + max(-x, 0)
	u, m := unary(driver.Abs, x), affineOf(x, -1, 0)
	run(driver.Kernel{Code: driver.Affine, Alpha: -1}, u, u)
	run(driver.Kernel{Code: driver.Exp}, u, u)
	run(driver.Kernel{Code: driver.Log1p}, u, u)
	run(driver.Kernel{Code: driver.Relu}, m, m)
	run(driver.Kernel{Code: driver.Add}, u, u, m)
	if pos != nil {
		// times 1 + (pos - 1) target
		runBroadcast(driver.Kernel{Code: driver.Affine, Alpha: 1, Beta: -1}, m, wide(pos))
		run(driver.Kernel{Code: driver.Mul}, m, m, target)
		run(driver.Kernel{Code: driver.Affine, Alpha: 1, Beta: 1}, m, m)
		run(driver.Kernel{Code: driver.Mul}, u, u, m)
	}
	run(driver.Kernel{Code: driver.Affine, Alpha: -1, Beta: 1}, m, target)
	run(driver.Kernel{Code: driver.Mul}, m, m, x)
	run(driver.Kernel{Code: driver.Add}, u, u, m)
	if w != nil {
		runBroadcast(driver.Kernel{Code: driver.Mul}, u, u, wide(w))
	}
	release(m)
	if x != in[0] {
		release(x, target)
	}
	return l.reduced(u, in[0].dtype)
}
func (l bceWithLogits) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	d := wideOf(in[0].dtype)
	x, target := in[0].To(d), in[1].To(d)
	w, pos := l.weights(in)
	g := l.share(dy.To(d), 1, x.Numel())
	if w != nil {
		g = g.Mul(w.To(d))
	}
	out := make([]*Tensor, len(in))
	if in[0].RequiresGrad() {
		if pos == nil {
			out[0] = x.Sigmoid().Sub(target).Mul(g)
		} else {
			p := target.Mul(pos.To(d))
			out[0] = p.Sub(target).AddScalar(1).Mul(x.Sigmoid()).Sub(p).Mul(g)
		}
	}
	if in[1].RequiresGrad() {
		slope := x.Neg()
		if pos != nil {
			slope = slope.Sub(x.LogSigmoid().Mul(pos.To(d).AddScalar(-1)))
		}
		out[1] = slope.Mul(g)
	}
	return out
}

// BinaryCrossEntropyWithLogits is nn.BinaryCrossEntropyWithLogits.
func (functional) BinaryCrossEntropyWithLogits(t, target *Tensor, o lossOptions) *Tensor {
	const op = "binary_cross_entropy_with_logits"
	sameShape(op, t, target)
	in := []*Tensor{t, target}
	for _, w := range []*Tensor{o.Weight, o.PosWeight} {
		if w != nil {
			in = append(in, withoutGradient(op, weightOf(op, w, t)))
		}
	}
	return apply(bceWithLogits{elements(o, op), o.Weight != nil, o.PosWeight != nil}, in...)
}

type softMarginLoss struct{ reduction }

func (softMarginLoss) Info() Info {
	return info("soft_margin_loss", "torch.nn.functional.soft_margin_loss", SavesOperands)
}
func (softMarginLoss) promotes() {}
func (l softMarginLoss) f(in []*Tensor) *Tensor {
	return l.of(in[0].Mul(in[1]).LogSigmoid().Neg())
}
func (l softMarginLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l softMarginLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// SoftMarginLoss is nn.SoftMarginLoss.
func (functional) SoftMarginLoss(t, target *Tensor, o lossOptions) *Tensor {
	sameShape("soft_margin_loss", t, target)
	return apply(softMarginLoss{elements(o, "soft_margin_loss")}, t, target)
}

// MultiLabelSoftMarginLoss is nn.MultiLabelSoftMarginLoss.
func (functional) MultiLabelSoftMarginLoss(t, target *Tensor, o lossOptions) *Tensor {
	const op = "multilabel_soft_margin_loss"
	sameShape(op, t, target)
	if len(t.shape) == 0 {
		fail(op, []*Tensor{t, target}, "input and target are scalars; want classes as the last dimension")
	}
	y := target.Mul(t.LogSigmoid()).Add(target.Neg().AddScalar(1).Mul(t.Neg().LogSigmoid())).Neg()
	if o.Weight != nil {
		y = y.Mul(weightOf(op, o.Weight, t))
	}
	return elements(o, op).of(y.Sum(-1).DivScalar(float64(t.Size(-1))))
}
