//go:build cuda && linux && cgo

package gpu

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

func init() {
	offer(family{
		func(_ driver.Code, _ driver.DType, src []driver.DType) bool { return len(src) == 0 },
		func(b *Backend, k driver.Kernel, dst driver.View, _ []driver.View) { fill(b, k.Alpha, dst) },
	}, driver.Fill)
	offer(family{
		func(_ driver.Code, _ driver.DType, src []driver.DType) bool {
			return len(src) == 1 && src[0].Size() > 0
		},
		func(b *Backend, _ driver.Kernel, dst driver.View, src []driver.View) { copyView(b, dst, src[0]) },
	}, driver.Copy)
}

// fill sets all elements of dst.
func fill(b *Backend, alpha float64, dst driver.View) {
	w := orderedWalk(dst)
	size := dst.DType.Size()
	begin := func() argsOf {
		a := argsOf{newArgs()}
		a.I32(int32(dst.DType))
		a.I32(int32(size))
		a.F64(alpha)
		a.I64(integer(alpha, dst.DType))
		return a
	}
	step, ok := w.step(0)
	switch {
	case w.n == 0:
	case ok && step == 1 && math.Float64bits(alpha) == 0:
		b.must(b.stream.Set8(pointer(dst), 0, w.n*size))
	case ok && step == 1:
		a := begin()
		a.I64(int64(w.n))
		a.Ptr(pointer(dst))
		b.launchItems(kernel{"copy", "fill"}, w.n*size/16+16, a.Args)
	default:
		w.parts(func(axes *axes, n int, offset []int) {
			a := begin()
			a.I32(int32(n))
			a.Ptr(pointer(dst) + drv.Ptr(offset[0]*size))
			a.Bytes(bytesOf(axes))
			b.launchItems(kernel{"copy", "fill_strided"}, n, a.Args)
		})
	}
}

// integer returns x as an element of d if d is an integer dtype.
func integer(x float64, d driver.DType) int64 {
	switch {
	case d == driver.Bool && x != 0:
		return 1
	case d == driver.Bool:
		return 0
	case x >= -0x1p63 && x < 0x1p63:
		return int64(x)
	}
	return math.MinInt64
}

// copyView sets dst to src, converted to dst's dtype.
func copyView(b *Backend, dst, src driver.View) {
	w := orderedWalk(dst, src)
	if w.n == 0 {
		return
	}
	same := dst.DType == src.DType
	to, into := w.step(0)
	from, at := w.step(1)
	switch flat := into && at && to == 1 && from == 1; {
	case flat && same:
		b.must(b.stream.Copy(pointer(dst), pointer(src), w.n*dst.DType.Size()))
	case same && w.together():
		copyUnits(b, w, dst, src)
	case w.together() && w.packs(flat, dst, src):
		convertPacks(b, w, flat, dst, src)
	case w.turned() >= 0:
		turn(b, w, dst, src)
	case same:
		copyUnits(b, w, dst, src)
	default:
		w.parts(func(axes *axes, n int, offset []int) {
			a := conversion(dst, src)
			a.I32(int32(n))
			a.Ptr(pointer(dst) + drv.Ptr(offset[0]*dst.DType.Size()))
			a.Ptr(pointer(src) + drv.Ptr(offset[1]*src.DType.Size()))
			a.Bytes(bytesOf(axes))
			b.launchItems(kernel{"copy", "convert_strided"}, n, a.Args)
		})
	}
}

// conversion returns the first arguments of a conversion kernel.
func conversion(dst, src driver.View) argsOf {
	a := argsOf{newArgs()}
	a.I32(int32(src.DType))
	a.I32(int32(dst.DType))
	return a
}

// orderedWalk returns the walk in the memory order of the first view.
func orderedWalk(views ...driver.View) walk {
	order := make([]int, len(views[0].Shape))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(abs(views[0].Stride[j]), abs(views[0].Stride[i]))
	})
	list := make([]driver.View, len(views))
	for i, v := range views {
		for _, axis := range order {
			list[i].Shape = append(list[i].Shape, v.Shape[axis])
			list[i].Stride = append(list[i].Stride, v.Stride[axis])
		}
	}
	return walkOf(list...)
}

// together reports whether elements along the last axis are adjacent in all views.
func (w walk) together() bool {
	for _, s := range w.stride {
		if len(s) > 0 && s[len(s)-1] != 1 {
			return false
		}
	}
	return true
}

// even reports whether all strides of a view but the last are multiples of n.
func (w walk) even(view, n int) bool {
	last := len(w.shape) - 1
	for i, s := range w.stride[view] {
		if i != last && s%n != 0 {
			return false
		}
	}
	return true
}

