package cpu

import (
	"slices"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// result is the destination of a gemm's sums, and the bias that is added to them.
type result struct {
	base    unsafe.Pointer // start of the buffer
	batch   layout
	columns layout
	dtype   driver.DType
	size    int              // bytes per element
	row     int              // distance between rows in bytes
	m, n    int              // rows and columns of a matrix
	uneven  *writer[float32] // writes results with unevenly spaced rows, otherwise nil
	bias    *reader[float32]
	repeats bool    // the bias is the same in all rows of a matrix
	added   *result // layout of a bias that tiles can add, otherwise nil
}

func resultOf(f contraction, dst driver.View, bias []driver.View) result {
	r := len(dst.Shape) - f.m - f.n
	rows, columns := axesOf(dst, r, f.m), axesOf(dst, r+f.m, f.n)
	batch := dst
	batch.Shape, batch.Stride = dst.Shape[:r], dst.Stride[:r]
	d := result{
		base: baseOf(dst), batch: layoutOf(batch), columns: columns, dtype: dst.DType, size: dst.DType.Size(),
		m: rows.len(), n: columns.len(),
	}
	if len(rows.shape) == 1 {
		d.row = rows.stride[0] * d.size
	}
	if len(rows.shape) > 1 {
		w := write[float32](dst)
		d.uneven = &w
	}
	if len(bias) == 1 {
		b := read[float32](bias[0])
		d.bias, d.repeats = &b, len(axesOf(bias[0], r, f.m).shape) == 1 && axesOf(bias[0], r, f.m).stride[0] == 0
		if b := resultOf(f, bias[0], nil); b.uneven == nil && b.dtype == driver.Float32 {
			d.added = &b
		}
	}
	return d
}

// at returns the address of an element.
func (d *result) at(batch, i, j int) unsafe.Pointer {
	return unsafe.Add(d.base, (d.batch.index(batch)+d.columns.index(j))*d.size+i*d.row)
}

// place returns the address at which kernels can store columns j … j+cols-1 of row i directly, and the
// distance between rows in bytes. ok is false if they cannot.
func (d *result) place(batch, i, j, cols int) (c unsafe.Pointer, ldc int, ok bool) {
	if d.dtype != driver.Float32 || d.bias != nil || d.uneven != nil || j%d.columns.run()+cols > d.columns.run() {
		return nil, 0, false
	}
	return d.at(batch, i, j), d.row, true
}

// end returns the end of a tile at row i and column j, and of the tiles below it. ok is false if the
// columns of C or of the bias are not contiguous. A bias that is the same in all rows is read for cols
// columns. once reports whether k has a single block; large results are then stored around the cache.
func (d *result) end(batch, i, j, cols int, once bool, ws *strip) (end asm.End, ok bool) {
	if d.uneven != nil || j%d.columns.run()+cols > d.columns.run() {
		return end, false
	}
	end = asm.End{C: d.at(batch, i, j), Ldc: d.row}
	switch d.dtype {
	case driver.Float16:
		end.As = asm.Float16
	case driver.BFloat16:
		end.As = asm.BFloat16
	default:
		if once && d.m*d.n >= streamed && uintptr(end.C)%64 == 0 && end.Ldc%64 == 0 {
			end.As = asm.Stream
		}
	}
	switch {
	case d.bias == nil:
	case d.repeats:
		end.Bias = ws.bias(cols)
		room := unsafe.Slice((*float32)(end.Bias), cols)
		copy(room, d.bias.at((batch*d.m+i)*d.n+j, room))
	case d.added != nil:
		end.Bias, end.LdBias, ok = d.added.place(batch, i, j, cols)
		return end, ok
	default:
		return end, false
	}
	return end, true
}

// right moves end to the right by a number of columns. size is the element size of C.
func right(end asm.End, cols, size int) asm.End {
	end.C = unsafe.Add(end.C, cols*size)
	if end.Bias != nil {
		end.Bias = unsafe.Add(end.Bias, cols*4)
	}
	return end
}

// down moves end down by a number of rows.
func down(end asm.End, rows int) asm.End {
	end.C = unsafe.Add(end.C, rows*end.Ldc)
	if end.Sums != nil {
		end.Sums = unsafe.Add(end.Sums, rows*end.LdSums)
	}
	if end.Bias != nil {
		end.Bias = unsafe.Add(end.Bias, rows*end.LdBias)
	}
	return end
}

// put adds the bias to rows of sums, which are ld apart, rounds them, and stores them from row i and
// column j on.
func (d *result) put(batch, i, j int, sums []float32, ld, cols int) {
	var room [stripCols]float32
	var halves [stripCols]uint16
	var list [8]stretch
	var bias []float32
	runs := d.stretches(list[:0], j, cols)
	at := d.batch.index(batch)
	if d.spreads(runs, ld) {
		d.spread(unsafe.Add(d.base, at*d.size+i*d.row), sums, ld, runs, &halves)
		return
	}
	for first := i; len(sums) > 0; sums, i = sums[min(ld, len(sums)):], i+1 {
		row, lo := sums[:cols], (batch*d.m+i)*d.n+j
		if d.bias != nil {
			if i == first || !d.repeats {
				bias = d.bias.at(lo, room[:cols])
			}
			add(row, row, bias, nil, 0, 0)
		}
		if d.uneven != nil {
			out := d.uneven.room(lo, row)
			copy(out, row)
			d.uneven.put(lo, out)
			continue
		}
		to := unsafe.Add(d.base, at*d.size+i*d.row)
		switch {
		case d.dtype == driver.Float32:
			lay(to, row, runs)
		case len(runs) == 1 && runs[0].step == 1:
			narrow(unsafe.Slice((*uint16)(unsafe.Add(to, runs[0].at*2)), cols), row, d.dtype)
		default:
			narrow(halves[:cols], row, d.dtype)
			lay(to, halves[:cols], runs)
		}
	}
}

// spreads reports whether [result.spread] supports columns in these stretches and rows of sums ld apart.
func (d *result) spreads(runs []stretch, ld int) bool {
	return norms.SpreadRows != nil && d.size == 2 && d.bias == nil && d.uneven == nil && ld <= stripCols &&
		!slices.ContainsFunc(runs, func(s stretch) bool { return s.step != 2 })
}

// spread rounds rows of sums and stores them in every second element of rows from the one at to. So are the gradients of
// a convolution's operand with a stride of 2. It takes as many rows at a time as room holds.
func (d *result) spread(to unsafe.Pointer, sums []float32, ld int, runs []stretch, room *[stripCols]uint16) {
	for len(sums) > 0 {
		part := sums[:min(len(sums), stripCols/ld*ld)]
		narrow(room[:len(part)], part, d.dtype)
		rows := (len(part) + ld - 1) / ld
		for _, s := range runs {
			norms.SpreadRows(unsafe.Add(to, s.at*2), unsafe.Pointer(&room[s.pos]), rows, s.count, d.row, 2*ld)
		}
		to, sums = unsafe.Add(to, rows*d.row), sums[len(part):]
	}
}

// stretch is a group of count columns from pos on, at positions at, at+step, ….
type stretch struct{ pos, at, step, count int }

func (d *result) stretches(list []stretch, j, cols int) []stretch {
	d.columns.runs(j, cols, func(pos, at, step, count int) { list = append(list, stretch{pos, at, step, count}) })
	return list
}

// lay stores row in the elements at to.
func lay[E float32 | uint16](to unsafe.Pointer, row []E, runs []stretch) {
	size := int(unsafe.Sizeof(row[0]))
	for _, s := range runs {
		part, c := row[s.pos:s.pos+s.count], unsafe.Add(to, s.at*size)
		if s.step == 1 {
			copy(unsafe.Slice((*E)(c), s.count), part)
			continue
		}
		for i, v := range part {
			*(*E)(unsafe.Add(c, i*s.step*size)) = v
		}
	}
}
