package quant

import (
	"fmt"

	"halfnote/tensor"
)

// FakeQuantize returns x (…, n) rounded to the numbers of a scheme, in x's shape and dtype: Dequantize of Quantize. Where a dimension
// ends within a block, the block is filled with zeros, which change nothing. The gradient is that of the identity ("straight through"). It panics
// like [Quantize].
func FakeQuantize(x *tensor.Tensor, s Scheme) *tensor.Tensor {
	if x == nil || s == nil {
		fail("FakeQuantize", nil, fmt.Errorf("a nil tensor or scheme"))
	}
	return tensor.Apply(fake{s}, x)
}

// fake is the operation of FakeQuantize.
type fake struct{ scheme Scheme }

func (fake) Info() tensor.Info {
	return tensor.Info{Name: "fake_quantize", Torch: "torchao.quantization.qat.FakeQuantizeConfig", Saved: tensor.SavesNothing}
}

func (f fake) Forward(in []*tensor.Tensor) *tensor.Tensor {
	x := in[0].Detach()
	shape := x.Shape()
	p, err := f.scheme.plan()
	if err != nil {
		fail("FakeQuantize", x, err)
	}
	if len(shape) == 0 {
		fail("FakeQuantize", x, fmt.Errorf("the tensor has no dimensions; want at least one"))
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
	return Quantize(y, f.scheme).Dequantize(x.DType()).Slice(0, 0, height).Slice(1, 0, width).Reshape(shape...).ToDevice(x.Device())
}

func (fake) VJP(dy, _ *tensor.Tensor, _ []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy}
}
