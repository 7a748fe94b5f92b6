package cpu

import "halfnote/tensor/driver"

// matrix is an operand of a batch of products. Its lines are the rows of x or the columns of y.
type matrix[T number] struct {
	reader[T]           // its layout has only the axes of the batch
	lines, along layout // layout of lines, and of the elements of a line
	lows         *lows  // of a matrix of float32 that becomes one of bfloat16, otherwise nil
}

// matrixOf returns v as a matrix. Its last axes are those of lines, followed by those along a line.
func matrixOf[T number](v driver.View, lines, along int) matrix[T] {
	r := len(v.Shape) - lines - along
	batch := v
	batch.Shape, batch.Stride = v.Shape[:r], v.Stride[:r]
	return matrix[T]{read[T](batch), axesOf(v, r, lines), axesOf(v, r+lines, along), nil}
}

// pack sets dst to lines first … first+lines-1, elements k0 … k0+kc-1 of each, in panels of width
// lines: element k of line l is dst[l/width*width*kc + k*width + l%width]. The last panel is padded
// with zeros. width is tileRows or tileCols.
func (m *matrix[T]) pack(dst []T, rooms *[tileRows][chunk]T, batch, first, lines, k0, kc, width int) {
	at := m.layout.index(batch)
	if m.lows == nil && m.lines.run() > 1 && m.along.run() == 1 {
		m.packAcross(dst, &rooms[0], at, first, lines, k0, kc, width)
		return
	}
	for l := 0; l < lines; l += width {
		var x [tileRows][]T
		for i := range width {
			x[i] = rooms[i][:kc]
			if l+i < lines && m.lows != nil {
				m.split(m.along, at+m.lines.index(first+l+i), k0, x[i])
			} else if l+i < lines {
				x[i] = m.part(m.along, at+m.lines.index(first+l+i), k0, x[i])
			} else {
				clear(x[i])
			}
		}
		panel := dst[l*kc:][:width*kc]
		if width == tileCols {
			interleave2(panel, x[0], x[1])
		} else {
			interleave4(panel, x[0], x[1], x[2], x[3])
		}
	}
}

// part returns the elements of l from lo on, where l starts at position at, in room or in the matrix
// itself.
func (m *matrix[T]) part(l layout, at, lo int, room []T) []T {
	r := m.reader
	r.layout = l
	r.layout.offset = at
	return r.at(lo, room)
}

// packAcross is pack for contiguous lines.
func (m *matrix[T]) packAcross(dst []T, room *[chunk]T, at, first, lines, k0, kc, width int) {
	for k := range kc {
		x, to := m.part(m.lines, at+m.along.index(k0+k), first, room[:lines]), k*width
		for ; len(x) >= width; x = x[width:] {
			if width == tileCols {
				*(*[tileCols]T)(dst[to:]) = *(*[tileCols]T)(x)
			} else {
				*(*[tileRows]T)(dst[to:]) = *(*[tileRows]T)(x)
			}
			to += width * kc
		}
		if len(x) > 0 {
			clear(dst[to+copy(dst[to:], x) : to+width])
		}
	}
}

func interleave2[T number](dst, x0, x1 []T) {
	x1 = x1[:len(x0)]
	for k, v := range x0 {
		d := (*[2]T)(dst)
		d[0], d[1] = v, x1[k]
		dst = dst[2:]
	}
}

func interleave4[T number](dst, x0, x1, x2, x3 []T) {
	x1, x2, x3 = x1[:len(x0)], x2[:len(x0)], x3[:len(x0)]
	for k, v := range x0 {
		d := (*[4]T)(dst)
		d[0], d[1], d[2], d[3] = v, x1[k], x2[k], x3[k]
		dst = dst[4:]
	}
}