// copyUnits copies elements without conversion, several at once where possible.
func copyUnits(b *Backend, w walk, dst, src driver.View) {
	size, last := dst.DType.Size(), len(w.shape)-1
	to, from := pointer(dst), pointer(src)
	for last >= 0 && w.together() && size < 16 && w.shape[last]%2 == 0 && w.even(0, 2) && w.even(1, 2) && int(to|from)%(2*size) == 0 {
		size *= 2
		w.n /= 2
		w.shape[last] /= 2
		for v := range w.stride {
			for axis := range last {
				w.stride[v][axis] /= 2
			}
		}
	}
	w.parts(func(axes *axes, n int, offset []int) {
		a := argsOf{newArgs()}
		a.I32(int32(n))
		a.Ptr(to + drv.Ptr(offset[0]*size))
		a.Ptr(from + drv.Ptr(offset[1]*size))
		a.Bytes(bytesOf(axes))
		b.launchItems(kernel{"copy", fmt.Sprint("copy_", size)}, (n+3)/4, a.Args)
	})
}

// packs reports whether elements can be converted eight at a time.
func (w walk) packs(flat bool, views ...driver.View) bool {
	last := len(w.shape) - 1
	for i, v := range views {
		size := v.DType.Size()
		bytes := min(16, 8*size) // bytes per access
		if int(pointer(v))%bytes != 0 || !w.even(i, bytes/size) {
			return false
		}
	}
	return flat || last >= 0 && w.shape[last]%8 == 0
}

// convertPacks converts eight elements at a time, and the remainder of contiguous views one by
// one.
func convertPacks(b *Backend, w walk, flat bool, dst, src driver.View) {
	rest := 0
	if flat {
		rest = w.n % 8
		w.shape = []int{w.n - rest}
		w.stride = [][]int{{1}, {1}}
	}
	last := len(w.shape) - 1
	w.n = (w.n - rest) / 8
	w.shape[last] /= 8
	w.stride[0][last], w.stride[1][last] = 8, 8
	run := func(axes *axes, n int, offset []int) {
		a := conversion(dst, src)
		a.I64(int64(n))
		a.I32(int32(rest))
		a.Ptr(pointer(dst) + drv.Ptr(offset[0]*dst.DType.Size()))
		a.Ptr(pointer(src) + drv.Ptr(offset[1]*src.DType.Size()))
		a.Bytes(bytesOf(axes))
		b.launchItems(kernel{"copy", "convert_packs"}, n+rest, a.Args)
	}
	if flat {
		run(w.axes(), w.n, []int{0, 0})
	} else {
		w.parts(run)
	}
}

// turned returns the axis along which elements of src are adjacent, if those of dst are adjacent
// along the last axis and both axes are long enough for tiles; otherwise -1.
func (w walk) turned() int {
	last := len(w.shape) - 1
	if last < 1 || w.shape[last] < 8 {
		return -1
	}
	best := last
	for axis, s := range w.stride[1] {
		if s != 0 && (abs(s) < abs(w.stride[1][best]) || w.stride[1][best] == 0) {
			best = axis
		}
	}
	if best == last || w.stride[1][last] == 0 || w.shape[best] < 8 {
		return -1
	}
	others := walk{n: w.n / w.shape[best] / w.shape[last], shape: make([]int, last-1)}
	if !others.fits() {
		return -1
	}
	return best
}

// turning is Turn of copy.cu.
type turning struct {
	rows, columns uint32
	row, column   [2]int64
}

// turn copies by tiles, which are read in src's order and written in dst's.
func turn(b *Backend, w walk, dst, src driver.View) {
	axis, last := w.turned(), len(w.shape)-1
	t := turning{rows: uint32(w.shape[axis]), columns: uint32(w.shape[last])}
	others := walk{n: w.n / w.shape[axis] / w.shape[last], stride: make([][]int, 2)}
	for v := range w.stride {
		t.row[v], t.column[v] = int64(w.stride[v][axis]), int64(w.stride[v][last])
		others.stride[v] = slices.Delete(slices.Clone(w.stride[v][:last]), axis, axis+1)
	}
	others.shape = slices.Delete(slices.Clone(w.shape[:last]), axis, axis+1)
	a, name := argsOf{newArgs()}, fmt.Sprint("turn_", dst.DType.Size())
	if dst.DType != src.DType {
		arguments.Put(a.Args)
		a, name = conversion(dst, src), "turn_convert"
		a.I32(int32(dst.DType.Size()))
	}
	a.Ptr(pointer(dst))
	a.Ptr(pointer(src))
	a.Bytes(bytesOf(&t))
	a.Bytes(bytesOf(others.axes()))
	tiles := (w.shape[axis] + 31) / 32 * ((w.shape[last] + 31) / 32) * others.n
	b.launch(kernel{"copy", name}, [3]uint32{uint32(tiles), 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
}
