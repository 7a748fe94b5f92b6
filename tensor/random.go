package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"halfnote/tensor/driver"
)

// Generator produces the random numbers of torch's CPU generator for the same seed. It is safe
// for concurrent use; each call draws its numbers without interruption. It is torch.Generator.
type Generator struct {
	mu   sync.Mutex
	mt   twister
	seed int64
	next float64 // saved second number of a normal pair
	left bool
}

// NewGenerator returns a generator with the given seed, of which the low 32 bits are used.
func NewGenerator(seed int64) *Generator {
	g := &Generator{}
	g.ManualSeed(seed)
	return g
}

// ManualSeed restarts g with the given seed. It is torch.Generator.manual_seed.
func (g *Generator) ManualSeed(seed int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mt.seed(uint32(seed))
	g.seed = seed
	g.left = false
}

// generator is the default generator, torch's default_generator, with torch's initial seed.
var generator = NewGenerator(67280421310721)

// ManualSeed restarts the default generator, which Rand, Randn and new layers use, with the
// given seed. It is torch.manual_seed.
func ManualSeed(seed int64) { generator.ManualSeed(seed) }

// Rand returns float32 numbers uniform on [0, 1). It is torch.rand.
func Rand(shape ...int) *Tensor { return generator.Rand(shape...) }

// Randn returns float32 numbers from the standard normal distribution. It is torch.randn.
func Randn(shape ...int) *Tensor { return generator.Randn(shape...) }

// Normal returns normally distributed float32 numbers. It is torch.empty(shape).normal_(mean,
// std).
func Normal(mean, std float64, shape ...int) *Tensor {
	return generator.Normal(mean, std, shape...)
}

// Bernoulli returns float32 numbers, each 1 with probability p, otherwise 0. It is
// torch.Tensor.bernoulli_.
func Bernoulli(p float64, shape ...int) *Tensor { return generator.Bernoulli(p, shape...) }

// Randint returns int64 numbers from low up to, not including, high. It is torch.randint.
func Randint(low, high int, shape ...int) *Tensor { return generator.Randint(low, high, shape...) }

// Randperm returns the numbers 0 to n-1 in random order, as int64. It is torch.randperm.
func Randperm(n int) *Tensor { return FromInts(generator.Perm(n), n) }

// Uniform returns float32 numbers uniform on [low, high). It is
// torch.empty(shape).uniform_(low, high).
func Uniform(low, high float64, shape ...int) *Tensor { return generator.Uniform(low, high, shape...) }

// Rand returns float32 numbers uniform on [0, 1). It is torch.rand.
func (g *Generator) Rand(shape ...int) *Tensor { return g.Uniform(0, 1, shape...) }

// Uniform returns float32 numbers uniform on [low, high). It is
// torch.empty(shape).uniform_(low, high).
func (g *Generator) Uniform(low, high float64, shape ...int) *Tensor {
	drawing("rand")
	t := unsetTensor(here(), Float32, checkShape("rand", shape))
	data := hostSlice[float32]("rand", t.Numel())
	g.mu.Lock()
	defer g.mu.Unlock()
	lo, width := float64(float32(low)), float64(float32(high)-float32(low))
	for i := range data {
		pollAt(i)
		data[i] = float32(float64(g.uniform24()*width) + lo)
	}
	return setContents(t, data)
}

// UniformAssign fills t with numbers uniform on [low, high), drawn as float32 in the order of
// t's elements in memory, and returns t. It is torch.Tensor.uniform_.
func (t *Tensor) UniformAssign(low, high float64) *Tensor {
	t.given("uniform")
	return t.Assign(t.drawn(func(shape []int) *Tensor { return Uniform(low, high, shape...) }))
}

// Randn returns float32 numbers from the standard normal distribution. It is torch.randn.
func (g *Generator) Randn(shape ...int) *Tensor { return g.Normal(0, 1, shape...) }

