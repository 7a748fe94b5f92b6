package quant_test

import (
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

var mxElements = map[string]quant.Format{
	"e4m3": quant.E4M3FN, "e5m2": quant.E5M2, "e2m3": quant.E2M3, "e3m2": quant.E3M2, "e2m1": quant.E2M1, "int8": quant.MXInt8,
}

// MX has the codes of torchao, except for the blocks that docs/formats.md lists: those with an infinity or NaN, those whose scale is 2^-127, and
// those that torchao decodes to infinity.
func TestMXPackages(t *testing.T) {
	x := fixture(t, "mx/in")
	in := numbers(x)
	for name, f := range mxElements {
		for _, mode := range []quant.ScaleMode{quant.Floor, quant.Ceil, quant.Even, quant.RCeil} {
			if f == quant.MXInt8 && mode != quant.Floor {
				continue
			}
			key := "mx/" + name + "/" + mode.String()
			scales, codes := bytesOf(t, key+"/scale"), bytesOf(t, key+"/codes")
			q := quant.Quantize(x, quant.MX{Element: f, Mode: mode})
			got, values := unpacked(q, f.Bits()), numbers(q.Dequantize(tensor.Float32))
			gotScales := numbers(q.Scales())
			compared, wrong := 0, 0
			for b := range scales {
				amax, finite := 0.0, true
				for _, v := range in[32*b : 32*b+32] {
					amax, finite = max(amax, math.Abs(float64(v))), finite && !math.IsInf(float64(v-v), 0) && v-v == 0
				}
				if !finite {
					for i, v := range values[32*b : 32*b+32] {
						if v == v {
							t.Errorf("%s: block %d has an infinity or NaN, but its number %d is %v", key, b, i, v)
						}
					}
					continue
				}
				scale := math.Ldexp(1, int(scales[b])-127)
				if float64(gotScales[b]) != scale {
					t.Errorf("%s: block %d, largest %v, has scale %v, want %v", key, b, amax, gotScales[b], scale)
					continue
				}
				// No number is off by more than half a unit in the last place, and none becomes infinite.
				for i, v := range values[32*b : 32*b+32] {
					if math.IsInf(float64(v), 0) {
						t.Errorf("%s: block %d: %v becomes %v", key, b, in[32*b+i], v)
					}
				}
				unlike := scales[b] == 0 && mode != quant.RCeil && f != quant.MXInt8 // torchao multiplies with 2^126
				for i := 32 * b; i < 32*b+32; i++ {
					switch want := f.Decode(codes[i]) * scale; {
					case unlike || math.Abs(want) > math.MaxFloat32:
					case got[i] != codes[i]:
						if wrong++; wrong < 4 {
							t.Errorf("%s: block %d, largest %v: %v becomes %#x, want %#x", key, b, amax, in[i], got[i], codes[i])
						}
					default:
						compared++
					}
				}
			}
			if wrong > 0 || compared < len(in)/2 {
				t.Errorf("%s: %d of %d codes differ, %d are equal", key, wrong, len(in), compared)
			}
		}
	}
}

// Blocks on which packages differ: docs/formats.md says why.
func TestMXSpecialBlocks(t *testing.T) {
	block := func(first float64, rest float64) *tensor.Tensor {
		x := make([]float64, 32)
		for i := range x {
			x[i] = rest
		}
		x[0] = first
		return tensor.New(x, 1, 32)
	}
	for _, c := range []struct {
		name        string
		x           *tensor.Tensor
		scheme      quant.Scheme
		first, rest float64
	}{
		{"smallest scale", block(0x1p-126, 0x1p-127), quant.MXFP8, 0x1p-126, 0x1p-127},
		{"smallest scale, rceil", block(0x1p-126, 0x1p-127), quant.MX{Element: quant.E4M3FN, Mode: quant.RCeil}, 0x1p-126, 0x1p-127},
		{"largest float32", block(math.MaxFloat32, 0), quant.MX{Element: quant.E4M3FN, Mode: quant.Ceil}, 240 * 0x1p120, 0},
		{"largest float32, E2M1", block(-math.MaxFloat32, 0), quant.MX{Element: quant.E2M1, Mode: quant.RCeil}, -3 * 0x1p126, 0},
		{"infinity", block(math.Inf(1), 1), quant.MXFP8, math.NaN(), math.NaN()},
		{"NaN", block(math.NaN(), 1), quant.MXFP4, math.NaN(), math.NaN()},
		{"zeros", block(0, math.Copysign(0, -1)), quant.MXFP4, 0, math.Copysign(0, -1)},
		{"NVFP4 of zeros", block(0, 0), quant.NVFP4{}, 0, 0},
		{"NVFP4 of an infinity", block(math.Inf(-1), 1), quant.NVFP4{}, math.NaN(), math.NaN()},
		{"Float8 of an infinity", block(math.Inf(-1), 1), quant.Float8{}, math.NaN(), math.NaN()},
		{"Float8 of zeros", block(0, 0), quant.Float8{}, 0, 0},
		{"Int of NaN", block(math.NaN(), 1), quant.Int{Bits: 8}, math.NaN(), math.NaN()},
		{"Int of zeros", block(0, 0), quant.Int{Bits: 4, Group: 32, Asymmetric: true}, 0, 0},
	} {
		y := numbers(quant.Quantize(c.x, c.scheme).Dequantize(tensor.Float32))
		if !same(y[0], float32(c.first)) || !same(y[1], float32(c.rest)) {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, y[0], y[1], c.first, c.rest)
		}
	}
}
