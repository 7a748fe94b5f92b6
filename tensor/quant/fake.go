package quant

import (
	"errors"

	"halfnote/tensor"
)

// FakeQuantize returns x (…, n) rounded to the numbers of a scheme, in x's shape and dtype: Dequantize of Quantize. Where a dimension
// ends within a block, the block is filled with zeros, which change nothing. The gradient is that of the identity ("straight through"); for [Int]
// it is 0 where the integer is the smallest or the largest one, as in torch's clamp. It panics like [Quantize]. It is torchao.quantization.qat.FakeQuantizer.
func FakeQuantize(x *tensor.Tensor, s Scheme) *tensor.Tensor {
	if x == nil || s == nil {
		fail("FakeQuantize", nil, errors.New("a nil tensor or scheme"))
	}
	return tensor.Apply(fake{s}, x)
}

// fake is the operation of FakeQuantize.
type fake struct{ scheme Scheme }

func (f fake) Info() tensor.Info {
	saved := tensor.SavesNothing
	if _, ok := f.scheme.(Int); ok {
		saved = tensor.SavesOperands
	}
	return tensor.Info{Name: "fake_quantize", Torch: "torchao.quantization.qat.FakeQuantizer", Saved: saved}
}

func (f fake) Forward(in []*tensor.Tensor) *tensor.Tensor {
	return f.apply(in[0], func(q *Tensor) *tensor.Tensor { return q.Dequantize(in[0].DType()) })
}

func (f fake) VJP(dy, _ *tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	if _, ok := f.scheme.(Int); ok {
		dy = dy.Mul(f.apply(in[0], (*Tensor).inside).To(dy.DType()))
	}
	return []*tensor.Tensor{dy}
}

// inside returns 1 where a code is neither the smallest nor the largest integer, otherwise 0.
func (q *Tensor) inside() *tensor.Tensor {
	y := memory.Unset(tensor.Float32, q.shape...)
	bits := q.grid.element.Bits()
	codes := make([]uint8, q.grid.height*q.grid.width)
	unpack(codes, bytes(q.codes), bits, nil)
	lowest := uint8(1) << (bits - 1)
	for i, c := range codes {
		floats(y)[i] = 1
		if c == lowest || c == lowest-1 {
			floats(y)[i] = 0
		}
	}
	return y
}

// apply returns what of returns for x, quantised as a matrix with whole blocks, in x's shape.
func (f fake) apply(x *tensor.Tensor, of func(q *Tensor) *tensor.Tensor) *tensor.Tensor {
	x = x.Detach()
	shape := x.Shape()
	p, err := f.scheme.plan()
	if err != nil {
		fail("FakeQuantize", x, err)
	}
	if len(shape) == 0 {
		fail("FakeQuantize", x, errors.New("the tensor has no dimensions; want at least one"))
	}
	if x.Numel() == 0 {
		return x.Clone()
	}
	width := shape[len(shape)-1]
	y := x.Reshape(-1, width)
	height := y.Shape()[0]
	right, below := 0, 0
	if p.whole && p.cols > 0 {
		right = ceil(width, p.cols)*p.cols - width
	} else if n := 8 / gcd(p.element.Bits(), 8); width%n != 0 {
		right = n - width%n
	}
	if p.repeat {
		below = ceil(height, p.rows)*p.rows - height
	}
	if right+below > 0 {
		y = y.Pad([]int{0, right, 0, below}, tensor.PadOptions{})
	}
	return of(Quantize(y, f.scheme)).Slice(0, 0, height).Slice(1, 0, width).Reshape(shape...).ToDevice(x.Device())
}
