package optim

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// lowBit is Adam whose running means are stored in few bits: T. Dettmers and others, "8-bit Optimizers via Block-wise Quantization" (2022), and
// B. Li and others, "Memory Efficient Optimizers with 4-bit States" (2023), as torchao.optim computes them without compilation. A step is computed in
// float32 with the stored means; the new ones are used as they are, and then stored.
type lowBit struct {
	bits, block   int
	first, second *codebook // of the mean of gradients, and of their squares; nil is float8_e4m3fn
}

// NewAdam8bit returns an Adam of params that stores its running means in 8 bits, in blocks of 256 with a float32 scale: two bytes and a bit for a parameter,
// instead of eight. Parameters with fewer than 4096 elements, or a number of them that blocks do not divide, keep means of their dtype. It takes Betas, Eps,
// WeightDecay, Maximize, Decoupled, and StochasticRounding, and panics like [NewSGD]. It is torchao.optim.Adam8bit.
func NewAdam8bit(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newLowBit("Adam8bit", eightBit, params, adamDefaults(lr), options)
}

// NewAdamW8bit is [NewAdam8bit] with weight decay, 0.01 by default, that is subtracted from the parameter itself. It is torchao.optim.AdamW8bit.
func NewAdamW8bit(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newLowBit("AdamW8bit", eightBit, params, decoupledDefaults(lr), options)
}

// NewAdam4bit is [NewAdam8bit] with 4 bits, in blocks of 128. It is torchao.optim.Adam4bit.
func NewAdam4bit(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newLowBit("Adam4bit", fourBit, params, adamDefaults(lr), options)
}

// NewAdamW4bit is [NewAdamW8bit] with 4 bits, in blocks of 128. It is torchao.optim.AdamW4bit.
func NewAdamW4bit(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newLowBit("AdamW4bit", fourBit, params, decoupledDefaults(lr), options)
}

// NewAdamFp8 is [NewAdam8bit] with running means in float8_e4m3fn. It is torchao.optim.AdamFp8.
func NewAdamFp8(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newLowBit("AdamFp8", float8, params, adamDefaults(lr), options)
}

// NewAdamWFp8 is [NewAdamW8bit] with running means in float8_e4m3fn. It is torchao.optim.AdamWFp8.
func NewAdamWFp8(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	return newLowBit("AdamWFp8", float8, params, decoupledDefaults(lr), options)
}

var (
	eightBit = lowBit{8, 256, dynamicMap(true, 7, 8), dynamicMap(false, 7, 8)}
	fourBit  = lowBit{4, 128, dynamicMap(true, 3, 4), linearMap(16)}
	float8   = lowBit{8, 256, nil, nil}
)

func newLowBit(name string, r lowBit, params []*tensor.Tensor, d Group, options []Option) *Optimizer {
	return newOptimizer(name, r, "betas eps weight_decay maximize decoupled_weight_decay", params, d, options)
}

// check returns what is wrong with a group's parameters.
func (lowBit) check(g *Group) error {
	for i, p := range g.params {
		if p.Device() != tensor.CPU {
			return fmt.Errorf("parameter %d is on %s; want parameters on the CPU, or another optimizer", i, p.Device())
		}
	}
	return nil
}

// The records of a parameter: codes, packed with the first of two codes of 4 bits in the high bits as in torchao, and scales of blocks.
const (
	codesSuffix = ".codes"
	scaleSuffix = ".scale"
)

// stores reports whether the means of p are stored in few bits.
func (l lowBit) stores(p *tensor.Tensor) bool { return p.Numel() >= 4096 && p.Numel()%l.block == 0 }

func (l lowBit) stateShape(name string, p *tensor.Tensor) []int {
	switch {
	case strings.HasSuffix(name, codesSuffix):
		return []int{p.Numel() * l.bits / 8}
	case strings.HasSuffix(name, scaleSuffix):
		return []int{p.Numel() / l.block}
	}
	return p.Shape()
}

// stateDType implements typer.
func (l lowBit) stateDType(name string) (tensor.DType, bool) {
	switch {
	case strings.HasSuffix(name, codesSuffix):
		return tensor.Uint8, true
	case strings.HasSuffix(name, scaleSuffix):
		return tensor.Float32, true
	}
	return 0, false
}

func (l lowBit) step(p, g *tensor.Tensor, o *Group, r record) {
	n := float32(r.count())
	x := p.Detach().Float().Clone().Contiguous()
	m, v := l.mean(p, r, "exp_avg", l.first), l.mean(p, r, "exp_avg_sq", l.second)
	power := func(beta float64) float32 { return 1 - float32(math.Pow(float64(float32(beta)), float64(n))) }
	s := adamStep{
		rate: float32(o.LR), decay: float32(o.WeightDecay), eps: float32(o.Eps), decoupled: o.Decoupled,
		w1: float32(1 - o.Beta1), w2: float32(1 - o.Beta2), correction: power(o.Beta1), root: float32(math.Sqrt(float64(power(o.Beta2)))),
	}
	s.run(floats(x), floats(g.Float().Contiguous()), m.numbers, v.numbers)
	m.store()
	v.store()
	p.Assign(x.To(p.DType()))
}

// adamStep holds the numbers of a step, float32 as torchao's.
type adamStep struct {
	rate, decay, eps, w1, w2, correction, root float32
	decoupled                                  bool
}

