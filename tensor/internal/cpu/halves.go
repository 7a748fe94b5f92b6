package cpu

import (
	"math"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// float16s and bfloat16s are the passes over halves that this processor does in assembly.
var float16s, bfloat16s = halvesOf(asm.Best())

func halvesOf(t *asm.Tier) (f, b asm.HalfPasses) {
	if t == nil {
		return asm.HalfPasses{}, asm.HalfPasses{}
	}
	return t.Float16, t.BFloat16
}

// halfTurn is what passes over halves take multiples of.
const halfTurn = 64

// halfPass runs an elementwise code of halves that lie side by side in one pass, with the
// bits of [elementwise], and reports whether it did. The second of two operands may be one
// number.
func halfPass(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) bool {
	if len(src) > 2 || dst.Len() < fast || src[0].DType != dst.DType {
		return false
	}
	run, alpha, beta := halfPassOf(k, dst.DType)
	if run == nil {
		return false
	}
	to, ok := halvesIn(dst)
	x, okX := halvesIn(src[0])
	if !ok || !okX {
		return false
	}
	y, step := x, 2
	if len(src) == 2 {
		if y, ok = halvesIn(src[1]); !ok {
			l := layoutOf(src[1])
			if len(l.shape) != 1 || l.stride[0] != 0 {
				return false
			}
			y, step = make([]uint16, halfTurn), 0
			repeat(y, elements[uint16](bufferOf(src[1].Buffer))[l.offset])
		}
	}
	around := 0
	if goesAround(dst, src) && uintptr(unsafe.Pointer(&to[0]))%64 == 0 {
		around = 1
	}
	part := func(lo, hi int) {
		for ; lo < hi; lo += bulk {
			at := y
			if step != 0 {
				at = y[lo:]
			}
			halfPart(run, to[lo:][:min(bulk, hi-lo)], x[lo:], at, step, around, alpha, beta)
		}
		if around != 0 {
			loops.Fence()
		}
	}
	if n := len(to); n > bulk {
		b.ranges(n, copyItem, part)
	} else {
		driver.Poll()
		part(0, n)
	}
	return true
}

// halfPart is halfPass for some elements: those of the last turn by way of memory that
// has as many.
func halfPart(run asm.HalfPass, dst, x, y []uint16, step, around int, alpha, beta float32) {
	call := func(dst, x, y []uint16, around int) {
		run(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), len(dst), step, around, alpha, beta)
	}
	n := len(dst) &^ (halfTurn - 1)
	if n > 0 {
		call(dst[:n], x, y, around)
	}
	if rest := len(dst) - n; rest > 0 {
		spare := spares.Get().(*[chunk]uint32)
		room := unsafe.Slice((*uint16)(unsafe.Pointer(spare)), 2*halfTurn)
		last, second := room[:halfTurn], room[halfTurn:]
		copy(last, x[n:][:rest])
		if step != 0 {
			copy(second, y[n:][:rest])
			y = second
		}
		call(last, last, y, 0)
		copy(dst[n:], last)
		spares.Put(spare)
	}
}

// halvesIn returns the elements of v, of 16 bits, where they lie side by side.
func halvesIn(v driver.View) ([]uint16, bool) {
	l := layoutOf(v)
	if !l.dense() {
		return nil, false
	}
	return elements[uint16](bufferOf(v.Buffer))[l.offset:][:l.len()], true
}

// halfPassOf returns the pass of a code and what to call it with, nil if there is none.
func halfPassOf(k driver.Kernel, d driver.DType) (run asm.HalfPass, alpha, beta float32) {
	f := &float16s
	switch d {
	case driver.Float16:
	case driver.BFloat16:
		f = &bfloat16s
	default:
		return nil, 0, 0
	}
	alpha, beta = plain(k.Alpha), plain(k.Beta)
	switch k.Code {
	case driver.Affine:
		if beta == 0 {
			return f.Scale, alpha, 0
		}
		return f.Affine, alpha, beta
	case driver.Neg:
		return f.Neg, float32(math.Copysign(0, -1)), 0
	case driver.Abs:
		return f.Abs, 0, 0
	case driver.Sqrt:
		return f.Sqrt, 0, 0
	case driver.Pow: // of x and x
		if alpha == 2 {
			return f.Mul, 0, 0
		}
	case driver.Relu:
		return f.Relu, 0, 0
	case driver.Add:
		return f.Add, 0, 0
	case driver.AddScaled:
		return f.AddScaled, alpha, 0
	case driver.Sub:
		return f.Sub, 0, 0
	case driver.Mul:
		return f.Mul, 0, 0
	case driver.Div:
		return f.Div, 0, 0
	case driver.Max:
		return f.Max, 0, 0
	case driver.Min:
		return f.Min, 0, 0
	case driver.ReluGrad:
		return f.ReluGrad, 0, 0
	case driver.TanhGrad:
		return f.TanhGrad, 1, 0
	case driver.SigmoidGrad:
		return f.SigmoidGrad, 1, 0
	}
	return nil, 0, 0
}

// plain returns x as float32, NaN as the one that bfloat16 has too.
func plain(x float64) float32 {
	if x != x {
		x = math.NaN()
	}
	return float32(x)
}