// Bernoulli returns float32 numbers, each 1 with probability p, otherwise 0. It panics unless p
// is from 0 to 1. It is torch.Tensor.bernoulli_.
func (g *Generator) Bernoulli(p float64, shape ...int) *Tensor {
	if !(p >= 0 && p <= 1) {
		panic(named(&Error{Op: "bernoulli", Why: fmt.Sprintf("the probability is %v; want a number from 0 to 1", p)}))
	}
	return convert(g.mask(p, checkShape("bernoulli", shape)), Float32)
}

// maskOn is mask on a backend. A backend that draws masks itself gets a key drawn from g.
func (g *Generator) maskOn(b driver.Backend, p float64, shape []int) *Tensor {
	if !b.Offers(driver.Bernoulli, Bool) {
		return g.mask(p, shape).ToDevice(Device(b.Name()))
	}
	return g.key().mask(b, p, shape)
}

// maskKey is the key from which backends draw masks.
type maskKey struct{ low, high uint32 }

func (g *Generator) key() maskKey {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maskKey{g.mt.next(), g.mt.next()}
}

func (k maskKey) mask(b driver.Backend, p float64, shape []int) *Tensor {
	t := unsetTensor(b, Bool, shape)
	run(driver.Kernel{Code: driver.Bernoulli, Params: driver.BernoulliParams{P: p, Key: [2]uint32{k.low, k.high}}}, t)
	return t
}

// bits packs the elements of mask into int32, 32 along the last axis in each.
func (k maskKey) bits(b driver.Backend, p float64, shape []int) *Tensor {
	last := len(shape) - 1
	t := unsetTensor(b, Int32, slices.Concat(shape[:last], []int{(shape[last] + 31) / 32}))
	run(driver.Kernel{Code: driver.BernoulliBits, Params: driver.BernoulliParams{P: p, Key: [2]uint32{k.low, k.high}, Row: shape[last]}}, t)
	return t
}

// mask returns bool elements, each true with probability p, from the same draws as Bernoulli.
func (g *Generator) mask(p float64, shape []int) *Tensor {
	drawing("bernoulli")
	t := unsetTensor(here(), Bool, shape)
	data := hostSlice[byte]("bernoulli", t.Numel())
	g.mu.Lock()
	defer g.mu.Unlock()
	limit := uint64(math.Ceil(p * (1 << 53)))
	for rest := data; len(rest) > 0; {
		driver.Poll()
		n := min(len(rest), 1<<16)
		g.mt.below(limit, rest[:n])
		rest = rest[n:]
	}
	return setContents(t, data)
}

// Randint returns int64 numbers from low up to, not including, high. It panics unless low <
// high. It is torch.randint.
func (g *Generator) Randint(low, high int, shape ...int) *Tensor {
	if low >= high {
		panic(named(&Error{Op: "randint", Why: fmt.Sprintf("low is %d and high is %d; want low < high", low, high)}))
	}
	drawing("randint")
	shape = checkShape("randint", shape)
	data := hostSlice[int64]("randint", size(shape))
	width := uint64(high) - uint64(low)
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range data {
		pollAt(i)
		r := uint64(g.mt.next())
		if width >= 1<<28 { // torch draws twice for wide ranges
			r = r<<32 | uint64(g.mt.next())
		}
		data[i] = int64(uint64(low) + r%width)
	}
	return setContents(unsetTensor(CPU.backend(), Int64, shape), data).brought()
}