// run updates x, m and v. lerp has the fused multiply-add that torch has on processors with AVX2.
func (s adamStep) run(x, g, m, v []float32) {
	lerp := func(a, b, w float32) float32 {
		d := float64(b - a)
		if w < 0.5 {
			return float32(float64(float64(w)*d) + float64(a))
		}
		return float32(float64(b) - float64(float64(1-w)*d))
	}
	for i, p := range x {
		d := g[i]
		switch {
		case s.decoupled:
			p -= float32(float32(s.rate*s.decay) * p)
		default:
			d = float32(s.decay*p) + d
		}
		m[i] = lerp(m[i], d, s.w1)
		v[i] = lerp(v[i], float32(d*d), s.w2)
		denominator := float32(math.Sqrt(float64(v[i])))/s.root + s.eps
		x[i] = p - float32(s.rate*float32(m[i]/s.correction))/denominator
	}
}

// mean is a running mean during a step.
type mean struct {
	lowBit
	numbers       []float32
	book          *codebook
	codes, scales *tensor.Tensor // where it is stored, or
	plain         *tensor.Tensor // if that is nil, here
}

// mean returns the named mean of p.
func (l lowBit) mean(p *tensor.Tensor, r record, name string, book *codebook) *mean {
	m := &mean{lowBit: l, book: book}
	if !l.stores(p) {
		m.plain = r.tensor(name, p)
		m.numbers = slices.Clone(floats(m.plain.Float().Contiguous()))
		return m
	}
	m.codes = r.shaped(name+codesSuffix, p, tensor.Uint8, l.stateShape(name+codesSuffix, p))
	m.scales = r.shaped(name+scaleSuffix, p, tensor.Float32, l.stateShape(name+scaleSuffix, p))
	m.numbers = make([]float32, p.Numel())
	codes, scales := memory.Bytes(m.codes, false), floats(m.scales)
	for i := range m.numbers {
		m.numbers[i] = m.value(l.codeAt(codes, i)) * scales[i/l.block]
	}
	return m
}

func (l lowBit) codeAt(codes []uint8, i int) uint8 {
	if l.bits == 8 {
		return codes[i]
	}
	return codes[i/2] >> (4 * (1 - i%2)) & 15
}

// value returns the number of a code, before scaling.
func (m *mean) value(code uint8) float32 {
	if m.book == nil {
		return float32(quant.E4M3FN.Decode(code))
	}
	return m.book.values[code]
}

// store stores the numbers.
func (m *mean) store() {
	if m.plain != nil {
		m.plain.Assign(tensor.FromFloat32s(m.numbers, m.plain.Shape()...).To(m.plain.DType()))
		return
	}
	codes, scales := memory.Bytes(m.codes, true), floats(m.scales)
	clear(codes)
	for b := range scales {
		part := m.numbers[b*m.block : (b+1)*m.block]
		amax := float32(1e-12)
		for _, x := range part {
			amax = max(amax, float32(math.Abs(float64(x))))
		}
		if scales[b] = amax; m.book == nil {
			scales[b] = amax / 448
		}
		for i, x := range part {
			c := m.code(x / scales[b])
			if at := b*m.block + i; m.bits == 8 {
				codes[at] = c
			} else {
				codes[at/2] |= c << (4 * (1 - at%2))
			}
		}
	}
}

// code returns the code of a number whose block is scaled.
func (m *mean) code(x float32) uint8 {
	if m.book == nil {
		return quant.E4M3FN.Encode(float64(x), quant.Nearest, quant.Saturate)
	}
	return m.book.code(x)
}

// codebook holds the numbers of codes, in ascending order.
type codebook struct{ values []float32 }

// code returns the nearest code, the upper one of two. Both distances are float32, as in torchao.
func (c *codebook) code(x float32) uint8 {
	i := max(sort.Search(len(c.values), func(i int) bool { return c.values[i] > x })-1, 0)
	if i+1 < len(c.values) && x-c.values[i] >= (c.values[i+1]-c.values[i])*0.5 {
		i++
	}
	return uint8(i)
}

// dynamicMap returns the numbers of T. Dettmers, "8-Bit Approximations for Parallelism in Deep Learning" (2016), create_dynamic_map of torchao and
// bitsandbytes: decades, each split evenly in twice as many parts as the one below it, of both signs or of one, and 0 and 1.
func dynamicMap(signed bool, decades, bits int) *codebook {
	c := &codebook{[]float32{0, 1}}
	for i := range decades {
		parts := 1 << (i + bits - 1 - decades)
		if !signed {
			parts *= 2
		}
		// torch.linspace(0.1, 1): from the nearer end, with one rounding.
		bound := func(k int) float32 {
			step := (1 - float32(0.1)) / float32(parts)
			if k < (parts+1)/2 {
				return float32(float64(float64(step)*float64(k)) + float64(float32(0.1)))
			}
			return float32(1 - float64(float64(step)*float64(parts-k)))
		}
		power := float32(math.Pow10(i - decades + 1))
		for k := range parts {
			x := power * (float32(bound(k)+bound(k+1)) / 2)
			c.values = append(c.values, x)
			if signed {
				c.values = append(c.values, -x)
			}
		}
	}
	slices.Sort(c.values)
	return c
}

// linearMap returns the numbers 1/n to 1.
func linearMap(n int) *codebook {
	c := &codebook{}
	for k := range n {
		c.values = append(c.values, float32(k+1)/float32(n))
	}
	return c
}

// floats returns the memory of a contiguous float32 tensor on the CPU.
func floats(t *tensor.Tensor) []float32 {
	b := memory.Bytes(t, true)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
