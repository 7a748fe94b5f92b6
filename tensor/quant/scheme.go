package quant

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// Scheme is a way to store a tensor in few bits: [Cast], [MX], [NVFP4], [Float8] or [Int]. Schemes are values that can be compared with ==.
type Scheme interface {
	fmt.Stringer
	// plan returns how s stores tensors. The error says what is wrong with s.
	plan() (plan, error)
}

// storage is the type of the scales of blocks.
type storage uint8

const (
	noScale    storage = iota
	e8m0Scale          // one byte
	e4m3Scale          // one byte, and a float32 scale of the tensor
	floatScale         // float32
)

// plan is how a scheme stores tensors.
type plan struct {
	element    Format
	rounding   Rounding
	overflow   Overflow // of a scheme without scales
	rows, cols int      // of a block; 0 means all
	whole      bool     // the last dimension must be a multiple of cols
	repeat     bool     // each row of a block has the block's scale; the number of rows must be a multiple of rows
	scales     storage
	zeros      bool // blocks have zero points
	rule       rule
}

// blocks holds what a rule decides for some blocks.
type blocks struct {
	codes   []uint8   // scales as they are stored, if those are bytes
	scales  []float32 // scales as they are stored otherwise
	zeros   []int32   // zero points
	factors []float32 // multiply the numbers before they are rounded
	limits  []float32 // largest magnitudes after that
}

func newBlocks(n int) *blocks {
	return &blocks{make([]uint8, n), make([]float32, n), make([]int32, n), make([]float32, n), make([]float32, n)}
}

// spans holds the ranges of the numbers of some blocks: the bits of the largest magnitude and, for a rule with zero points, the smallest and the largest number, or 0.
type spans struct {
	amax   []uint32
	lo, hi []float32
}

func newSpans(n int) spans { return spans{make([]uint32, n), make([]float32, n), make([]float32, n)} }

// rule chooses scales.
type rule interface {
	// choose sets out to the scales of blocks of numbers of the given ranges. global is the factor of the tensor. What it sets for a block with an
	// infinity or NaN does not matter.
	choose(out *blocks, of spans, global float32)
}

// global is a rule with a scale of the tensor.
type global interface {
	// global returns the stored scale of a tensor with the given largest magnitude, and the factor for choose.
	global(amax float32) (scale, factor float32)
}

// grid is the division of a tensor into blocks.
type grid struct {
	plan
	height, width int // of the tensor as a matrix: all dimensions but the last, and the last
	scaleShape    []int
}

// over returns the grid of a tensor of the given shape. The error says why there is none.
func (p plan) over(shape []int) (grid, error) {
	g := grid{plan: p, height: 1}
	if len(shape) == 0 {
		return g, fmt.Errorf("the tensor has no dimensions; want at least one, for example with Unsqueeze(0)")
	}
	last := len(shape) - 1
	for _, n := range shape[:last] {
		g.height *= n
	}
	g.width = shape[last]
	if bits := p.element.Bits(); g.width*bits%8 != 0 {
		return g, fmt.Errorf("the last dimension is %d; %v is stored in whole bytes, which takes a multiple of %d", g.width, p.element, 8/gcd(bits, 8))
	}
	if p.whole && g.width%p.cols != 0 {
		return g, fmt.Errorf("the last dimension is %d; want a multiple of %d, the length of a block; x.Pad adds zeros", g.width, p.cols)
	}
	if p.repeat && g.height%p.rows != 0 {
		return g, fmt.Errorf("the tensor has %d rows; want a multiple of %d, the height of a block", g.height, p.rows)
	}
	switch {
	case p.scales == noScale || p.rows == 0 && p.cols == 0:
	case p.rows == 1 || p.repeat:
		g.scaleShape = append(slices.Clone(shape[:last]), ceil(g.width, p.cols))
	default:
		g.scaleShape = []int{ceil(g.height, p.rows), ceil(g.width, p.cols)}
	}
	return g, nil
}

// at returns the number of columns of a block, of blocks in a row, and of rows that share a scale.
func (g *grid) at() (cols, across, rows int) {
	cols, rows = g.cols, g.rows
	if cols == 0 {
		cols = max(g.width, 1)
	}
	if g.repeat {
		rows = 1
	}
	if rows == 0 {
		rows = max(g.height, 1)
	}
	return cols, ceil(g.width, cols), rows
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// ceil returns n/d, rounded up, and 1 if d is 0.
func ceil(n, d int) int {
	if d == 0 {
		return 1
	}
	return (n + d - 1) / d
}

// fail panics with what is wrong with a call.
func fail(call string, x *tensor.Tensor, err error) {
	e := &tensor.Error{Op: "quant." + call, Why: err.Error()}
	if x != nil {
		e.Shapes, e.DTypes = [][]int{x.Shape()}, []tensor.DType{x.DType()}
	}
	panic(e)
}