// Perm returns the numbers 0 to n-1 in random order. It is torch.randperm.
func (g *Generator) Perm(n int) []int {
	drawing("randperm")
	p := hostSlice[int]("randperm", n)
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range p {
		pollAt(i)
		p[i] = i
	}
	for i := range max(n-1, 0) {
		pollAt(i)
		j := i + int(g.mt.next()%uint32(n-i))
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// uniform24 returns a number below 1 with 24 random bits, as torch draws for float32.
func (g *Generator) uniform24() float64 { return float64(g.mt.next()&(1<<24-1)) * 0x1p-24 }

// uniform53 returns a number below 1 with 53 random bits, as torch draws for float64.
func (g *Generator) uniform53() float64 {
	hi := uint64(g.mt.next())
	return float64((hi<<32|uint64(g.mt.next()))&(1<<53-1)) * 0x1p-53
}

// DefaultGenerator returns the generator of Rand, Randn and new layers, which ManualSeed
// restarts. It is torch.default_generator.
func DefaultGenerator() *Generator { return generator }

// Float64 returns a number uniform on [0, 1). It is torch.rand((), dtype=torch.float64).
func (g *Generator) Float64() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.uniform53()
}

// Int63 returns a non-negative integer. It is torch.empty((), dtype=torch.int64).random_().
func (g *Generator) Int63() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	hi := int64(g.mt.next())
	return (hi<<32 | int64(g.mt.next())) & math.MaxInt64
}

// stateSize and the offsets are those of torch's CPUGeneratorImplState, in
// aten/src/ATen/CPUGeneratorImpl.cpp: a seed, the engine's position and words, and the saved
// second number of a normal pair.
const (
	stateSize   = 5056
	atSeed      = 0
	atLeft      = 8
	atSeeded    = 12
	atNext      = 16
	atWords     = 24
	atNormal    = 5024 // saved second number of a normal pair
	atHasNormal = 5040
)

// State returns g's state as a vector of uint8, byte for byte PyTorch's. It is
// torch.Generator.get_state.
func (g *Generator) State() *Tensor {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := make([]byte, stateSize)
	n := len(g.mt.state)
	binary.LittleEndian.PutUint64(p[atSeed:], uint64(g.seed))
	next, left := g.mt.i, n+1-g.mt.i
	if g.mt.fresh {
		next = 0
	}
	binary.LittleEndian.PutUint32(p[atLeft:], uint32(left))
	binary.LittleEndian.PutUint32(p[atSeeded:], 1)
	binary.LittleEndian.PutUint64(p[atNext:], uint64(next))
	for i, w := range g.mt.state {
		binary.LittleEndian.PutUint64(p[atWords+8*i:], uint64(w))
	}
	if g.left {
		binary.LittleEndian.PutUint64(p[atNormal:], math.Float64bits(g.next))
		p[atHasNormal] = 1
	}
	return FromBytes(Uint8, p)
}

// SetState restores a State. It panics, and leaves g unchanged, if state is not valid. It is
// torch.Generator.set_state.
func (g *Generator) SetState(state *Tensor) {
	given("set_state", state)
	if state.dtype != Uint8 || len(state.shape) != 1 || state.shape[0] != stateSize {
		panic(named(&Error{Op: "set_state", Shapes: [][]int{state.shape}, DTypes: []DType{state.dtype}, Why: fmt.Sprintf("want a vector of %d uint8 elements from State", stateSize)}))
	}
	p := compact(state).bytes()
	left, next := int(binary.LittleEndian.Uint32(p[atLeft:])), int(binary.LittleEndian.Uint32(p[atNext:]))
	m := twister{i: next, fresh: next == 0}
	n := len(m.state)
	if m.fresh {
		m.i = n
	}
	if m.i < 1 || m.i > n || left != n+1-m.i {
		panic(named(&Error{Op: "set_state", Why: fmt.Sprintf("the state is inconsistent: next is %d and left is %d; their sum must be %d", next, left, n+1)}))
	}
	for i := range m.state {
		m.state[i] = binary.LittleEndian.Uint32(p[atWords+8*i:])
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mt, g.seed = m, int64(binary.LittleEndian.Uint64(p[atSeed:]))
	g.left, g.next = p[atHasNormal] != 0, math.Float64frombits(binary.LittleEndian.Uint64(p[atNormal:]))
}
