package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// layout maps the row-major index of an element of a view to its offset in memory.
type layout struct {
	offset        int
	n             int   // number of contiguous elements; if not 0, there are no axes
	shape, stride []int // without axes of size 1, adjacent axes merged where possible
}

func layoutOf(v driver.View) layout {
	if v.Contiguous() {
		return layout{offset: v.Offset, n: v.Len()}
	}
	l := layout{offset: v.Offset}
	for i, n := range v.Shape {
		l.push(n, v.Stride[i])
	}
	return l
}

// push adds an innermost axis.
func (l *layout) push(n, stride int) {
	if n == 1 {
		return
	}
	if last := len(l.shape) - 1; last >= 0 && l.stride[last] == n*stride {
		l.shape[last] *= n
		l.stride[last] = stride
		return
	}
	l.shape = append(l.shape, n)
	l.stride = append(l.stride, stride)
}

// len returns the number of elements.
func (l layout) len() int {
	n := max(l.n, 1)
	for _, size := range l.shape {
		n *= size
	}
	return n
}

// dense reports whether the elements are contiguous.
func (l layout) dense() bool {
	return len(l.shape) == 0 || len(l.shape) == 1 && l.stride[0] == 1
}

// run returns the number of contiguous elements along the innermost axis.
func (l layout) run() int { return l.every(1) }

// every returns the length of the innermost axis if its stride is step, else 1.
func (l layout) every(step int) int {
	if last := len(l.shape) - 1; last >= 0 && l.stride[last] == step {
		return l.shape[last]
	}
	return 1
}

// inRun returns the offset of element lo if the elements lo … lo+n-1 are contiguous along the last
// axis.
func (l layout) inRun(lo, n int) (at int, ok bool) {
	last := len(l.shape) - 1
	if last < 0 || l.stride[last] != 1 || n > l.shape[last] || lo%l.shape[last]+n > l.shape[last] {
		return 0, false
	}
	return l.index(lo), true
}

// index returns the offset of element i.
func (l layout) index(i int) int {
	if l.n > 0 {
		return l.offset + i
	}
	at := l.offset
	for axis := len(l.shape) - 1; axis > 0 && i > 0; axis-- {
		n := l.shape[axis]
		q := i / n
		at += (i - q*n) * l.stride[axis]
		i = q
	}
	if i > 0 {
		at += i * l.stride[0]
	}
	return at
}

// tiles calls visit for the elements lo … lo+n-1, in order, as many rows of constant stride at a
// time as possible: rows of count elements, beginning with element lo+pos, at offsets at,
// at+stride, …, with step from row to row.
func (l layout) tiles(lo, n int, visit func(pos, at, rows, step, count, stride int)) {
	last := len(l.shape) - 1
	if last < 0 {
		visit(0, l.index(lo), 1, 0, n, min(l.n, 1))
		return
	}
	size, outer, step, stride := l.shape[last], 1, 0, l.stride[last]
	if last > 0 {
		outer, step = l.shape[last-1], l.stride[last-1]
	}
	for pos := 0; pos < n; {
		i := lo + pos
		rows, count := 1, min(n-pos, size-i%size)
		if count == size {
			rows = min((n-pos)/size, outer-i/size%outer)
		}
		visit(pos, l.index(i), rows, step, count, stride)
		pos += rows * count
	}
}

// runs is tiles row by row.
func (l layout) runs(lo, n int, visit func(pos, at, stride, count int)) {
	l.tiles(lo, n, func(pos, at, rows, step, count, stride int) {
		for range rows {
			visit(pos, at, stride, count)
			pos, at = pos+count, at+step
		}
	})
}

// gather sets dst to the elements of mem from lo on.
func gather[E any](dst, mem []E, l layout, lo int) {
	l.tiles(lo, len(dst), func(pos, at, rows, step, count, stride int) {
		if stride == 1 && copyRows(dst[pos:][:rows*count], mem[at:], rows, count, count, step) {
			return
		}
		if stride == 0 && repeatRows(dst[pos:][:rows*count], mem, at, rows, count, step) {
			return
		}
		if step == 1 && stride > 1 && rows >= lanes && count >= lanes {
			transpose(dst[pos:], mem, at, rows, count, count, stride)
			return
		}
		for range rows {
			pick(dst[pos:pos+count], mem, at, stride)
			pos, at = pos+count, at+step
		}
	})
}

// pick sets dst to the elements of mem at offsets at, at+stride, ….
func pick[E any](dst, mem []E, at, stride int) {
	switch stride {
	case 1:
		copy(dst, mem[at:])
	case 0:
		repeat(dst, mem[at])
	default:
		for i := range dst {
			dst[i] = mem[at]
			at += stride
		}
	}
}

