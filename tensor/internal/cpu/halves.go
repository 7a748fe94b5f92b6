package cpu

import (
	"math"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
	"halfnote/tensor/internal/elementary"
)

// float16s and bfloat16s hold the passes over half precision in assembly that this processor supports.
var float16s, bfloat16s = halvesOf(asm.Best())

func halvesOf(t *asm.Tier) (f, b asm.HalfPasses) {
	if t == nil {
		return asm.HalfPasses{}, asm.HalfPasses{}
	}
	return t.Float16, t.BFloat16
}

// float16Functions and bfloat16Functions are the passes of elementary functions of halves, by
// [asm.Function]; nil for those that this processor does not support.
var float16Functions, bfloat16Functions = halfFunctionsOf(asm.Best())

func halfFunctionsOf(t *asm.Tier) (f, b []asm.HalfPass) {
	if t == nil {
		return nil, nil
	}
	return t.Float16Functions, t.BFloat16Functions
}

// halfFunctionsByCode holds the functions that compute whole operations on halves.
var halfFunctionsByCode = map[driver.Code]asm.Function{
	driver.Exp: asm.Exp, driver.Exp2: asm.Exp2, driver.Expm1: asm.Expm1,
	driver.Log: asm.Log, driver.Log2: asm.Log2, driver.Log10: asm.Log10, driver.Log1p: asm.Log1p,
	driver.Tanh: asm.Tanh, driver.Sigmoid: asm.SigmoidHalf, driver.Erf: asm.ErfHalf, driver.Rsqrt: asm.Rsqrt,
	driver.Gelu: asm.GeluHalf, driver.GeluGrad: asm.GeluGradHalf, driver.Silu: asm.SiluHalf, driver.SiluGrad: asm.SiluGrad,
	driver.GeluTanh: asm.GeluTanh, driver.GeluTanhGrad: asm.GeluTanhGrad,
}

// float16Sines are functions whose limit no finite float16 exceeds. They are NaN for the infinite.
var float16Sines = map[driver.Code]asm.Function{driver.Sin: asm.SinHalf, driver.Cos: asm.CosHalf}

// halfLoops are the same as loops, for halves that are not contiguous, and for functions with a
// limit.
var halfLoops = func() map[driver.Code]loop[float32] {
	list := map[driver.Code]loop[float32]{}
	for code, f := range halfFunctionsByCode {
		list[code] = loopOf(f)
	}
	list[driver.Sin] = limitedLoop(asm.SinHalf, function1[float32](elementary.Sin))
	list[driver.Cos] = limitedLoop(asm.CosHalf, function1[float32](elementary.Cos))
	return list
}()

// halfTurn is the unit of elements of passes over half precision.
const halfTurn = 64

// halfPass computes an elementwise code of contiguous half-precision views in one pass, with the same
// bits as [elementwise], and reports whether it could. The second of two operands may be one number, or
// a repeated row, or one number per row.
func halfPass(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) bool {
	if len(src) > 2 || dst.Len() < fast || src[0].DType != dst.DType {
		return false
	}
	var j halfJob
	if j.run, j.alpha, j.beta = halfPassOf(k, dst.DType); j.run == nil {
		return false
	}
	lx, lz := layoutOf(src[0]), layoutOf(dst)
	if !lx.dense() || !lz.dense() {
		return false
	}
	j.x, j.dst = halvesOfView(src[0], lx), halvesOfView(dst, lz)
	j.y = j.x
	if len(src) == 2 {
		switch l := layoutOf(src[1]); {
		case l.dense():
			j.y = halvesOfView(src[1], l)
		case max(l.run(), l.every(0)) >= min(2*halfTurn, dst.Len()):
			j.y, j.rows = elements[uint16](bufferOf(src[1].Buffer)), l
		default:
			return false
		}
	}
	j.streaming = streams(dst, src, streamMin)
	if n := len(j.dst); n > bulk {
		large := j
		b.shares(n, copyItem, func(lo, hi int) { large.do(lo, hi) })
	} else {
		driver.Poll()
		j.do(0, n)
	}
	return true
}

