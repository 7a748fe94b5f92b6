package cpu

import (
	"sync"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/half"
)

// real is what is computed in.
type real interface{ float32 | float64 }

// chunk is the number of elements that loops handle at a time: few enough for
// the first cache.
const chunk = 1024

// scratch holds the chunks that an item works on. It is kept between items.
type scratch[T real] struct {
	in  [3][chunk]T
	out [chunk]T
}

var scratch32, scratch64 = sync.Pool{New: func() any { return new(scratch[float32]) }}, sync.Pool{New: func() any { return new(scratch[float64]) }}

// withScratch calls body with chunks to work on.
func withScratch[T real](body func(s *scratch[T])) {
	p := &scratch32
	if _, ok := any(T(0)).(float64); ok {
		p = &scratch64
	}
	s := p.Get().(*scratch[T])
	body(s)
	p.Put(s)
}

// reader returns elements of a view, in row-major order, as T.
type reader[T real] struct {
	layout layout
	dtype  driver.DType
	wide   []T      // the memory, where it holds T
	narrow []uint16 // the memory, where it holds halves
}

func read[T real](v driver.View) reader[T] { return readLayout[T](v, layoutOf(v)) }

// readLayout is read with the elements in another order than v's.
func readLayout[T real](v driver.View, l layout) reader[T] {
	r := reader[T]{layout: l, dtype: v.DType}
	if v.DType.Size() == 2 {
		r.narrow = elements[uint16](bufferOf(v.Buffer))
	} else {
		r.wide = elements[T](bufferOf(v.Buffer))
	}
	return r
}

// at returns elements lo … lo+len(room)-1, at most chunk of them. They lie in
// room or, where nothing has to be converted or collected, in the view itself.
func (r *reader[T]) at(lo int, room []T) []T {
	switch {
	case r.layout.dense():
		return r.line(r.layout.offset+lo, 1, room)
	case r.narrow == nil:
		gather(room, r.wide, r.layout, lo)
	default:
		var bits [chunk]uint16
		gather(bits[:len(room)], r.narrow, r.layout, lo)
		widen(room, bits[:len(room)], r.dtype)
	}
	return room
}

// line returns len(room) elements, at most chunk, that lie at at, at+stride, …,
// in room or in the memory itself.
func (r *reader[T]) line(at, stride int, room []T) []T {
	n := len(room)
	switch {
	case r.narrow == nil && stride == 1:
		return r.wide[at:][:n:n]
	case r.narrow == nil:
		pick(room, r.wide, at, stride)
	case stride == 1:
		widen(room, r.narrow[at:][:n], r.dtype)
	default:
		var bits [chunk]uint16
		pick(bits[:n], r.narrow, at, stride)
		widen(room, bits[:n], r.dtype)
	}
	return room
}

// writer sets elements of a view, in row-major order, rounding once.
type writer[T real] struct{ reader[T] }

func write[T real](v driver.View) writer[T] { return writer[T]{read[T](v)} }

// room returns where to put elements lo … lo+len(spare)-1 before put: in spare
// or in the view itself.
func (w *writer[T]) room(lo int, spare []T) []T {
	if w.narrow == nil && w.layout.dense() {
		return w.wide[w.layout.offset+lo:][:len(spare):len(spare)]
	}
	return spare
}

// put sets elements lo … lo+len(x)-1, at most chunk of them, to x, which room
// returned.
func (w *writer[T]) put(lo int, x []T) {
	n := len(x)
	if w.narrow == nil {
		if !w.layout.dense() {
			scatter(w.wide, x, w.layout, lo)
		}
		return
	}
	if w.layout.dense() {
		narrow(w.narrow[w.layout.offset+lo:][:n], x, w.dtype)
		return
	}
	var bits [chunk]uint16
	narrow(bits[:n], x, w.dtype)
	scatter(w.narrow, bits[:n], w.layout, lo)
}

// widen and narrow convert between halves and float32; float64 never meets
// halves here, as [Backend.copy] goes by way of float32.
func widen[T real](dst []T, src []uint16, d driver.DType) {
	wide := any(dst).([]float32)
	if d == driver.Float16 {
		half.FromFloat16(wide, src)
	} else {
		half.FromBFloat16(wide, src)
	}
}

func narrow[T real](dst []uint16, src []T, d driver.DType) {
	wide := any(src).([]float32)
	if d == driver.Float16 {
		half.ToFloat16(dst, wide)
	} else {
		half.ToBFloat16(dst, wide)
	}
}
