package quant

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Stats describes what a scheme does to the numbers of a tensor. Counts and sums are of finite numbers.
type Stats struct {
	Count     int
	NonFinite int // infinite or NaN, and finite ones in their blocks
	Zeros     int // were 0 before
	Flushed   int // become 0
	Saturated int // lie beyond the largest number of their block, and become that

	Energy, Noise      float64 // sums of the squares of numbers and of their errors
	Smallest, Largest  float64 // magnitudes other than 0; 0 if there are none
	BlockRange         float64 // widest range inside a block, in powers of two
	ScaleMin, ScaleMax float64 // scales of blocks that are not all 0; 0 without scales
}

// Measure returns what storing x (…, n) by a scheme does to its numbers. Where a dimension ends within a block, the block is filled with zeros, which
// do not count. It panics like [Quantize]. Transformer Engine's debug feature LogFp8TensorStats has the same quantities.
func Measure(x *tensor.Tensor, s Scheme) Stats {
	if x == nil || s == nil {
		fail("Measure", nil, errors.New("a nil tensor or scheme"))
	}
	x = x.Detach().ToDevice(tensor.CPU).Float().Contiguous()
	m := Stats{}
	shape := x.Shape()
	fake{s}.apply(x, func(q *Tensor) *tensor.Tensor {
		y := q.Dequantize(tensor.Float32)
		m = q.measure(floats(x), shape[len(shape)-1], floats(y))
		return y
	})
	return m
}

// measure compares the numbers src, in rows of a width, with dst, those that q stores, whose rows may be longer.
func (q *Tensor) measure(src []float32, width int, dst []float32) (m Stats) {
	var factors []float32
	if q.scales != nil {
		factors = q.factors()
	}
	var points []uint8
	if q.zeros != nil {
		points = bytes(q.zeros)
	}
	lowest, highest := -q.grid.element.Max(), q.grid.element.Max()
	for _, v := range q.grid.element.Values() {
		if !math.IsInf(v, 0) {
			lowest = min(lowest, v) // integers have one more below 0
		}
	}
	cols, across, tall := q.grid.at()
	high := tall // rows of a block
	if q.grid.repeat {
		high = q.grid.rows
	}
	small, large := make([]float64, across), make([]float64, across)
	height := len(src) / max(width, 1)
	for r := range height {
		driver.Poll()
		if r%high == 0 {
			clear(small)
			clear(large)
		}
		for c := range width {
			x, y := float64(src[r*width+c]), float64(dst[r*q.grid.width+c])
			if x-x != 0 || y-y != 0 {
				m.NonFinite++
				continue
			}
			block, scale := c/cols, 1.
			if factors != nil {
				at := 0
				if q.grid.scaleShape != nil {
					at = r/tall*across + block
				}
				scale = float64(factors[at])
				low, up := lowest*scale, highest*scale
				if points != nil {
					zero := float64(int8(points[at]))
					low, up = (lowest-zero)*scale, (highest-zero)*scale
				}
				const slack = 1 + 0x1p-20 // of the scale, which is rounded
				if x > up*slack || x < low*slack {
					m.Saturated++
				}
			} else if x > highest || x < lowest {
				m.Saturated++
			}
			m.Count++
			m.Energy += x * x
			m.Noise += (x - y) * (x - y)
			a := math.Abs(x)
			switch {
			case a == 0:
				m.Zeros++
				continue
			case y == 0:
				m.Flushed++
			}
			if factors != nil {
				m.ScaleMin, m.ScaleMax = least(m.ScaleMin, scale), max(m.ScaleMax, scale)
			}
			m.Smallest, m.Largest = least(m.Smallest, a), max(m.Largest, a)
			small[block], large[block] = least(small[block], a), max(large[block], a)
			m.BlockRange = max(m.BlockRange, math.Log2(large[block]/small[block]))
		}
	}
	return m
}