// halvesOfView returns the elements of a view with a dense layout.
func halvesOfView(v driver.View, l layout) []uint16 {
	return elements[uint16](bufferOf(v.Buffer))[l.offset:][:l.len()]
}

// halfJob is a pass over half precision with its arguments.
type halfJob struct {
	run         asm.HalfPass
	dst, x, y   []uint16
	rows        layout // layout of y if it repeats, otherwise empty
	streaming   bool
	alpha, beta float32
}

// do computes the elements lo … hi-1.
func (j *halfJob) do(lo, hi int) {
	for ; lo < hi; lo += bulk {
		n := min(bulk, hi-lo)
		if dst, x := j.dst[lo:][:n], j.x[lo:][:n]; j.rows.shape == nil {
			j.part(dst, x, j.y[lo:], 2)
		} else {
			j.repeated(dst, x, lo)
		}
	}
	if j.streaming {
		loops.Fence()
	}
}

// repeated computes dst, which are the elements from lo on, row by row.
func (j *halfJob) repeated(dst, x []uint16, lo int) {
	spare := spares.Get().(*[chunk]uint32)
	one := unsafe.Slice((*uint16)(unsafe.Pointer(spare)), halfTurn)
	j.rows.tiles(lo, len(dst), func(pos, at, rows, step, count, stride int) {
		for range rows {
			y := j.y[at:]
			if stride == 0 {
				repeat(one, y[0])
				y = one
			}
			j.part(dst[pos:][:count], x[pos:][:count], y, 2*stride)
			pos, at = pos+count, at+step
		}
	})
	spares.Put(spare)
}

// part computes dst from x and y. step is the distance between elements of y in bytes. A remainder of
// less than halfTurn elements is computed in a buffer.
func (j *halfJob) part(dst, x, y []uint16, step int) {
	n := len(dst) &^ (halfTurn - 1)
	if n > 0 {
		j.call(dst[:n], x, y, step)
	}
	rest := len(dst) - n
	if rest == 0 {
		return
	}
	spare := spares.Get().(*[chunk]uint32)
	room := unsafe.Slice((*uint16)(unsafe.Pointer(spare)), 2*halfTurn)
	first, second := room[:halfTurn], room[halfTurn:]
	copy(first, x[n:][:rest])
	if step != 0 {
		copy(second, y[n:][:rest])
		y = second
	}
	j.call(first, first, y, step)
	copy(dst[n:], first)
	spares.Put(spare)
}

func (j *halfJob) call(dst, x, y []uint16, step int) {
	around, at := 0, unsafe.Pointer(&dst[0])
	if j.streaming && uintptr(at)%64 == 0 {
		around = 1
	}
	j.run(at, unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), len(dst), step, around, j.alpha, j.beta)
}

// halfPassOf returns the pass of a code and its parameters, or nil.
func halfPassOf(k driver.Kernel, d driver.DType) (run asm.HalfPass, alpha, beta float32) {
	f, functions := &float16s, float16Functions
	switch d {
	case driver.Float16:
	case driver.BFloat16:
		f, functions = &bfloat16s, bfloat16Functions
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
	case driver.Pow: // multiplies x by x
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
	of, ok := halfFunctionsByCode[k.Code]
	if d == driver.Float16 && !ok {
		of, ok = float16Sines[k.Code]
	}
	if ok && functions != nil {
		if of == asm.GeluHalf {
			of = map[driver.DType]asm.Function{driver.Float16: asm.GeluFloat16, driver.BFloat16: asm.GeluBFloat16}[d]
		}
		return functions[of], 0, 0
	}
	return nil, 0, 0
}

// plain returns x as float32. NaN becomes one that bfloat16 can represent.
func plain(x float64) float32 {
	if x != x {
		x = math.NaN()
	}
	return float32(x)
}
