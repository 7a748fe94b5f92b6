package cpu

import (
	"halfnote/tensor/driver"
)

func init() {
	for c, p := range pointwises {
		if p.operands > 0 {
			offer(family{offers: offersPointwise, check: sameShapes, run: runPointwise}, driver.Code(c))
		}
	}
}

func offersPointwise(c driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	p := &pointwises[c]
	if len(src) != p.operands || !computable(dst, src) || !p.has(src[len(src)-1]) {
		return false
	}
	switch c {
	case driver.Equal, driver.Less, driver.LessEqual:
		return src[0] == src[1] && (dst == driver.Bool || dst == src[0])
	case driver.Sub:
		return driver.AllDTypes(src, 2, src[0]) && (dst == src[0] || dst.IsFloat() && accepts(dst, src[0]))
	case driver.Where:
		return driver.AllDTypes(src[1:], 2, dst) && (src[0] == driver.Bool || src[0] == dst)
	}
	return driver.AllDTypes(src, len(src), dst)
}

// has reports whether there is a loop for the dtype that d is computed in.
func (p *pointwise) has(d driver.DType) bool {
	switch {
	case d == driver.Float64:
		return p.f64 != nil
	case d.IsFloat():
		return p.f32 != nil
	}
	return p.i64 != nil
}

func runPointwise(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	b.pointwise(k, dst, src)
}

// pointwise computes dst from src, in the dtype that the last operand is computed in.
func (b *Backend) pointwise(k driver.Kernel, dst driver.View, src []driver.View) {
	p := pointwises[k.Code]
	switch src[len(src)-1].DType.Wide() {
	case driver.Float32:
		if dst.DType.Size() == 2 && halfPass(b, k, dst, src) {
			return
		}
		if n := dst.Len(); n > chunk && 4*n < streamMin && broadcastPass(b, k.Code, dst, src) {
			return
		}
		if streamedPass(b, k, dst, src) {
			return
		}
		loop := p.f32
		if dst.DType.Size() == 2 {
			if half := halfLoops[k.Code]; half != nil {
				loop = half
			}
		}
		elementwise(b, p.cost, loop, k, dst, src)
	case driver.Float64:
		elementwise(b, p.cost, p.f64, k, dst, src)
	default:
		elementwise(b, p.cost, p.i64, k, dst, src)
	}
}

// elementwise computes dst from src, a chunk at a time. cost is the approximate time per element in
// nanoseconds.
func elementwise[T number](b *Backend, cost int, f loop[T], k driver.Kernel, dst driver.View, src []driver.View) {
	alpha, beta := T(k.Alpha), T(k.Beta)
	if n := dst.Len(); n <= chunk {
		if n > 0 {
			driver.Poll()
			short(n, f, alpha, beta, dst, src)
		}
		return
	}
	w := write[T](dst)
	var readers [3]reader[T]
	for i, v := range src {
		readers[i] = read[T](v)
	}
	w.chooseStreaming(dst, src)
	fetching := cost == 1 && fetches(dst, src) && !w.streaming && w.asIs() && w.layout.dense()
	operands := len(src)
	b.shares(dst.Len(), max(copyItem/cost, chunk), func(lo, hi int) {
		defer w.fence()
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				var in [3][]T
				for i := range operands {
					in[i] = readers[i].at(lo, s.in[i][:n])
				}
				out := w.room(lo, s.out[:n])
				if fetching && lo+n < hi {
					w.fetch(lo+n, min(chunk, hi-lo-n))
				}
				f(out, in[0], in[1], in[2], alpha, beta)
				w.put(lo, out)
			}
		})
	})
}

// short is elementwise for n elements, at most a chunk, without the overhead of work items.
func short[T number](n int, f loop[T], alpha, beta T, dst driver.View, src []driver.View) {
	s := takeScratch[T]()
	w := write[T](dst)
	var in [3][]T
	for i, v := range src {
		r := read[T](v)
		in[i] = r.at(0, s.in[i][:n])
	}
	out := w.room(0, s.out[:n])
	f(out, in[0], in[1], in[2], alpha, beta)
	w.put(0, out)
	giveScratch(s)
}
