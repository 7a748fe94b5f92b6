package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
)

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
		panic(&Error{Op: "set_state", Shapes: [][]int{state.shape}, DTypes: []DType{state.dtype}, Why: fmt.Sprintf("want a vector of %d uint8 elements from State", stateSize)})
	}
	p := compact(state).bytes()
	left, next := int(binary.LittleEndian.Uint32(p[atLeft:])), int(binary.LittleEndian.Uint32(p[atNext:]))
	m := twister{i: next, fresh: next == 0}
	n := len(m.state)
	if m.fresh {
		m.i = n
	}
	if m.i < 1 || m.i > n || left != n+1-m.i {
		panic(&Error{Op: "set_state", Why: fmt.Sprintf("the state is inconsistent: next is %d and left is %d; their sum must be %d", next, left, n+1)})
	}
	for i := range m.state {
		m.state[i] = binary.LittleEndian.Uint32(p[atWords+8*i:])
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mt, g.seed = m, int64(binary.LittleEndian.Uint64(p[atSeed:]))
	g.left, g.next = p[atHasNormal] != 0, math.Float64frombits(binary.LittleEndian.Uint64(p[atNormal:]))
}
