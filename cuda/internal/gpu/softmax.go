//go:build cuda && linux && cgo

package gpu

import (
	"halfnote/tensor/driver"
)

func init() {
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return len(src) == 1 && halfOrFloat(src[0]) && (dst == src[0] || dst == driver.Float32)
		}, softmax}, driver.Softmax, driver.LogSoftmax)
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return halfOrFloat(dst) && driver.AllDTypes(src, 2, dst)
		},
		softmax}, driver.SoftmaxGrad, driver.LogSoftmaxGrad)
}

// halfOrFloat reports whether d is computed in float32.
func halfOrFloat(d driver.DType) bool { return d.Wide() == driver.Float32 && !d.IsStorage() }

// softened is Softened of softmax.cuh.
type softened struct {
	code, dtype, near uint32
	_                 uint32
	lines, n          int64
	along             [3]int64
	others            axes
}

const (
	softCached = 8 << 10 // elements of a line kept in registers
	softMost   = 4 << 20 // elements of a line that one block adds up
)

// softmax computes along an axis: by rows if the elements along it are adjacent, by columns if
// the lines are.
func softmax(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	if dst.Len() == 0 {
		return
	}
	n := dst.Shape[k.Axis]
	views := append([]driver.View{dst}, src...)
	s := softened{code: uint32(k.Code), dtype: uint32(dst.DType), n: int64(n)}
	rest := make([]driver.View, len(views))
	for i, v := range views {
		s.along[i] = int64(v.Stride[k.Axis])
		rest[i] = without(v, k.Axis)
	}
	w := walkOf(rest...)
	if n > softMost {
		softmaxByParts(b, k, dst, src)
		return
	}
	for i, v := range views {
		if s.along[i] == 1 && (i > 0 || int(pointer(v))%16 == 0 && w.aligned(0, 8)) {
			s.near |= 1 << i
		}
	}
	w.parts(func(axes *axes, lines int, offset []int) {
		p := s
		p.lines, p.others = int64(lines), *axes
		name, grid, block, first := "rows_", 0, threads, -1
		beside := 0 // distance between lines of src
		if last := axes.rank - 1; lines > 1 {
			beside = abs(int(axes.stride[1][last]))
		}
		switch {
		case beside > 0 && beside < abs(int(s.along[1])) && n <= 1024 && lines >= 8:
			lanes := pow2(min(32, (n+7)/8))
			first = min(32, pow2(lines), threads/min(lanes, 8))
			deep := min(lanes, threads/first)
			name, block = "columns_", max(first*deep, 32)
			first = block / deep
			grid = (lines + first - 1) / first
		case n <= 1024:
			first = pow2(min(32, (n+7)/8))
			grid = (lines*first + threads - 1) / threads
		case n <= softCached:
			first, grid, block = 32, lines, 32*pow2((n+1023)/1024)
		default:
			name, grid, block = "long_", lines, 512
		}
		a := argsOf{newArgs()}
		if first >= 0 {
			a.I32(int32(first))
		}
		for i := range 3 {
			if i >= len(views) {
				a.Ptr(0)
				continue
			}
			v := views[i]
			v.Offset += offset[i]
			a.Ptr(pointer(v))
		}
		a.Bytes(bytesOf(&p))
		b.launch(kernel{"softmax_" + src[0].DType.String(), name + src[0].DType.String()}, [3]uint32{uint32(grid), 1, 1}, [3]uint32{uint32(block), 1, 1}, 0, a.Args)
	})
}

// aligned reports whether all strides of a view are multiples of n.
func (w walk) aligned(view, n int) bool {
	for _, s := range w.stride[view] {
		if s%n != 0 {
			return false
		}
	}
	return true
}

// softmaxByParts runs the codes that define the code, for very long lines.
func softmaxByParts(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	one := append([]int(nil), dst.Shape...)
	one[k.Axis] = 1
	repeated := func(v driver.View) driver.View {
		v.Shape, v.Stride = dst.Shape, append([]int(nil), v.Stride...)
		v.Stride[k.Axis] = 0
		return v
	}
	var all []driver.Buffer
	run := func(c driver.Code, shape []int, src ...driver.View) driver.View {
		v := b.temporary(driver.Float32, shape)
		all = append(all, v.Buffer)
		b.Run(driver.Kernel{Code: c}, v, src...)
		return v
	}
	x := run(driver.Copy, dst.Shape, src[0])
	var y, result driver.View
	if len(src) > 1 {
		y = run(driver.Copy, dst.Shape, src[1])
	}
	switch k.Code {
	case driver.Softmax, driver.LogSoftmax:
		x = run(driver.Sub, dst.Shape, x, repeated(run(driver.ReduceMax, one, x)))
		e := run(driver.Exp, dst.Shape, x)
		total := run(driver.Sum, one, e)
		if k.Code == driver.Softmax {
			result = run(driver.Div, dst.Shape, e, repeated(total))
		} else {
			result = run(driver.Sub, dst.Shape, x, repeated(run(driver.Log, one, total)))
		}
	case driver.SoftmaxGrad:
		total := run(driver.Sum, one, run(driver.Mul, dst.Shape, x, y))
		result = run(driver.Mul, dst.Shape, run(driver.Sub, dst.Shape, x, repeated(total)), y)
	default:
		total := run(driver.Sum, one, x)
		result = run(driver.Sub, dst.Shape, x, run(driver.Mul, dst.Shape, run(driver.Exp, dst.Shape, y), repeated(total)))
	}
	b.Run(driver.Kernel{Code: driver.Copy}, dst, result)
	for _, buffer := range all {
		b.Release(buffer)
	}
}