// least returns the smaller of a and b, where an a of 0 stands for none.
func least(a, b float64) float64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// Add returns the statistics of the numbers of both together.
func (m Stats) Add(n Stats) Stats {
	switch {
	case m.Count+m.NonFinite == 0:
		return n
	case n.Count+n.NonFinite == 0:
		return m
	}
	join := func(a, b float64) float64 {
		if b == 0 {
			return a
		}
		return least(a, b)
	}
	return Stats{
		Count: m.Count + n.Count, NonFinite: m.NonFinite + n.NonFinite, Zeros: m.Zeros + n.Zeros, Flushed: m.Flushed + n.Flushed, Saturated: m.Saturated + n.Saturated,
		Energy: m.Energy + n.Energy, Noise: m.Noise + n.Noise,
		Smallest: join(m.Smallest, n.Smallest), Largest: max(m.Largest, n.Largest), BlockRange: max(m.BlockRange, n.BlockRange),
		ScaleMin: join(m.ScaleMin, n.ScaleMin), ScaleMax: max(m.ScaleMax, n.ScaleMax),
	}
}

// FlushedShare returns the share of the numbers other than 0 that become 0, from 0 to 1.
func (m Stats) FlushedShare() float64 { return part(m.Flushed, m.Count-m.Zeros) }

// SaturatedShare returns the share of the finite numbers that saturate, from 0 to 1.
func (m Stats) SaturatedShare() float64 { return part(m.Saturated, m.Count) }

func part(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// MSE returns the mean squared error.
func (m Stats) MSE() float64 { return m.Noise / float64(max(m.Count, 1)) }

// Error returns the root of the mean squared error, relative to that of the numbers: 0.1 means an error of a tenth. It is 0 for zeros.
func (m Stats) Error() float64 {
	if m.Energy == 0 {
		return 0
	}
	return math.Sqrt(m.Noise / m.Energy)
}

// Range returns the dynamic range in powers of two: log2(Largest/Smallest), 0 without numbers other than 0.
func (m Stats) Range() float64 {
	if m.Largest == 0 {
		return 0
	}
	return math.Log2(m.Largest / m.Smallest)
}

// String returns the error, the shares and the ranges.
func (m Stats) String() string {
	s := fmt.Sprintf("error %.3g, flushed %.3g %%, saturated %.3g %%, range 2^%.1f, inside a block up to 2^%.1f", m.Error(), 100*m.FlushedShare(), 100*m.SaturatedShare(), m.Range(), m.BlockRange)
	if m.ScaleMax > 0 {
		s += fmt.Sprintf(", scales %.3g to %.3g", m.ScaleMin, m.ScaleMax)
	}
	if m.NonFinite > 0 {
		s += fmt.Sprintf(", %d not finite", m.NonFinite)
	}
	return s
}

// Hadamard returns x (…, n) with each group of size numbers of the last dimension multiplied by the Hadamard matrix of that size in Sylvester's order, divided by the
// square root of size. It spreads an outlier over its group; a second call undoes it. size is a power of two that divides n. The result is
// differentiable. It panics for another size.
func Hadamard(x *tensor.Tensor, size int) *tensor.Tensor {
	if x == nil {
		fail("Hadamard", nil, errors.New("a nil tensor"))
	}
	shape := x.Shape()
	if size < 1 || size&(size-1) != 0 || size > 1<<12 || len(shape) == 0 || shape[len(shape)-1]%size != 0 {
		fail("Hadamard", x, fmt.Errorf("size %d; want a power of two, at most 4096, that divides the last dimension", size))
	}
	data := make([]float64, size*size)
	for i := range data {
		data[i] = 1 / math.Sqrt(float64(size))
		if bits.OnesCount(uint(i/size&(i%size)))%2 == 1 {
			data[i] = -data[i]
		}
	}
	return x.Reshape(-1, size).MatMul(tensor.NewAs(x.DType(), data, size, size).ToDevice(x.Device())).Reshape(shape...)
}
