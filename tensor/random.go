package tensor

import (
	"math"
	"sync"

	"halfnote/tensor/driver"
)

// Generator makes the numbers that torch's generator for the CPU makes from the
// same seed, up to the last bit of a logarithm or cosine. It is torch.Generator,
// and safe for use by several goroutines at once, each call taking its numbers in
// one piece.
type Generator struct {
	mu   sync.Mutex
	mt   twister
	next float64 // a normal number left over
	left bool
}

// NewGenerator returns a generator with a seed, of which the low 32 bits count.
func NewGenerator(seed int64) *Generator {
	g := &Generator{}
	g.ManualSeed(seed)
	return g
}

// ManualSeed starts g anew. It is torch.Generator.manual_seed.
func (g *Generator) ManualSeed(seed int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mt.seed(uint32(seed))
	g.left = false
}

// generator is what Rand and its kin draw from, as torch's default_generator; its
// seed at the start is torch's.
var generator = NewGenerator(67280421310721)

// ManualSeed starts the generator of Rand, Randn and new layers anew. It is
// torch.manual_seed.
func ManualSeed(seed int64) { generator.ManualSeed(seed) }

// Rand returns float32 numbers spread evenly over [0, 1). It is torch.rand.
func Rand(shape ...int) *Tensor { return generator.Rand(shape...) }

// Randn returns normal float32 numbers with mean 0 and variance 1. It is
// torch.randn.
func Randn(shape ...int) *Tensor { return generator.Randn(shape...) }

// Uniform returns float32 numbers spread evenly over [from, to). It is
// torch.Tensor.uniform_.
func Uniform(from, to float64, shape ...int) *Tensor { return generator.Uniform(from, to, shape...) }

// Rand returns float32 numbers spread evenly over [0, 1). It is torch.rand.
func (g *Generator) Rand(shape ...int) *Tensor { return g.Uniform(0, 1, shape...) }

// Uniform returns float32 numbers spread evenly over [from, to). It is
// torch.Tensor.uniform_.
func (g *Generator) Uniform(from, to float64, shape ...int) *Tensor {
	t := newTensor(CPU.backend(), Float32, checkShape("rand", shape))
	data := make([]float32, t.Numel())
	g.mu.Lock()
	defer g.mu.Unlock()
	lo, width := float64(float32(from)), float64(float32(to)-float32(from))
	for i := range data {
		pollAt(i)
		data[i] = float32(float64(g.uniform24()*width) + lo)
	}
	return t.setFloat32s(data)
}

// Randn returns normal float32 numbers with mean 0 and variance 1. It is
// torch.randn.
func (g *Generator) Randn(shape ...int) *Tensor {
	t := newTensor(CPU.backend(), Float32, checkShape("randn", shape))
	data := make([]float32, t.Numel())
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(data) < 16 {
		for i := range data {
			data[i] = float32(g.normal())
		}
		return t.setFloat32s(data)
	}
	// Box and Muller's transform on rows of 16, in place; a last short row is
	// drawn anew, overlapping the row before (normal_fill in
	// aten/src/ATen/native/cpu/DistributionTemplates.h).
	for i := range data {
		pollAt(i)
		data[i] = float32(g.uniform24())
	}
	for i := 0; i+16 <= len(data); i += 16 {
		pollAt(i)
		boxMuller(data[i : i+16])
	}
	if len(data)%16 != 0 {
		row := data[len(data)-16:]
		for i := range row {
			row[i] = float32(g.uniform24())
		}
		boxMuller(row)
	}
	return t.setFloat32s(data)
}

// pollAt lets an interrupt through every millisecond or so.
func pollAt(i int) {
	if i&(1<<16-1) == 0 {
		driver.Poll()
	}
}

func boxMuller(row []float32) {
	for j := range 8 {
		radius := math.Sqrt(-2 * math.Log(float64(1-row[j])))
		sin, cos := math.Sincos(2 * math.Pi * float64(row[j+8]))
		row[j], row[j+8] = float32(radius*cos), float32(radius*sin)
	}
}

// Perm returns the numbers below n in random order. It is torch.randperm.
func (g *Generator) Perm(n int) []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := seq(n)
	for i := range max(n-1, 0) {
		j := i + int(g.mt.next()%uint32(n-i))
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// uniform24 returns a number below 1 of 24 bits, as torch draws for float32.
func (g *Generator) uniform24() float64 { return float64(g.mt.next()&(1<<24-1)) * 0x1p-24 }

// uniform53 returns a number below 1 of 53 bits, as torch draws for float64.
func (g *Generator) uniform53() float64 {
	hi := uint64(g.mt.next())
	return float64((hi<<32|uint64(g.mt.next()))&(1<<53-1)) * 0x1p-53
}

// normal returns one of a pair of normal numbers, as torch's normal_distribution
// in ATen/core/DistributionsHelper.h.
func (g *Generator) normal() float64 {
	if g.left {
		g.left = false
		return g.next
	}
	u1, u2 := g.uniform53(), g.uniform53()
	radius := math.Sqrt(-2 * math.Log1p(-u2))
	sin, cos := math.Sincos(2 * math.Pi * u1)
	g.next, g.left = radius*sin, true
	return radius * cos
}

// twister is MT19937: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM
// Transactions on Modeling and Computer Simulation 8 (1998), with their seeding of
// 2002. gonum's has the same numbers, in a module of some hundred packages.
type twister struct {
	state [624]uint32
	i     int
}

func (m *twister) seed(s uint32) {
	m.state[0] = s
	for i := 1; i < len(m.state); i++ {
		s = 1812433253*(s^s>>30) + uint32(i)
		m.state[i] = s
	}
	m.i = len(m.state)
}

func (m *twister) next() uint32 {
	if m.i == len(m.state) {
		m.twist()
	}
	y := m.state[m.i]
	m.i++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *twister) twist() {
	n := len(m.state)
	for i := range m.state {
		y := m.state[i]&0x80000000 | m.state[(i+1)%n]&0x7fffffff
		m.state[i] = m.state[(i+397)%n] ^ y>>1 ^ y&1*0x9908b0df
	}
	m.i = 0
}
