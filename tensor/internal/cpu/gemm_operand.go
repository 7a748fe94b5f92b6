package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// operand is a factor of a gemm. Its lines are the rows of A or the columns of B.
type operand struct {
	base          unsafe.Pointer // start of the buffer or, for a result of at, of the matrix
	batch         layout
	dtype         driver.DType
	size          int    // bytes per element
	lines, inner  layout // layout of the lines, and of the elements of a line relative to it
	even          bool   // lines and elements are evenly spaced
	across, along int    // distances between lines and between elements of a line in bytes, if even
	spread        *im2col
	turned        bool       // elements are adjacent along the first of two axes, and panels are packed from copies of lines
	split         *splitting // of an operand of float32 that becomes one of bfloat16
	packing       *asm.Packing
}

// operandOf returns v as an operand. Its last axes are those of lines, followed by those along a line.
func operandOf(t *asm.Tier, v driver.View, lines, along int) operand {
	r, size := len(v.Shape)-along, v.DType.Size()
	o := operand{
		base: baseOf(v), dtype: v.DType, size: size,
		lines: axesOf(v, r-lines, lines), inner: axesOf(v, r, along),
		across: v.Stride[r-1] * size, along: v.Stride[len(v.Shape)-1] * size,
	}
	o.even = len(o.lines.shape) < 2 && len(o.inner.shape) < 2
	for i, l := range []layout{o.lines, o.inner} { // axes of size 1 do not count
		if len(l.shape) == 1 {
			*[]*int{&o.across, &o.along}[i] = l.stride[0] * size
		}
	}
	v.Shape, v.Stride = v.Shape[:r-lines], v.Stride[:r-lines]
	o.batch = layoutOf(v)
	switch {
	case t.Packs == nil:
	case v.DType == driver.Float16:
		o.packing = &t.Packs.F16
	case v.DType == driver.BFloat16:
		o.packing = &t.Packs.BF16
	default:
		o.packing = &t.Packs.F32
	}
	return o
}

// arrange chooses how to pack an operand whose elements are not contiguous. turn is set for A.
func (o *operand) arrange(depth int, turn bool) {
	if turn && o.turns() {
		o.turned = true
	} else if o.packing != nil && o.packing.Gather != nil && (!o.even || o.across != o.size && o.along != o.size && o.lines.len() > 1 && o.inner.len() > 1) {
		o.spread = im2colOf(o, depth)
	}
}

// baseOf returns the address of a view's buffer.
func baseOf(v driver.View) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(elements[uint64](bufferOf(v.Buffer))))
}

// at returns one matrix of the batch.
func (o operand) at(batch int) operand {
	o.base = unsafe.Add(o.base, o.batch.index(batch)*o.size)
	return o
}

func (o *operand) element(line, k int) unsafe.Pointer {
	return unsafe.Add(o.base, line*o.across+k*o.along)
}

// pack sets dst to a panel of lines first … first+lines-1, elements k0 … k0+kc-1 of each. Slot s of line
// l is slot s*width + l of the panel.
func (o *operand) pack(dst unsafe.Pointer, width, first, lines, k0, kc int) {
	if o.split != nil {
		o.packSplit(dst, width, first, lines, k0, kc)
		return
	}
	if o.spread != nil {
		o.gather(dst, width, first, lines, k0, kc)
		return
	}
	if o.packing == nil || !o.even {
		o.packGo(dst, width, first, lines, k0, kc)
		return
	}
	if o.packing.Whole {
		o.packWhole(dst, width, first, lines, k0, kc)
		return
	}
	src, across, along := o.element(first, k0), o.across, o.along
	if along == o.size || kc == 1 {
		for l := 0; l < width; l += 16 {
			n := min(16, lines-l)
			if n <= 0 { // this part of the panel is not used, but is filled with numbers
				n = 1
			} else if l > 0 {
				src = unsafe.Add(src, 16*across)
			}
			o.packing.Transpose(src, across, unsafe.Add(dst, l*4), width*4, kc, 1<<n-1)
		}
		return
	}
	f := o.packing.Copy16
	if width > 16 {
		f = o.packing.Copy32
	}
	f(src, along, dst, width*4, kc, 1<<lines-1)
}

