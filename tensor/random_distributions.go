package tensor

import (
	"fmt"
	"math"
	"sort"

	"halfnote/tensor/internal/elementary"
)

// Normal returns normally distributed float32 numbers. 16 or more are bit-identical to
// PyTorch's builds for AVX2 and AVX-512; compared with other builds, or for fewer numbers, the
// last bit sometimes differs. It is torch.empty(shape).normal_(mean, std).
func (g *Generator) Normal(mean, std float64, shape ...int) *Tensor {
	return g.normals(mean, std, true, shape)
}

// NormalAssign fills t with normally distributed numbers, drawn as float32 in the order of t's
// elements in memory, and returns t. It is torch.Tensor.normal_.
func (t *Tensor) NormalAssign(mean, std float64) *Tensor {
	t.given("normal")
	rows := t.IsContiguous()
	return t.Assign(t.drawn(func(shape []int) *Tensor { return generator.normals(mean, std, rows, shape) }))
}

// normals is Normal for a tensor that may not be contiguous. For one that is not, torch draws
// as for fewer than 16 numbers.
func (g *Generator) normals(mean, std float64, rows bool, shape []int) *Tensor {
	drawing("normal")
	t := unsetTensor(here(), Float32, checkShape("normal", shape))
	data := hostSlice[float32]("normal", t.Numel())
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(data) < 16 || !rows {
		for i := range data {
			pollAt(i)
			data[i] = float32(float64(g.normal()*std) + mean)
		}
		return setContents(t, data)
	}
	// Blocks of 16, in place. A short last block is drawn again and overlaps the block before
	// (normal_fill in aten/src/ATen/native/cpu/DistributionTemplates.h).
	for i := range data {
		pollAt(i)
		data[i] = float32(g.uniform24())
	}
	for i := 0; i+16 <= len(data); i += 16 {
		pollAt(i)
		boxMuller(data[i:i+16], float32(mean), float32(std))
	}
	if len(data)%16 != 0 {
		row := data[len(data)-16:]
		for i := range row {
			row[i] = float32(g.uniform24())
		}
		boxMuller(row, float32(mean), float32(std))
	}
	return setContents(t, data)
}

// normal returns one of a pair of normal numbers, as does torch's normal_distribution in
// ATen/core/DistributionsHelper.h.
func (g *Generator) normal() float64 {
	if g.left {
		g.left = false
		return g.next
	}
	u1, u2 := g.uniform53(), g.uniform53()
	radius := math.Sqrt(-2 * elementary.Log1p(-u2))
	angle := 2 * math.Pi * u1
	g.next, g.left = radius*elementary.Sin(angle), true
	return radius * elementary.Cos(angle)
}

// boxMuller transforms 16 numbers uniform on [0, 1) into normal ones, by G. Box and M. Muller,
// "A note on the generation of random normal deviates", Annals of Mathematical Statistics 29
// (1958). It rounds where normal_fill_AVX2 does.
func boxMuller(row []float32, mean, std float32) {
	for j := range 8 {
		radius := float32(math.Sqrt(float64(-2 * log32(1-row[j]))))
		sin, cos := sincos32(row[j+8] * float32(2*math.Pi))
		row[j] = fma32(float32(radius*cos), std, mean)
		row[j+8] = fma32(float32(radius*sin), std, mean)
	}
}

// fma32 returns a b + c, rounded once.
func fma32(a, b, c float32) float32 { return float32(float64(a)*float64(b) + float64(c)) }

// log32 is the logarithm of a normal float32, and sincos32 the sine and cosine of a
// non-negative one. They are those of S. Moshier's Cephes library in float32, fused as in
// PyTorch's builds (aten/src/ATen/native/cpu/avx_mathfun.h, after J. Pommier's sse_mathfun).
func log32(x float32) float32 {
	b := math.Float32bits(x)
	e := float32(int32(b>>23) - 126)
	x = math.Float32frombits(b&^0x7f800000 | 0x3f000000) // in [0.5, 1)
	if x < math.Sqrt2/2 {
		e--
		x = float32(x-1) + x
	} else {
		x--
	}
	z := float32(x * x)
	y := float32(7.0376836292e-2)
	for _, c := range [...]float32{
		-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
		-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
	} {
		y = fma32(y, x, c)
	}
	y = fma32(float32(y*x), z, float32(e*-2.12194440e-4))
	return fma32(e, 0.693359375, x+(y-float32(z*0.5)))
}

func sincos32(x float32) (sin, cos float32) {
	octant := (int32(float32(x*1.27323954473516)) + 1) &^ 1 // of 4/π x
	y := float32(octant)
	for _, c := range [...]float32{-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8} { // π/4 in parts
		x = fma32(y, c, x)
	}
	z := float32(x * x)
	c := fma32(2.443315711809948e-5, z, -1.388731625493765e-3)
	c = float32(fma32(c, z, 4.166664568298827e-2) * z)
	c = fma32(c, z, -float32(z*0.5)) + 1
	s := fma32(-1.9515295891e-4, z, 8.3321608736e-3)
	s = float32(fma32(s, z, -1.6666654611e-1) * z)
	s = fma32(s, x, x)
	if octant&2 != 0 {
		s, c = c, s
	}
	if octant&4 != 0 {
		s = -s
	}
	if (octant-2)&4 == 0 {
		c = -c
	}
	return s, c
}

// Exponential returns float32 numbers from the exponential distribution with the given rate. It
// is torch.Tensor.exponential_.
func Exponential(rate float64, shape ...int) *Tensor { return generator.Exponential(rate, shape...) }

// Exponential returns float32 numbers from the exponential distribution with the given rate.
// They are those of torch.Tensor.exponential_, up to the last bit of a logarithm.
func (g *Generator) Exponential(rate float64, shape ...int) *Tensor {
	if !(rate > 0) {
		panic(named(&Error{Op: "exponential", Why: fmt.Sprintf("the rate is %v; want a positive number", rate)}))
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
