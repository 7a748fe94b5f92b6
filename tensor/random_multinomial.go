package tensor

import (
	"fmt"
	"math"
	"sort"

	"halfnote/tensor/internal/elementary"
)

// Exponential returns float32 numbers from the exponential distribution with the given rate. It
// is torch.Tensor.exponential_.
func Exponential(rate float64, shape ...int) *Tensor { return generator.Exponential(rate, shape...) }

// Exponential returns float32 numbers from the exponential distribution with the given rate.
// They are those of torch.Tensor.exponential_, up to the last bit of a logarithm.
func (g *Generator) Exponential(rate float64, shape ...int) *Tensor {
	if !(rate > 0) {
		panic(&Error{Op: "exponential", Why: fmt.Sprintf("the rate is %v; want a positive number", rate)})
	}
	drawing("exponential")
	t := unsetTensor(here(), Float64, checkShape("exponential", shape))
	data := hostSlice[float64]("exponential", t.Numel())
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range data {
		pollAt(i)
		data[i] = -elementary.Log1p(-g.uniform53()) / rate
	}
	return t.setFloat64s(data).To(Float32)
}

// Multinomial draws numSamples int64 positions per row of t, a vector or matrix of weights,
// with probabilities proportional to the weights. Without replacement it draws each position at
// most once. It is torch.multinomial.
func (t *Tensor) Multinomial(numSamples int, replacement bool) *Tensor {
	t.given("multinomial")
	return generator.Multinomial(t, numSamples, replacement)
}

// Multinomial is [Tensor.Multinomial] with numbers from g. It uses torch's draws
// (aten/src/ATen/native/Distributions.cpp and native/cpu/MultinomialKernel.cpp).
func (g *Generator) Multinomial(t *Tensor, numSamples int, replacement bool) *Tensor {
	given("multinomial", t)
	if rank := len(t.shape); rank < 1 || rank > 2 || !t.dtype.IsFloat() {
		fail("multinomial", []*Tensor{t}, "input has rank %d and dtype %v; want a vector or matrix of floating-point weights", rank, t.dtype)
	}
	classes := t.shape[len(t.shape)-1]
	if numSamples < 1 || !replacement && numSamples > classes {
		fail("multinomial", []*Tensor{t}, "cannot draw %d of %d categories with replacement %v; want at least 1, and without replacement at most the number of categories", numSamples, classes, replacement)
	}
	weights := t.Detach().Float64s()
	for row := 0; row < len(weights); row += classes {
		sum := 0.0
		for i, w := range weights[row : row+classes] {
			pollAt(row + i)
			if !(w >= 0) || math.IsInf(w, 1) {
				fail("multinomial", []*Tensor{t}, "weight %v%s is invalid; want finite numbers of at least 0", w, placeIn(t.shape, row+i))
			}
			sum += w
		}
		if sum == 0 {
			fail("multinomial", []*Tensor{t}, "the weights%s sum to 0; want a positive sum", placeIn(t.shape, row))
		}
	}
	if replacement && numSamples > 1 {
		return g.draw(t, weights, numSamples)
	}
	// For exponential q, w[i]/q is largest at i with probability w[i] over the sum.
	ratio := t.Detach().Div(t.drawn(func(shape []int) *Tensor {
		return g.Exponential(1, shape...).To(t.dtype).ToDevice(t.Device())
	}))
	if numSamples == 1 {
		return ratio.KeepDim().Argmax(-1)
	}
	_, indices := ratio.TopK(numSamples, -1)
	return indices.Contiguous()
}

// draw searches the cumulative sums of each row's weights for random numbers.
func (g *Generator) draw(t *Tensor, weights []float64, n int) *Tensor {
	shape := t.Shape()
	classes := shape[len(shape)-1]
	shape[len(shape)-1] = n
	total := size(checkShape("multinomial", shape))
	round := func(x float64) float64 { return float64(float32(x)) }
	if t.dtype == Float64 {
		round = func(x float64) float64 { return x }
	}
	out := hostSlice[int64]("multinomial", total)[:0]
	sums := hostSlice[float64]("multinomial", classes)
	g.mu.Lock()
	defer g.mu.Unlock()
	for row := 0; row < len(weights); row += classes {
		sum := 0.0
		for i, w := range weights[row : row+classes] {
			pollAt(row + i)
			sum = round(sum + w)
			sums[i] = sum
		}
		for i, s := range sums {
			pollAt(row + i)
			sums[i] = round(s / sum)
		}
		sums[classes-1] = 1
		for range n {
			pollAt(len(out))
			u := g.uniform53()
			out = append(out, int64(sort.Search(classes, func(i int) bool { return sums[i] >= u })))
		}
	}
	return FromInt64s(out, shape...).ToDevice(t.Device())
}
