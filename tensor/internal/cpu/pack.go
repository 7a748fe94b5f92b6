package cpu

import "halfnote/tensor/driver"

// matrix is an operand of a product, for a batch. Its lines are what the product
// runs along: x's rows, y's columns.
type matrix[T number] struct {
	reader[T]         // of the batch: its layout has not the axes of the two strides
	across, along int // strides from line to line, and along one
}

func matrixOf[T number](v driver.View, lineAxis, alongAxis int) matrix[T] {
	batch := v
	batch.Shape, batch.Stride = v.Shape[:len(v.Shape)-2], v.Stride[:len(v.Shape)-2]
	return matrix[T]{reader: read[T](batch), across: v.Stride[lineAxis], along: v.Stride[alongAxis]}
}

// pack sets dst to lines from first on, lines of them, elements k0 … k0+kc-1 of
// each, as panels of width lines: element k of line l is
// dst[l/width*width*kc + k*width + l%width]. The lines that the last panel lacks
// are zeros. width is tileRows or tileCols.
func (m *matrix[T]) pack(dst []T, rooms *[tileRows][chunk]T, batch, first, lines, k0, kc, width int) {
	at := m.layout.index(batch) + first*m.across + k0*m.along
	if m.across == 1 && m.along != 1 {
		m.packAcross(dst, &rooms[0], at, lines, kc, width)
		return
	}
	for l := 0; l < lines; l += width {
		var x [tileRows][]T
		for i := range width {
			x[i] = rooms[i][:kc]
			if l+i < lines {
				x[i] = m.line(at+(l+i)*m.across, m.along, x[i])
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

// packAcross is pack where neighbouring lines lie side by side.
func (m *matrix[T]) packAcross(dst []T, room *[chunk]T, at, lines, kc, width int) {
	for k := range kc {
		x, to := m.line(at+k*m.along, 1, room[:lines]), k*width
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
