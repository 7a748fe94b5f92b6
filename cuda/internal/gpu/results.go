//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"math/bits"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// results is Results of reduce.cuh.
type results struct {
	dtype, parts  uint32
	outs, count   int64
	kept, reduced axes
}

// reduction joins the elements of src that belong to one element of dst. It uses the kernels
// defined by rows, columns and joints of reduce.cuh.
type reduction struct {
	module, name string // kernels: rows_name, columns_name, columns_packs_name
	joints       string // kernel that joins partial results
	room         int    // bytes of a partial result
	most         int    // columns that a thread takes at most; 0 for as many as fit in 16 bytes
}

// run enqueues the reduction. It uses rows if the elements of a result are adjacent, columns if
// the results are, and several blocks per result if a result has many elements.
func (r reduction) run(b *Backend, code driver.Code, dst, src driver.View) {
	kept, reduced := reducedWalks(dst, src)
	switch {
	case kept.n == 0:
		return
	case !kept.fits(): // one half after the other
		axis := largest(dst.Shape)
		half := dst.Shape[axis] / 2
		r.run(b, code, cut(dst, axis, 0, half), cut(src, axis, 0, half))
		r.run(b, code, cut(dst, axis, half, dst.Shape[axis]), cut(src, axis, half, dst.Shape[axis]))
		return
	case !reduced.fits():
		whole := b.temporary(src.DType, src.Shape)
		b.Run(driver.Kernel{Code: driver.Copy}, whole, src)
		r.run(b, code, dst, whole)
		b.Release(whole.Buffer)
		return
	}
	p := plan{most: r.most, results: results{
		dtype: uint32(dst.DType), parts: 1, outs: int64(kept.n), count: int64(reduced.n),
		kept: *kept.axes(), reduced: *reduced.axes(),
	}}
	if !p.columns(b, kept, reduced, src) {
		p.rows(reduced)
	}
	var room driver.Buffer
	var at drv.Ptr
	if p.parts > 1 {
		room = b.scratch(kept.n * int(p.parts) * r.room)
		at = bufferOf(room).at()
	}
	a := argsOf{newArgs()}
	a.I32(int32(code))
	p.arguments(a)
	a.Ptr(pointer(src))
	a.Ptr(pointer(dst))
	a.Ptr(at)
	a.Bytes(bytesOf(&p.results))
	b.launch(kernel{r.module, p.kernel + r.name}, [3]uint32{p.grid, 1, 1}, [3]uint32{p.threads, 1, 1}, 0, a.Args)
	for parts := int(p.parts); parts > 1; {
		group, grid, left := joining(kept.n, parts)
		var more driver.Buffer
		var to drv.Ptr
		if left > 1 {
			more = b.scratch(kept.n * left * r.room)
			to = bufferOf(more).at()
		}
		a := argsOf{newArgs()}
		a.I32(int32(code))
		a.I32(int32(group))
		a.I32(int32(parts))
		a.Ptr(bufferOf(room).at())
		a.Ptr(to)
		a.Ptr(pointer(dst))
		a.Bytes(bytesOf(&p.results))
		b.launch(kernel{r.module, r.joints}, [3]uint32{uint32(grid), 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
		b.Release(room)
		room, parts = more, left
	}
}

// joining returns the launch that joins the partial results of outs results: threads per group,
// blocks, and parts left of each result.
func joining(outs, parts int) (group, grid, left int) {
	if parts <= 32 {
		group = pow2(parts)
		return group, (outs*group + threads - 1) / threads, 1
	}
	left = (parts + 1023) / 1024
	return 64, outs * left, left
}

// plan holds the launch parameters of a reduction.
type plan struct {
	results
	kernel        string
	near          bool
	group         int  // threads per result, for rows
	wide, deep    int  // threads, for columns
	width         int  // number of columns
	single        bool // a thread takes one column at a time
	most          int  // columns that a thread takes at most; 0 for as many as fit in 16 bytes
	grid, threads uint32
}

func (p *plan) arguments(a argsOf) {
	if p.group > 0 {
		near := int32(0)
		if p.near {
			near = 1
		}
		a.I32(near)
		a.I32(int32(p.group))
		return
	}
	a.I32(int32(p.wide))
	a.I32(int32(p.deep))
	a.I64(int64(p.width))
}

// rows plans for results whose elements are read by adjacent threads.
func (p *plan) rows(reduced walk) {
	const block, part = 1024, 8192 // elements of a warp, and of a block
	p.kernel = "rows_"
	if last := len(reduced.shape) - 1; last >= 0 && reduced.n > 0 {
		p.near = reduced.stride[0][last] == 1 && (last == 0 || reduced.shape[last]%8 == 0)
	}
	outs, count := int(p.outs), int(p.count)
	if count <= block {
		p.group = pow2(min(32, (count+7)/8))
		p.threads, p.grid = threads, uint32((outs*p.group+threads-1)/threads)
		return
	}
	parts := (count + part - 1) / part
	p.group, p.parts = 32, uint32(parts)
	p.threads, p.grid = uint32(32*pow2((min(count, part)+block-1)/block)), uint32(outs*parts)
}

// columns plans for adjacent results with adjacent elements, and reports whether the views have
// that layout.
func (p *plan) columns(b *Backend, kept, reduced walk, src driver.View) bool {
	last, deepest := len(kept.shape)-1, len(reduced.shape)-1
	if last < 0 || deepest < 0 || p.count <= 8 || abs(kept.stride[1][last]) >= abs(reduced.stride[0][deepest]) {
		return false
	}
	count := int(p.count)
	p.width = kept.shape[last]
	pack, size := 16/max(4, src.DType.Size()), src.DType.Size()
	if p.most > 0 {
		pack = min(pack, p.most)
	}
	aligned := !p.single && kept.stride[1][last] == 1 && p.width%pack == 0 && int(pointer(src))%(pack*size) == 0
	for _, s := range kept.stride[1][:last] {
		aligned = aligned && s%pack == 0
	}
	for _, s := range reduced.stride[0] {
		aligned = aligned && s%pack == 0
	}
	p.kernel = "columns_packs_"
	if !aligned {
		p.kernel, pack = "columns_", 1
	}
	lanes := pow2(min(32, (count+7)/8))
	side := pow2((p.width + pack - 1) / pack)
	p.wide = min(side, 32, threads/lanes)
	if lanes < 8 {
		p.wide = min(side, threads/lanes)
	}
	p.wide = max(p.wide, min(side, 32))
	p.deep = min(lanes, threads/p.wide)
	if p.wide*p.deep < 32 {
		return false
	}
	blocks, tiles := 1, 0
	for {
		tiles = (p.width + p.wide*pack - 1) / (p.wide * pack) * (kept.n / p.width)
		if p.wide <= 8 || p.deep >= lanes || tiles*((count+1023)/1024) >= 2*b.device.Multiprocessors() {
			break
		}
		p.wide, p.deep = p.wide/2, p.deep*2
	}
	for p.wide*p.deep*blocks < threads && blocks*1024 < count {
		blocks *= 2
	}
	parts := (count + blocks*1024 - 1) / (blocks * 1024)
	p.parts = uint32(parts)
	p.grid, p.threads = uint32(tiles*parts), uint32(p.wide*p.deep*blocks)
	return true
}

// reducedWalks returns the walk through dst with the first element of each result in src, and the
// walk through the elements of a result.
func reducedWalks(dst, src driver.View) (kept, reduced walk) {
	from, to := driver.View{}, driver.View{}
	in := driver.View{}
	for axis, n := range src.Shape {
		if dst.Shape[axis] == n {
			to.Shape, to.Stride = append(to.Shape, n), append(to.Stride, dst.Stride[axis])
			from.Shape, from.Stride = append(from.Shape, n), append(from.Stride, src.Stride[axis])
		} else {
			in.Shape, in.Stride = append(in.Shape, n), append(in.Stride, src.Stride[axis])
		}
	}
	return walkOf(to, from), walkOf(in)
}

// fits reports whether one kernel can cover the walk.
func (w walk) fits() bool {
	return len(w.shape) <= 1 || w.n <= maxItems && len(w.shape) <= maxRank
}

// scratch returns memory for kernels, valid until its release.
func (b *Backend) scratch(n int) driver.Buffer {
	buffer, err := b.AllocUnset(n)
	if err != nil {
		failed(fmt.Errorf("%s: memory for partial results: %w", b.name, err))
	}
	return buffer
}

// temporary returns a contiguous view of scratch memory.
func (b *Backend) temporary(d driver.DType, shape []int) driver.View {
	v := driver.View{DType: d, Shape: shape, Stride: make([]int, len(shape))}
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		v.Stride[i] = n
		n *= shape[i]
	}
	v.Buffer = b.scratch(n * d.Size())
	return v
}

// cut returns the part of v from lo to hi along an axis.
func cut(v driver.View, axis, lo, hi int) driver.View {
	v.Offset += lo * v.Stride[axis]
	v.Shape = append([]int(nil), v.Shape...)
	v.Shape[axis] = hi - lo
	return v
}

// largest returns the longest axis.
func largest(shape []int) int {
	most := 0
	for axis, n := range shape {
		if n > shape[most] {
			most = axis
		}
	}
	return most
}

// pow2 returns the least power of two that is at least n.
func pow2(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

func abs(n int) int { return max(n, -n) }
