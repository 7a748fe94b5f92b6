package quant

import (
	"encoding/binary"
	"errors"
	"fmt"

	"halfnote/tensor"
)

// dtypes describes the dtypes that Round rounds to, with torch's rule for overflow.
var dtypes = map[tensor.DType]struct {
	spec     *spec
	overflow Overflow
}{
	tensor.Float8E4M3: {&specs[E4M3FN], Saturate},
	tensor.Float8E5M2: {&specs[E5M2], Special},
	tensor.Float16:    {&spec{"float16", 5, 10, 15, 0x7bff, 0x7c00, 0x7e00, signed}, Special},
	tensor.BFloat16:   {&spec{"bfloat16", 8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, signed}, Special},
}

// Round returns x as dtype d, which is bfloat16, float16 or one of 8 bits, rounded by r. With Nearest it is x.To(d), and with [Stochastic] and
// bfloat16 it is bf16_stochastic_round of torchao's optimizers, with other random bits. x is float32, bfloat16 or float16; the result
// carries no gradient. It panics for other dtypes.
func Round(x *tensor.Tensor, d tensor.DType, r Rounding) *tensor.Tensor {
	if x == nil {
		fail("Round", nil, errors.New("a nil tensor"))
	}
	to, ok := dtypes[d]
	switch from := x.DType(); {
	case !ok:
		fail("Round", x, fmt.Errorf("to %v; want bfloat16, float16 or a floating-point dtype of 8 bits", d))
	case from != tensor.Float32 && from != tensor.BFloat16 && from != tensor.Float16:
		fail("Round", x, errors.New("want float32, bfloat16 or float16; convert with x.Float()"))
	case r == Nearest:
		return x.Detach().To(d)
	}
	src := floats(x.Detach().ToDevice(tensor.CPU).Float().Contiguous())
	y := memory.Unset(d, x.Shape()...)
	dst, size := bytes(y), d.Size()
	each(ceil(len(src), share), func(i int) {
		for at := i * share; at < min((i+1)*share, len(src)); at++ {
			code := to.spec.encode(float64(src[at]), r, to.overflow, at)
			if size == 1 {
				dst[at] = uint8(code)
			} else {
				binary.NativeEndian.PutUint16(dst[2*at:], code)
			}
		}
	})
	return y.ToDevice(x.Device())
}
