package tensor

import (
	"math"

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
