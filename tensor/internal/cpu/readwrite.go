package cpu

import (
	"sync"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/half"
)

// real is the type that floating-point dtypes are computed in, number the type that any
// dtype is computed in.
type (
	real   interface{ float32 | float64 }
	number interface{ real | int64 }
)

// chunk is the number of elements that loops handle at a time: few enough for the
// first-level cache.
const chunk = 1024

// scratch holds the working memory of an item, in chunks. It is reused by later items.
type scratch[T number] struct {
	in  [3][chunk]T
	out [chunk]T
}

var (
	scratch32  = sync.Pool{New: func() any { return new(scratch[float32]) }}
	scratch64  = sync.Pool{New: func() any { return new(scratch[float64]) }}
	scratchInt = sync.Pool{New: func() any { return new(scratch[int64]) }}
)

// withScratch calls body with working memory.
func withScratch[T number](body func(s *scratch[T])) {
	s := takeScratch[T]()
	body(s)
	giveScratch(s)
}

// takeScratch returns working memory, which giveScratch takes back.
func takeScratch[T number]() *scratch[T] { return scratchOf[T]().Get().(*scratch[T]) }

func giveScratch[T number](s *scratch[T]) { scratchOf[T]().Put(s) }

func scratchOf[T number]() *sync.Pool {
	switch any(T(0)).(type) {
	case float64:
		return &scratch64
	case int64:
		return &scratchInt
	}
	return &scratch32
}

// reader returns elements of a view, in row-major order, as T, the type that the view's
// dtype is computed in. A bool view can be read as any type.
type reader[T number] struct {
	layout layout
	dtype  driver.DType
	wide   []T      // the memory, if it holds T; otherwise one of the fields below holds it
	halves []uint16 // elements of 16 bits
	bytes  []uint8  // elements of 8 bits
	words  []int32  // elements of int32
}

func read[T number](v driver.View) reader[T] { return readLayout[T](v, layoutOf(v)) }

// readLayout is read with the elements in the order of l.
func readLayout[T number](v driver.View, l layout) reader[T] {
	r := reader[T]{layout: l, dtype: v.DType}
	switch b := bufferOf(v.Buffer); {
	case v.DType.Size() == 2:
		r.halves = elements[uint16](b)
	case v.DType.Size() == 1:
		r.bytes = elements[uint8](b)
	case v.DType == driver.Int32:
		r.words = elements[int32](b)
	default:
		r.wide = elements[T](b)
	}
	return r
}

// asIs reports whether the memory holds elements of type T.
func (r *reader[T]) asIs() bool { return r.halves == nil && r.bytes == nil && r.words == nil }

// at returns elements lo … lo+len(room)-1, at most chunk of them. The result is room,
// or a part of the view's memory if that holds the elements contiguously as T.
func (r *reader[T]) at(lo int, room []T) []T {
	n := len(room)
	if r.layout.dense() {
		return r.line(r.layout.offset+lo, 1, room)
	}
	if at, ok := r.layout.inRun(lo, n); ok {
		return r.line(at, 1, room)
	}
	switch {
	case r.asIs():
		gather(room, r.wide, r.layout, lo)
	case r.halves != nil:
		gathered(r.halves, r.layout, lo, n, func(x []uint16) { widen(room, x, r.dtype) })
	case r.bytes != nil:
		gathered(r.bytes, r.layout, lo, n, func(x []uint8) { widenBytes(room, x, r.dtype) })
	default:
		gathered(r.words, r.layout, lo, n, func(x []int32) { widenWords(room, x) })
	}
	return room
}

// gathered calls body with the n elements of mem from lo on.
func gathered[E any](mem []E, l layout, lo, n int, body func(x []E)) {
	room := spares.Get().(*[chunk]uint32)
	x := unsafe.Slice((*E)(unsafe.Pointer(room)), n)
	gather(x, mem, l, lo)
	body(x)
	spares.Put(room)
}

// spares are chunks for elements of at most 4 bytes.
var spares = sync.Pool{New: func() any { return new([chunk]uint32) }}

// bulk is the largest number of elements that one call of assembly reads directly from
// memory: about 64 kB of each operand.
const bulk = 16 * chunk

// bulk reports whether the memory holds the elements contiguously and in order, as T.
func (r *reader[T]) bulk() bool { return r.asIs() && r.layout.dense() }

// some is at for n elements, which may be more than a chunk if r.bulk() is true.
func (r *reader[T]) some(lo, n int, room []T) []T {
	if n > chunk {
		return r.wide[r.layout.offset+lo:][:n:n]
	}
	return r.at(lo, room[:n])
}

// line returns len(room) elements, at most chunk, at the offsets at, at+stride, …. The
// result is room or a part of the memory.
func (r *reader[T]) line(at, stride int, room []T) []T {
	n := len(room)
	switch {
	case r.asIs() && stride == 1:
		return r.wide[at:][:n:n]
	case r.asIs():
		pick(room, r.wide, at, stride)
	case r.halves != nil && stride == 1:
		widen(room, r.halves[at:][:n], r.dtype)
	case r.halves != nil:
		var bits [chunk]uint16
		pick(bits[:n], r.halves, at, stride)
		widen(room, bits[:n], r.dtype)
	case r.bytes != nil:
		var bits [chunk]uint8
		pick(bits[:n], r.bytes, at, stride)
		widenBytes(room, bits[:n], r.dtype)
	default:
		var bits [chunk]int32
		pick(bits[:n], r.words, at, stride)
		widenWords(room, bits[:n])
	}
	return room
}

