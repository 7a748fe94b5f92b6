//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
)

func TestElementwise(t *testing.T) {
	drivertest.Check(t, open(t), "Integers", "Elementwise", "SpecialValues", "AllHalves", "Dropout")
}

// TestElementwiseMatchesCPU compares codes with exact results with the CPU's, on random bits, for aligned
// and unaligned views, forwards, backwards and repeated.
func TestElementwiseMatchesCPU(t *testing.T) {
	integers := []driver.DType{driver.Int64, driver.Int32, driver.Int16, driver.Int8, driver.Uint8, driver.Bool}
	floats := []driver.DType{driver.Float16, driver.BFloat16, driver.Float32, driver.Float64}
	for _, c := range []struct {
		codes    []driver.Code
		dtypes   []driver.DType
		operands int
	}{
		{[]driver.Code{driver.Affine, driver.Neg, driver.Abs, driver.Relu, driver.Step, driver.Sign}, integers, 1},
		{[]driver.Code{
			driver.Add, driver.AddScaled, driver.Sub, driver.Mul, driver.Max, driver.Min, driver.Equal, driver.Less, driver.LessEqual,
			driver.Power, driver.Fmod, driver.Remainder, driver.FloorDiv, driver.TruncDiv,
			driver.And, driver.Or, driver.Xor, driver.ShiftLeft, driver.ShiftRight,
		}, integers, 2},
		{[]driver.Code{driver.Floor, driver.Ceil, driver.Trunc, driver.Round}, floats, 1},
		{[]driver.Code{driver.Fmod, driver.TruncDiv}, floats, 2},
		{[]driver.Code{driver.Copysign}, floats[1:], 2}, // widening float16 drops the sign of NaN
		{[]driver.Code{driver.Where}, append(integers, floats...), 3},
		{[]driver.Code{driver.Dropout}, floats[:3], 2},
	} {
		for _, code := range c.codes {
			for _, d := range c.dtypes {
				matchCPU(t, code, d, c.operands)
			}
		}
	}
}

// matchCPU compares a code on operands of d with different layouts.
func matchCPU(t *testing.T, code driver.Code, d driver.DType, operands int) {
	p := newPair(t)
	for i, l := range []struct {
		offset        int
		shape, stride []int
	}{
		{0, []int{1037}, []int{1}},
		{1, []int{1037}, []int{1}},
		{8, []int{16, 64}, []int{64, 1}},
		{1036, []int{1037}, []int{-1}},
		{3, []int{17, 61}, []int{1, 17}},
		{5, []int{7, 30}, []int{60, 2}},
		{2, []int{31, 5}, []int{0, 3}},
		{9, []int{2000}, []int{0}},
	} {
		dtypes := []driver.DType{d, d, d}[:operands]
		to := d
		switch {
		case code == driver.Where && i%2 == 0:
			dtypes[0] = driver.Bool
		case code == driver.Dropout:
			dtypes[1] = driver.Bool
		case code >= driver.Equal && code <= driver.LessEqual && i%2 == 0:
			to = driver.Bool
		}
		limit := 0
		if i%3 == 1 && !d.IsFloat() && d != driver.Bool {
			limit = 3 // for zeros and equal numbers
		}
		var src []twin
		for j, d := range dtypes {
			offset, stride := l.offset, l.stride
			if j == 1 && i%4 == 2 { // one repeated element
				stride = make([]int, len(stride))
			}
			src = append(src, p.view(d, 2100, limit, offset, l.shape, stride))
		}
		at, n := i%2, driver.View{Shape: l.shape}.Len()
		contiguous := []int{1}
		if len(l.shape) == 2 {
			contiguous = []int{l.shape[1], 1}
		}
		dst := p.view(to, n+3, 0, at, l.shape, contiguous)
		k := driver.Kernel{Code: code, Alpha: 3, Beta: -2}
		p.run(k, dst, src...)
		p.same(fmt.Sprintf("%v of %v, layout %d", code, d, i), dst)
	}
}

// TestActivations compares the activations that drivertest does not define with the CPU's.
func TestActivations(t *testing.T) {
	cpu, gpu := driver.Lookup("cpu"), open(t)
	const n = 4099
	x, y := make([]byte, 4*n), make([]byte, 4*n)
	for i := range n {
		binary.NativeEndian.PutUint32(x[4*i:], math.Float32bits(float32(i-n/2)/150))
		binary.NativeEndian.PutUint32(y[4*i:], math.Float32bits(float32(i%11)-5))
	}
	results := func(b driver.Backend, code driver.Code) []byte {
		view := func(bytes []byte) driver.View {
			buffer, err := b.Alloc(4 * n)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(buffer, 0, bytes)
			return driver.View{Buffer: buffer, DType: driver.Float32, Shape: []int{n}, Stride: []int{1}}
		}
		dst, src := view(x), []driver.View{view(x), view(y)}
		if code == driver.Silu || code == driver.GeluTanh {
			src = src[:1]
		}
		b.Run(driver.Kernel{Code: code}, dst, src...)
		got := make([]byte, 4*n)
		b.Read(got, dst.Buffer, 0)
		return got
	}
	for _, c := range []struct {
		code driver.Code
		// slack is the factor by which an error of the sigmoid changes the result, in addition to
		// the error relative to the result.
		slack func(x, y float64) float64
	}{
		{driver.Silu, func(x, y float64) float64 { return 0 }},
		{driver.SiluGrad, func(x, y float64) float64 { return math.Abs(y) * (1 + math.Abs(x)) }},
		{driver.GeluTanh, func(x, y float64) float64 { // both round the argument u of the sigmoid several times
			u := 1.5957691216057308 * (x + 0.044715*x*x*x)
			return 2 * math.Abs(x*u) / (1 + math.Exp(-u))
		}},
		{driver.GeluTanhGrad, func(x, y float64) float64 { return math.Abs(y) * (1 + math.Abs(x)*(1.6+0.22*x*x)) }},
	} {
		got, want := results(gpu, c.code), results(cpu, c.code)
		for i := range n {
			number := func(b []byte) float64 {
				return float64(math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:])))
			}
			g, w, x, y := number(got), number(want), number(x), number(y)
			if limit := 3e-7*math.Abs(w) + 2e-7*c.slack(x, y) + 100*0x1p-149; !(math.Abs(g-w) <= limit) {
				t.Errorf("%v of %v, %v: got %v, want %v", c.code, x, y, g, w)
				break
			}
		}
	}
}