// repeat sets all of dst to x.
func repeat[E any](dst []E, x E) {
	if len(dst) < fast {
		for i := range dst {
			dst[i] = x
		}
		return
	}
	for i := range fast {
		dst[i] = x
	}
	for n := fast; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// scatter sets the elements of mem from lo on to src.
func scatter[E any](mem, src []E, l layout, lo int) {
	l.tiles(lo, len(src), func(pos, at, rows, step, count, stride int) {
		if stride == 1 && copyRows(mem[at:], src[pos:][:rows*count], rows, count, step, count) {
			return
		}
		for range rows {
			from := src[pos : pos+count]
			if stride == 1 {
				copy(mem[at:at+count], from)
			} else {
				to := at
				for _, x := range from {
					mem[to] = x
					to += stride
				}
			}
			pos, at = pos+count, at+step
		}
	})
}

// copyRows copies rows of count elements, dstep and sstep elements apart, if there is assembly for
// it and at least 4 rows. It reports whether it did.
func copyRows[E any](dst, src []E, rows, count, dstep, sstep int) bool {
	if norms.CopyRows == nil || rows < 4 || dstep < 0 || sstep < 0 {
		return false
	}
	_, _ = dst[(rows-1)*dstep+count-1], src[(rows-1)*sstep+count-1]
	size := int(unsafe.Sizeof(dst[0]))
	norms.CopyRows(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), rows, count*size, dstep*size, sstep*size)
	return true
}

// repeatRows sets each of the rows of count elements to one element of mem, at offsets at, at+step,
// …, if there is assembly for it. It reports whether it did.
func repeatRows[E any](dst, mem []E, at, rows, count, step int) bool {
	run, size := selects.Repeat4, int(unsafe.Sizeof(dst[0]))
	if size == 2 {
		run = selects.Repeat2
	}
	if run == nil || size > 4 || size == 1 || step < 0 || rows*count < fast {
		return false
	}
	_ = mem[at+(rows-1)*step]
	run(unsafe.Pointer(&dst[0]), unsafe.Pointer(&mem[at]), rows, count, step*size)
	return true
}

// transposed reports whether the elements of the last two axes are contiguous along the first of
// the two, and whether copyTransposed is fast for elements of a number of bytes.
func (l layout) transposed(size int) bool {
	n := len(l.shape)
	if n < 2 || l.stride[n-2] != 1 || l.stride[n-1] <= 1 {
		return false
	}
	return min(l.shape[n-2], l.shape[n-1]) >= lanes || l.shape[n-2] > 1 && weaves(size, l.shape[n-2], l.shape[n-1])
}

// weaves reports whether [asm.Weave] transposes rows of count elements of a number of bytes.
func weaves(size, rows, count int) bool {
	return selects.Weave != nil && size == 2 && rows <= asm.WeaveFew && count >= 2*lanes
}

// copyTransposed sets all of dst to mem, of a transposed layout, a tile at a time.
func copyTransposed[E any](b *Backend, dst, mem []E, l layout) {
	const high, wide = 4 * lanes, chunk
	n := len(l.shape)
	rows, cols, stride := l.shape[n-2], l.shape[n-1], l.stride[n-1]
	down, across := (rows+high-1)/high, (cols+wide-1)/wide
	b.each(len(dst)/(rows*cols)*down*across, func(i int) {
		first, r, c := i/(down*across)*rows*cols, i/across%down*high, i%across*wide
		transpose(dst[first+r*cols+c:], mem, l.index(first)+r+c*stride, min(high, rows-r), min(wide, cols-c), cols, stride)
	})
}

// transpose sets dst[r*next+c] to mem[at+r+c*stride] for 16 contiguous c at a time.
func transpose[E any](dst, mem []E, at, rows, count, next, stride int) {
	size := int(unsafe.Sizeof(dst[0]))
	var run asm.Pack
	switch size {
	case 2:
		run = selects.Transpose2
	case 4:
		run = selects.Transpose4
	}
	c := 0
	if weaves(size, rows, count) {
		room := takeBytes(asm.WeaveRoom)
		defer room.give()
		c = count / (2 * lanes) * (2 * lanes)
		_, _ = mem[at+(c-1)*stride+rows-1], dst[(rows-1)*next+c-1]
		selects.Weave(&asm.Weave{
			Src: unsafe.Pointer(&mem[at]), Stride: 2 * stride * size, Second: stride * size, SrcStep: 2 * lanes * stride * size,
			Dst: unsafe.Pointer(&dst[0]), DstStride: next * size, DstStep: 2 * lanes * size,
			Lines: lanes, N: rows, Words: 2 * lanes, Times: c / (2 * lanes), Room: room.base,
		})
	}
	for ; c < count; c += lanes {
		n := min(lanes, count-c)
		from := at + c*stride
		if run != nil && n == lanes {
			run(unsafe.Pointer(&mem[from]), size*stride, unsafe.Pointer(&dst[c]), size*next, rows, 1<<lanes-1)
			continue
		}
		for r := range rows {
			to, p := dst[r*next+c:][:n], from+r
			for i := range to {
				to[i] = mem[p]
				p += stride
			}
		}
	}
}