// writer sets elements of a view, in row-major order, rounding once.
type writer[T number] struct {
	reader[T]
	streaming bool // writes bypass the caches
}

func write[T number](v driver.View) writer[T] { return writer[T]{reader: read[T](v)} }

// room returns the memory for elements lo … lo+len(spare)-1, to be filled before put:
// spare or a part of the view.
func (w *writer[T]) room(lo int, spare []T) []T {
	if w.asIs() && w.layout.dense() && !w.streaming {
		return w.wide[w.layout.offset+lo:][:len(spare):len(spare)]
	}
	return spare
}

// spare is room for n elements, which may be more than a chunk if w.bulk() is true.
func (w *writer[T]) spare(lo, n int, spare []T) []T {
	if n > chunk {
		return w.wide[w.layout.offset+lo:][:n:n]
	}
	return w.room(lo, spare[:n])
}

// put sets elements lo … lo+len(x)-1, at most chunk of them, to x, which is a result of
// room.
func (w *writer[T]) put(lo int, x []T) {
	n := len(x)
	switch {
	case w.asIs() && w.streaming:
		streamCopy(w.wide[w.layout.offset+lo:][:n], x)
	case w.asIs() && w.layout.dense():
	case w.asIs():
		scatter(w.wide, x, w.layout, lo)
	case w.halves != nil && w.layout.dense():
		narrow(w.halves[w.layout.offset+lo:][:n], x, w.dtype)
	case w.halves != nil:
		var bits [chunk]uint16
		narrow(bits[:n], x, w.dtype)
		scatter(w.halves, bits[:n], w.layout, lo)
	case w.bytes != nil:
		var bits [chunk]uint8
		narrowBytes(bits[:n], x, w.dtype)
		scatter(w.bytes, bits[:n], w.layout, lo)
	default:
		var bits [chunk]int32
		for i, v := range x {
			bits[i] = int32(v)
		}
		scatter(w.words, bits[:n], w.layout, lo)
	}
}

// widen and narrow convert between 16-bit elements and the type that they are computed in:
// float32 for halves, and int64 for int16. [Backend.copy] also converts float64 to halves
// by way of float32.
func widen[T number](dst []T, src []uint16, d driver.DType) {
	if d == driver.Int16 {
		for i, v := range src {
			dst[i] = T(int16(v))
		}
		return
	}
	wide := any(dst).([]float32)
	f, g := loops.WidenF16, half.FromFloat16
	if d == driver.BFloat16 {
		f, g = loops.WidenBF16, half.FromBFloat16
	}
	if f == nil || len(src) < fast {
		g(wide, src)
		return
	}
	f(unsafe.Pointer(&wide[:len(src)][0]), unsafe.Pointer(&src[0]), len(src))
}

func narrow[T number](dst []uint16, src []T, d driver.DType) {
	if d == driver.Int16 {
		for i, v := range src {
			dst[i] = uint16(int64(v))
		}
		return
	}
	wide := any(src).([]float32)
	f, g := loops.NarrowF16, half.ToFloat16
	if d == driver.BFloat16 {
		f, g = loops.NarrowBF16, half.ToBFloat16
	}
	if f == nil || len(src) < fast {
		g(dst, wide)
		return
	}
	f(unsafe.Pointer(&dst[:len(src)][0]), unsafe.Pointer(&wide[0]), len(src))
}

func widenBytes[T number](dst []T, src []uint8, d driver.DType) {
	switch d {
	case driver.Float8E4M3:
		half.FromFloat8E4M3(any(dst).([]float32), src)
	case driver.Float8E5M2:
		half.FromFloat8E5M2(any(dst).([]float32), src)
	case driver.Int8:
		for i, v := range src {
			dst[i] = T(int8(v))
		}
	default:
		if f, ok := any(dst).([]float32); ok && d == driver.Bool && selects.WidenBool != nil && len(src) >= fast {
			selects.WidenBool(unsafe.Pointer(&f[0]), unsafe.Pointer(&src[0]), len(src))
			return
		}
		for i, v := range src {
			dst[i] = T(v)
		}
	}
}

func narrowBytes[T number](dst []uint8, src []T, d driver.DType) {
	switch d {
	case driver.Float8E4M3:
		half.ToFloat8E4M3(dst, any(src).([]float32))
	case driver.Float8E5M2:
		half.ToFloat8E5M2(dst, any(src).([]float32))
	case driver.Bool:
		if f, ok := any(src).([]float32); ok && selects.NarrowBool != nil && len(src) >= fast {
			selects.NarrowBool(unsafe.Pointer(&dst[0]), unsafe.Pointer(&f[0]), len(src))
			return
		}
		for i, v := range src {
			dst[i] = truth[uint8](v != 0)
		}
	default:
		for i, v := range src {
			dst[i] = uint8(int64(v))
		}
	}
}

func widenWords[T number](dst []T, src []int32) {
	for i, v := range src {
		dst[i] = T(v)
	}
}