// packWhole is pack for tiers whose packs read whole registers. It packs in Go where those would read
// beyond the operand.
func (o *operand) packWhole(dst unsafe.Pointer, width, first, lines, k0, kc int) {
	const n = 8
	src := o.element(first, k0)
	switch whole := kc / n * n; {
	case o.across == o.size && first+(width+n-1)/n*n <= o.lines.len():
		o.packing.Copy16(src, o.along, dst, width*4, kc, 1<<width-1)
	case o.along == o.size && whole > 0:
		for l := 0; l < width; l += n {
			if l > 0 && l < lines {
				src = unsafe.Add(src, n*o.across)
			}
			o.packing.Transpose(src, o.across, unsafe.Add(dst, l*4), width*4, whole, 1<<max(1, min(n, lines-l))-1)
		}
		if whole < kc {
			o.packGo(unsafe.Add(dst, whole*width*4), width, first, lines, k0+whole, kc-whole)
		}
	default:
		o.packGo(dst, width, first, lines, k0, kc)
	}
}

// packGo is pack for tiers without packs, whose slots are float32.
func (o *operand) packGo(dst unsafe.Pointer, width, first, lines, k0, kc int) {
	to := unsafe.Slice((*float32)(dst), kc*width)
	if o.even && o.across == o.size { // rows of the panel are contiguous in the operand
		for k := range kc {
			row := to[k*width:][:width]
			o.wide(row[:lines], o.element(first, k0+k))
			clear(row[lines:])
		}
		return
	}
	if max(o.lines.every(1), o.lines.every(2)) >= 4 { // so is each row of the lines of a stretch, perhaps with gaps
		o.packRuns(to, width, first, lines, k0, kc)
		return
	}
	var room [chunk]float32
	for l := range width {
		if l >= lines {
			for k := range kc {
				to[k*width+l] = 0
			}
			continue
		}
		line := room[:kc]
		o.elements(line, first+l, k0)
		for k, v := range line {
			to[k*width+l] = v
		}
	}
}

// packRuns is packGo for lines in stretches of evenly spaced ones.
func (o *operand) packRuns(to []float32, width, first, lines, k0, kc int) {
	var list [32]stretch
	runs := list[:0]
	o.lines.runs(first, lines, func(pos, at, step, count int) { runs = append(runs, stretch{pos, at, step, count}) })
	one := len(runs) == 1 && runs[0].step == 1
	var halves [32]uint16
	o.inner.runs(k0, kc, func(pos, along, step, count int) {
		for k := range count {
			row, from := to[(pos+k)*width:][:width], unsafe.Add(o.base, (along+k*step)*o.size)
			switch {
			case one:
				o.wide(row[:lines], unsafe.Add(from, runs[0].at*o.size))
			case o.size == 2:
				collect(halves[:lines], from, runs)
				o.wide(row[:lines], unsafe.Pointer(&halves))
			default:
				collect(row[:lines], from, runs)
			}
			clear(row[lines:])
		}
	})
}

// collect sets dst to the elements of stretches at from.
func collect[E float32 | uint16](dst []E, from unsafe.Pointer, runs []stretch) {
	size := int(unsafe.Sizeof(dst[0]))
	for _, r := range runs {
		to, at := dst[r.pos:r.pos+r.count], unsafe.Add(from, r.at*size)
		for i := range to {
			to[i] = *(*E)(unsafe.Add(at, i*r.step*size))
		}
	}
}

