package tensor

import (
	"fmt"
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// dropout is scale x where the mask is true and 0 x elsewhere. The mask broadcasts to x.
type dropout struct{ scale float64 }

func (dropout) Info() Info {
	return info("dropout", "torch.nn.functional.dropout", SavesIndices)
}
func (o dropout) Forward(in []*Tensor) *Tensor {
	if d := in[0].dtype; in[0].mem.backend.Offers(driver.Dropout, d, d, in[1].dtype) {
		y := unsetTensor(in[0].mem.backend, d, in[0].shape)
		runBroadcast(driver.Kernel{Code: driver.Dropout, Alpha: o.scale}, y, in...)
		return y
	}
	x := wide(in[0])
	m := affineOf(convert(in[1], x.dtype), o.scale, 0)
	y := pairwise("dropout", driver.Mul, x, m)
	release(m)
	if x != in[0] {
		release(x)
	}
	return narrow(y, in[0].dtype)
}
func (o dropout) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(o, dy, in[1]), nil}
}

// alphaDropout is scale x + high where the mask is true and 0 x + low elsewhere.
type alphaDropout struct{ scale, high, low float64 }

func (alphaDropout) Info() Info {
	return info("alpha_dropout", "torch.nn.functional.alpha_dropout", SavesIndices)
}
func (o alphaDropout) Forward(in []*Tensor) *Tensor {
	y := (dropout{o.scale}).Forward([]*Tensor{wide(in[0]), in[1]})
	b := affineOf(convert(in[1], y.dtype), o.high-o.low, o.low)
	runBroadcast(driver.Kernel{Code: driver.Add}, y, y, b)
	return narrow(y, in[0].dtype)
}
func (o alphaDropout) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(dropout{o.scale}, dy, in[1]), nil}
}

// Dropout returns t with each element set to 0 with probability p and otherwise divided by
// 1-p, or t itself unless training is set. The mask is drawn by the generator that ManualSeed
// seeds. On the CPU it is torch's mask; on a GPU it differs from torch's. It panics unless p
// is from 0 to 1. It is torch.nn.functional.dropout.
func Dropout(t *Tensor, p float64, training bool) *Tensor {
	t.given("dropout")
	return t.dropped("dropout", p, training, nil, func(m *Tensor) *Tensor { return t.dropoutBy(p, m) })
}

// FeatureDropout is Dropout of whole features: for each n and c all elements (n, c, …) are
// dropped together. It is torch.feature_dropout, which is torch.nn.functional.dropout1d,
// dropout2d and dropout3d.
func FeatureDropout(t *Tensor, p float64, training bool) *Tensor {
	return t.dropped("feature_dropout", p, training, t.features("feature_dropout"), func(m *Tensor) *Tensor { return t.dropoutBy(p, m) })
}

// AlphaDropout is Dropout that preserves mean 0 and variance 1 of SELU's results: G.
// Klambauer and others, "Self-Normalizing Neural Networks" (2017). It is
// torch.nn.functional.alpha_dropout.
func AlphaDropout(t *Tensor, p float64, training bool) *Tensor {
	t.given("alpha_dropout")
	return t.dropped("alpha_dropout", p, training, nil, func(m *Tensor) *Tensor { return t.alphaDropoutBy(p, m) })
}

// FeatureAlphaDropout is AlphaDropout of whole features, like [FeatureDropout]. It is
// torch.nn.functional.feature_alpha_dropout.
func FeatureAlphaDropout(t *Tensor, p float64, training bool) *Tensor {
	return t.dropped("feature_alpha_dropout", p, training, t.features("feature_alpha_dropout"), func(m *Tensor) *Tensor { return t.alphaDropoutBy(p, m) })
}

// dropped checks p and calls f with a mask of the elements to keep. The mask has the shape
// features or, if that is nil, t's shape and memory layout.
func (t *Tensor) dropped(op string, p float64, training bool, features []int, f func(mask *Tensor) *Tensor) *Tensor {
	switch {
	case !(p >= 0 && p <= 1):
		panic(named(&Error{Op: op, Shapes: [][]int{t.shape}, Why: fmt.Sprintf("p is %v; want a number from 0 to 1", p)}))
	case !t.dtype.IsFloat():
		failDType(op, []*Tensor{t}, "t has dtype %v; want a floating-point dtype", t.dtype)
	case p == 0 || !training || t.Numel() == 0:
		return t
	case p == 1:
		return t.Mul(constant(t, t.dtype, 0))
	}
	b := t.mem.backend
	draw := func(shape []int) *Tensor { return generator.maskOn(b, 1-p, shape) }
	switch {
	case features != nil:
		return f(draw(features))
	case b.Offers(driver.Bernoulli, Bool):
		return f(draw(slices.Clone(t.shape)))
	}
	return f(t.drawn(draw))
}

func (t *Tensor) dropoutBy(p float64, mask *Tensor) *Tensor {
	return apply(dropout{1 / (1 - p)}, t, mask)
}

func (t *Tensor) alphaDropoutBy(p float64, mask *Tensor) *Tensor {
	const alpha = 1.7580993408473766 // SELU's lowest value is -alpha
	a := 1 / math.Sqrt((float64(alpha*alpha*p)+1)*(1-p))
	return apply(alphaDropout{a, alpha * a * p, float64(alpha*a*p) - float64(alpha*a)}, t, mask)
}

// features returns the shape of a mask of whole features.
func (t *Tensor) features(op string) []int {
	t.given(op)
	if len(t.shape) < 2 {
		fail(op, []*Tensor{t}, "t is %d-D; want at least 2-D, (N, C, …)", len(t.shape))
	}
	shape := seq(len(t.shape))
	for d := range shape {
		shape[d] = 1
	}
	copy(shape, t.shape[:2])
	return shape
}
