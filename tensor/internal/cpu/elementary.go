package cpu

import (
	"math"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
	"halfnote/tensor/internal/elementary"
)

// elementaryOf returns the loops of an elementary function. Both have the same bits on every
// processor; the float32 loop is in assembly where the processor supports it.
func elementaryOf(cost int, f asm.Function, wide func(float64) float64) pointwise {
	return pointwise{1, cost, loopOf(f), function1[float64](wide), nil}
}

// sineOf is elementaryOf for functions of float32 with limits: f, beyond it far, and beyond that wide.
func sineOf(f, far asm.Function, wide func(float64) float64) pointwise {
	return pointwise{1, 16, limitedLoop(f, limitedLoop(far, function1[float32](wide))), function1[float64](wide), nil}
}

// limitedLoop returns the loop of a function of x, and perhaps y, which is beyond where |x| exceeds its limit.
func limitedLoop(f asm.Function, beyond loop[float32]) loop[float32] {
	return func(dst, x, y, _ []float32, _, _ float32) {
		limit := f.Limit()
		if within(x, limit) {
			evaluateAll(f, dst, x, y, 0)
			return
		}
		// dst may be x or y.
		var at [chunk]int32
		var in [2][chunk]float32
		n := 0
		for i, v := range x {
			if !(v <= limit && v >= -limit) {
				at[n], in[0][n] = int32(i), v
				if y != nil {
					in[1][n] = y[i]
				}
				n++
			}
		}
		evaluateAll(f, dst, x, y, 0)
		beyond(in[0][:n], in[0][:n], in[1][:n], nil, 0, 0)
		for i, j := range at[:n] {
			dst[j] = in[0][i]
		}
	}
}

// within reports whether no element is NaN or has a magnitude above limit.
func within(x []float32, limit float32) bool {
	if loops.Largest != nil && len(x) > 0 {
		return loops.Largest(unsafe.Pointer(&x[0]), len(x)) <= math.Float32bits(limit)
	}
	for _, v := range x {
		if !(v <= limit && v >= -limit) {
			return false
		}
	}
	return true
}

// functionsByCode holds the functions that compute whole operations on float32.
var functionsByCode = map[driver.Code]asm.Function{
	driver.Exp: asm.Exp, driver.Exp2: asm.Exp2, driver.Expm1: asm.Expm1,
	driver.Log: asm.Log, driver.Log2: asm.Log2, driver.Log10: asm.Log10, driver.Log1p: asm.Log1p,
	driver.Tanh: asm.Tanh, driver.Sigmoid: asm.Sigmoid, driver.Erf: asm.Erf, driver.Rsqrt: asm.Rsqrt,
	driver.Sin: asm.Sin, driver.Cos: asm.Cos,
	driver.Gelu: asm.Gelu, driver.GeluGrad: asm.GeluGrad, driver.Silu: asm.Silu, driver.SiluGrad: asm.SiluGrad,
	driver.GeluTanh: asm.GeluTanh, driver.GeluTanhGrad: asm.GeluTanhGrad,
}

// streamedPass computes a function of large contiguous float32 views, with the same bits as
// [elementwise], and reports whether it could. It writes the result around the caches while it
// computes, except near elements beyond the function's limit.
func streamedPass(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) bool {
	f, ok := functionsByCode[k.Code]
	if !ok || functions == nil || !streams(dst, src, streamFunctionMin) {
		return false
	}
	var flat [3][]float32
	for i, v := range []driver.View{dst, src[0], src[len(src)-1]} {
		r := read[float32](v)
		if !r.bulk() {
			return false
		}
		flat[i] = r.wide[r.layout.offset:][:r.layout.len()]
	}
	p, limit := pointwises[k.Code], f.Limit()
	b.shares(len(flat[0]), copyItem/p.cost, func(lo, hi int) {
		for ; lo < hi; lo += chunk {
			n := min(chunk, hi-lo)
			out, x, y := flat[0][lo:][:n], flat[1][lo:][:n], flat[2][lo:][:n]
			if at := unsafe.Pointer(&out[0]); n < chunk || uintptr(at)%64 != 0 || limit > 0 && !within(x, limit) {
				p.f32(out, x, y, nil, 0, 0)
			} else {
				functions[f](at, unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), n, 1, 0)
			}
		}
		loops.Fence()
	})
	return true
}

// evaluateAll sets dst to f of x, y and alpha, within the limit.
func evaluateAll(f asm.Function, dst, x, y []float32, alpha float32) {
	const turn = 8 // assembly takes multiples of this number of elements
	n := 0
	if functions != nil {
		pass := functions[f]
		call := func(dst, x, y []float32) {
			pass(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(unsafe.SliceData(y)), len(x), 0, alpha)
		}
		if n = len(x) &^ (turn - 1); n > 0 {
			call(dst[:n], x[:n], y)
		}
		if rest := len(x) - n; rest > 1 {
			var room [3][turn]float32
			copy(room[0][:], x[n:])
			if y != nil {
				copy(room[1][:], y[n:])
			}
			call(room[2][:], room[0][:], room[1][:])
			copy(dst[n:], room[2][:rest])
			return
		}
	}
	for i := n; i < len(x); i++ {
		z := float32(0)
		if y != nil {
			z = y[i]
		}
		dst[i] = f.Of(x[i], z, alpha)
	}
}

// sigmoid returns 1 / (1 + exp(-x)). e never overflows, so small results are accurate
// on both sides of 0.
func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + elementary.Exp(-x))
	}
	e := elementary.Exp(x)
	return e / (1 + e)
}

// loopOf returns the loop of a function of x, and perhaps y, that has no limit.
func loopOf(f asm.Function) loop[float32] {
	return func(dst, x, y, _ []float32, _, _ float32) { evaluateAll(f, dst, x, y, 0) }
}

// geluGradOf returns y times the derivative of x Φ(x); 1 + erf would lose small values.
func geluGradOf(x, y float64) float64 {
	cdf := float64(0.5 * elementary.Erfc(float64(-math.Sqrt2/2*x)))
	pdf := float64(1 / math.Sqrt(2*math.Pi) * elementary.Exp(float64(-0.5*float64(x*x))))
	return y * (cdf + float64(x*pdf))
}
