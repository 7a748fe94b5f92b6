package cpu

import "halfnote/tensor/driver"

// matrix is an operand of a product, for a batch. Its lines are what the product
// runs along: x's rows, y's columns.
type matrix[T real] struct {
	reader[T]      // of the batch: its layout has no line and no depth axis
	line, step int // strides from line to line, and along one
}

func matrixOf[T real](v driver.View, lineAxis, stepAxis int) matrix[T] {
	batch := v
	batch.Shape, batch.Stride = v.Shape[:len(v.Shape)-2], v.Stride[:len(v.Shape)-2]
	return matrix[T]{reader: read[T](batch), line: v.Stride[lineAxis], step: v.Stride[stepAxis]}
}

// pack sets dst to lines from first on, lines of them, elements k0 … k0+kc-1 of
// each, as panels of width lines: element k of line l is
// dst[l/width*width*kc + k*width + l%width]. The lines that the last panel lacks
// are zeros. width is tileRows or tileCols.
func (m *matrix[T]) pack(dst []T, batch, first, lines, k0, kc, width int) {
	at := m.layout.index(batch) + first*m.line + k0*m.step
	if m.line == 1 && m.step != 1 {
		m.packAcross(dst, at, lines, kc, width)
		return
	}
	var rooms [tileRows][chunk]T
	var zeros [chunk]T
	for l := 0; l < lines; l += width {
		var x [tileRows][]T
		for i := range width {
			if l+i < lines {
				x[i] = m.strided(at+(l+i)*m.line, m.step, rooms[i][:kc])
			} else {
				x[i] = zeros[:kc]
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
func (m *matrix[T]) packAcross(dst []T, at, lines, kc, width int) {
	var room [chunk]T
	for k := range kc {
		x := m.strided(at+k*m.step, 1, room[:lines])
		to := dst[k*width:]
		for ; len(x) >= width; x = x[width:] {
			if width == tileCols {
				*(*[tileCols]T)(to) = *(*[tileCols]T)(x)
			} else {
				*(*[tileRows]T)(to) = *(*[tileRows]T)(x)
			}
			to = to[min(width*kc, len(to)):]
		}
		if len(x) > 0 {
			clear(to[copy(to[:width], x):width])
		}
	}
}

// strided returns len(room) elements from at on, that far apart, in room or in
// the matrix itself.
func (m *matrix[T]) strided(at, stride int, room []T) []T {
	one := reader[T]{dtype: m.dtype, wide: m.wide, narrow: m.narrow, layout: layout{offset: at}}
	one.layout.shape, one.layout.stride = []int{len(room)}, []int{stride}
	return one.at(0, room)
}

func interleave2[T real](dst, x0, x1 []T) {
	x1 = x1[:len(x0)]
	for k, v := range x0 {
		d := (*[2]T)(dst)
		d[0], d[1] = v, x1[k]
		dst = dst[2:]
	}
}

func interleave4[T real](dst, x0, x1, x2, x3 []T) {
	x1, x2, x3 = x1[:len(x0)], x2[:len(x0)], x3[:len(x0)]
	for k, v := range x0 {
		d := (*[4]T)(dst)
		d[0], d[1], d[2], d[3] = v, x1[k], x2[k], x3[k]
		dst = dst[4:]
	}
}
