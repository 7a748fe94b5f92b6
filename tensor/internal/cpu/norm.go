package cpu

import (
	"math"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// norms are this processor's assembly routines for normalisations.
var norms = normsOf(asm.Best())

func normsOf(t *asm.Tier) asm.Norms {
	if t == nil {
		return asm.Norms{}
	}
	return t.Norms
}

func init() {
	offer(family{offers: offersNorm, check: checkMoments, run: runNorm}, driver.Moments)
	offer(family{offers: offersNorm, check: sameShapes, run: runNorm}, driver.Normalize, driver.NormalizeGrad)
	offer(family{offers: offersNorm, check: checkNormSums, run: runNorm}, driver.NormalizeSums)
}

// checkMoments checks that src is x, which is reduced, and its mean, of dst's shape.
func checkMoments(k driver.Kernel, dst driver.View, src []driver.View) {
	fits(k, dst, 0, src[0], true)
	fits(k, dst, 1, src[1], false)
}

// checkNormSums checks that the first operand has dst's shape, and that the others are reduced to
// it.
func checkNormSums(k driver.Kernel, dst driver.View, src []driver.View) {
	for i, v := range src {
		fits(k, dst, i, v, i > 0)
	}
}

func runNorm(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	if src[0].DType.Wide() == driver.Float64 {
		norm[float64](b, k, dst, src)
	} else {
		norm[float32](b, k, dst, src)
	}
}

func norm[T real](b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	switch k.Code {
	case driver.Moments:
		moments[T](b, dst, src[0], src[1])
	case driver.Normalize:
		normalize[T](b, dst, src)
	case driver.NormalizeGrad:
		if len(src) < 6 {
			normGradAndSums(b, dst, src, T(k.Alpha))
		} else {
			normGrad[T](b, dst, src)
		}
	default:
		normSums(b, dst, src, T(k.Alpha))
	}
}

func offersNorm(c driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	if len(src) == 0 || !computable(dst, src) || !src[len(src)-1].IsFloat() || !dst.IsFloat() {
		return false
	}
	wide := dst.Wide()
	var given []driver.DType // dtypes of the operands other than statistics, which have the wider dtype
	switch {
	case c == driver.Moments && len(src) == 2:
		given, src = src[:1], []driver.DType{dst, src[1]}
	case c == driver.Normalize && (len(src) == 3 || len(src) == 5):
		given, src = src[:1], src[1:]
		if given[0] != dst {
			return false
		}
	case c == driver.NormalizeGrad && len(src) >= 4 && len(src) <= 7:
		given, src = src[:2], src[2:]
		if given[0] != dst {
			return false
		}
	case c == driver.NormalizeSums && (len(src) == 5 || len(src) == 6):
		given = src[1:3]
		src = append([]driver.DType{dst, src[0]}, src[3:]...)
	default:
		return false
	}
	for _, d := range given {
		if d.Size() == 0 || d.Wide() != wide {
			return false
		}
	}
	for _, d := range src {
		if d != wide {
			return false
		}
	}
	return true
}

// factors holds the broadcast operands of a normalisation: statistics and weights.
type factors[T real] struct {
	multiIter
	memory [5][]T
}

// factorsOf returns views as factors, walked in the order of axes. A view without a
// buffer stands for value everywhere.
func factorsOf[T real](shape []int, axes []int, value []T, views ...driver.View) factors[T] {
	var f factors[T]
	for i, v := range views {
		f.offset[i] = v.Offset
		if v.Buffer == nil {
			f.memory[i] = value[i : i+1]
		} else {
			f.memory[i] = elements[T](bufferOf(v.Buffer))
		}
	}
	for _, axis := range axes {
		var stride viewOffsets
		for i, v := range views {
			if v.Buffer != nil {
				stride[i] = v.Stride[axis]
			}
		}
		f.push(shape[axis], stride)
	}
	return f
}

// seqTo returns 0, 1, … n-1.
func seqTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// absent stands for an operand that is missing.
var absent driver.View

// normalize sets dst to ((x - mean)*scale)*w + b, a chunk of elements at a time. Runs of elements
// share factors, or rows of factors.
func normalize[T real](b *Backend, dst driver.View, src []driver.View) {
	x, w := read[T](src[0]), write[T](dst)
	views := append([]driver.View{absent, absent}, src[1:3]...) // w and b are the first two
	if len(src) == 5 {
		views[0], views[1] = src[3], src[4]
	}
	f := factorsOf(dst.Shape, seqTo(len(dst.Shape)), []T{1, T(math.Copysign(0, -1))}, views...)
	run := f.normalizeKernel(kernelsFor(dst.DType))
	if src[0].DType != dst.DType || !x.layout.dense() || !w.layout.dense() {
		run = nil
	}
	b.backwards(dst.Len(), copyItem, func(lo, hi int) {
		if run != nil {
			var row asm.Factors
			f.tiles(lo, hi, func(at viewOffsets, rows, count int) {
				f.row(at, &row)
				run(w.address(lo, rows*count), x.address(lo, rows*count), rows, count, &row)
				lo += rows * count
			})
			return
		}
		withScratch(func(s *scratch[T]) {
			each := chunk
			if x.bulk() && w.bulk() {
				each = bulk
			}
			for ; lo < hi; lo += each {
				n := min(each, hi-lo)
				in, out := x.some(lo, n, s.in[0][:]), w.spare(lo, n, s.out[:])
				f.normalize(out, in, lo)
				w.put(lo, out)
			}
		})
	})
}

// normalizeKernel returns the kernel of rows that share statistics and have one weight and one bias or
// a row of each. It returns nil if there is none, or if rows are short.
func (f *factors[T]) normalizeKernel(k *asm.RowKernels) func(dst, x unsafe.Pointer, rows, n int, row *asm.Factors) {
	switch step := f.inner(); {
	case f.rowLength() < fast/2 || step[2]|step[3] != 0 || step[0] != step[1]:
	case step[0] == 0:
		return k.Normalize
	case step[0] == 1:
		return k.NormalizeRow
	}
	return nil
}

// rowLength returns the length of rows along the innermost axis.
func (f *factors[T]) rowLength() int {
	if last := len(f.shape) - 1; last >= 0 {
		return f.shape[last]
	}
	return 1
}

// normalize sets out to in, which begins with element lo, normalised with weights, biases, means and
// scales.
func (f *factors[T]) normalize(out, in []T, lo int) {
	step := f.inner()
	w, b, mean, scale := f.memory[0], f.memory[1], f.memory[2], f.memory[3]
	quick := f.normalizeKernel(kernelsFor(dtypeOf[T]()))
	var row asm.Factors
	f.tiles(lo, lo+len(in), func(at viewOffsets, rows, count int) {
		x, y := in[:rows*count], out[:rows*count]
		in, out = in[rows*count:], out[rows*count:]
		if quick != nil && count >= fast/2 {
			f.row(at, &row)
			quick(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), rows, count, &row)
			return
		}
		next := f.outer()
		for r := range rows {
			y := y[r*count:]
			for i, v := range x[r*count:][:count] {
				z := (v - mean[at[2]+i*step[2]]) * scale[at[3]+i*step[3]]
				y[i] = T(z*w[at[0]+i*step[0]]) + b[at[1]+i*step[1]]
			}
			for i := range at {
				at[i] += next[i]
			}
		}
	})
}

// row sets row to the float32 factors at offsets at, for assembly.
func (f *factors[T]) row(at viewOffsets, row *asm.Factors) {
	next := f.outer()
	for i, m := range f.memory {
		if m != nil {
			row.At[i] = unsafe.Pointer(&m[at[i]])
			row.Step[i] = 4 * next[i]
		}
	}
}