// elements sets dst to the elements of a line from k on.
func (o *operand) elements(dst []float32, line, k int) {
	at := o.lines.index(line)
	o.inner.runs(k, len(dst), func(pos, along, stride, count int) {
		from := unsafe.Add(o.base, (at+along)*o.size)
		if stride == 1 {
			o.wide(dst[pos:pos+count], from)
			return
		}
		for k := range count {
			o.wide(dst[pos+k:pos+k+1], unsafe.Add(from, k*stride*o.size))
		}
	})
}

// wide sets dst to the contiguous elements at src, as float32.
func (o *operand) wide(dst []float32, src unsafe.Pointer) {
	if o.size == 2 {
		widen(dst, unsafe.Slice((*uint16)(src), len(dst)), o.dtype)
	} else {
		copy(dst, unsafe.Slice((*float32)(src), len(dst)))
	}
}

// ahead is the next panel of B, which is prefetched while kernels run.
type ahead struct {
	start       uintptr
	count       int // number of prefetches, of two cache lines each
	perRow      int // number of prefetches per row
	rowStep     int
	acrossLines bool
}

// ahead returns the panel at column j or, if j is end or more, the first one of the next block of k.
func (o *operand) ahead(j, end, first, k0, kc, k, width int) ahead {
	if j >= end {
		j, k0 = first, k0+kc
		if k0 >= k {
			return ahead{}
		}
		kc = min(kc, k-k0)
	}
	if !o.even {
		return ahead{}
	}
	a := ahead{start: uintptr(o.base) + uintptr(j*o.across+k0*o.along)}
	if o.across == o.size {
		a.count, a.perRow, a.rowStep = kc, 1, o.along
	} else if o.along == o.size {
		a.perRow = max(1, kc*o.size/128)
		a.count, a.rowStep, a.acrossLines = min(width, end-j)*a.perRow, o.across, true
	}
	return a
}

// lines returns the address at which the kernel number call starts to prefetch, and the step between its
// calls prefetches.
func (a ahead) lines(call, calls int) (from uintptr, step int) {
	q := call * calls
	if q >= a.count {
		return a.start, 0
	}
	if !a.acrossLines {
		return a.start + uintptr(q*a.rowStep), a.rowStep
	}
	step = 128
	if a.perRow < calls { // short rows: prefetch the start of several rows instead
		step = a.rowStep
	}
	return a.start + uintptr(q/a.perRow*a.rowStep), step
}

// turns reports whether a line has elements of 16 bits in two axes, adjacent along the first one, as the weight of a convolution
// with sums over the kernel before channels.
func (o *operand) turns() bool {
	l := &o.inner
	return o.size == 2 && len(l.shape) == 2 && l.stride[0] == 1 && l.stride[1] > 1
}

// straight returns a copy of lines of a turned operand with adjacent elements, and its memory.
func (o *operand) straight(first, lines int) (operand, *workBuffer) {
	rows, cols, stride := o.inner.shape[0], o.inner.shape[1], o.inner.stride[1]
	k := rows * cols
	room := takeBytes(lines * k * 2)
	to := unsafe.Slice((*uint16)(room.base), lines*k)
	for l := 0; l < lines; {
		at, n := o.lines.index(first+l), 1
		if len(o.lines.shape) == 1 && o.lines.stride[0] == rows { // the lines follow each other as rows of one matrix
			n = lines
		}
		from := unsafe.Slice((*uint16)(unsafe.Add(o.base, at*2)), (cols-1)*stride+n*rows)
		transpose(to[l*k:], from, 0, n*rows, cols, cols, stride)
		l += n
	}
	s := operand{base: room.base, dtype: o.dtype, size: o.size, even: true, across: k * 2, along: 2, packing: o.packing}
	s.lines, s.inner = layout{shape: []int{lines}, stride: []int{k}}, layout{n: k}
	return s, room
}

// keepsLines reports whether lines can be packed one after the other.
func (o *operand) keepsLines() bool {
	return o.packing != nil && o.packing.Lines != nil && (o.turned || o.spread == nil && o.even && o.along == o.size)
}
