package cpu

import "halfnote/tensor/driver"

func init() {
	offer(family{offers: offersRecurrence, check: sameShapes, run: runRecurrence}, driver.Recurrence)
	offer(family{offers: offersArg, check: sameShapes, run: runCumArg}, driver.CumArgMax, driver.CumArgMin)
}

func offersRecurrence(_ driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return (len(src) == 1 || len(src) == 2) && driver.AllDTypes(src, len(src), dst) && computable(dst, src)
}

func runRecurrence(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	switch {
	case dst.DType == driver.Float32:
		recurrence[float32, float64](b, k, dst, src)
	case dst.DType == driver.Float64:
		recurrence[float64, float64](b, k, dst, src)
	case dst.DType.IsFloat():
		recurrence[float32, float32](b, k, dst, src)
	default:
		recurrence[int64, int64](b, k, dst, src)
	}
}

func runCumArg(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	switch src[0].DType.Wide() {
	case driver.Float32:
		cumArg[float32](b, k, dst, src[0])
	case driver.Float64:
		cumArg[float64](b, k, dst, src[0])
	default:
		cumArg[int64](b, k, dst, src[0])
	}
}

// recurrence computes a recurrence along an axis, in type A. One worker computes each line, in
// order.
func recurrence[T, A number](b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	x := lines[T](src[0], k.Axis)
	var y lineReader[T]
	if len(src) == 2 {
		y = lines[T](src[1], k.Axis)
	}
	out := writer[T]{reader: lines[T](dst, k.Axis).reader}
	eachLine(b, x, func(line int, s *scratch[T], poll func()) {
		var last A
		for lo := 0; lo < x.length; lo += chunk {
			if lo%copyItem == 0 {
				poll()
			}
			n := min(chunk, x.length-lo)
			at := line*x.length + lo
			in, to := x.at(at, s.in[0][:n]), out.room(at, s.out[:n])
			var factor []T
			if len(src) == 2 {
				factor = y.at(at, s.in[1][:n])
			}
			for i, v := range in {
				switch {
				case lo+i == 0:
					last = A(v)
				case factor != nil:
					last = A(v) + A(A(factor[i])*last)
				default:
					last += A(v)
				}
				to[i] = T(last)
			}
			out.put(at, to)
		}
	})
}

// cumArg sets each element of dst, of int64, to the position of the largest element so
// far along an axis, or of the smallest for CumArgMin.
func cumArg[T number](b *Backend, k driver.Kernel, dst, src driver.View) {
	x := lines[T](src, k.Axis)
	out := writer[int64]{reader: lines[int64](dst, k.Axis).reader}
	eachLine(b, x, func(line int, s *scratch[T], poll func()) {
		withScratch(func(room *scratch[int64]) {
			var best T
			var at int64
			for lo := 0; lo < x.length; lo += chunk {
				if lo%copyItem == 0 {
					poll()
				}
				n := min(chunk, x.length-lo)
				first := line*x.length + lo
				to := out.room(first, room.out[:n])
				for i, v := range x.at(first, s.in[0][:n]) {
					better := v >= best
					if k.Code == driver.CumArgMin {
						better = v <= best
					}
					if better && best == best || v != v || lo+i == 0 {
						best, at = v, int64(lo+i)
					}
					to[i] = at
				}
				out.put(first, to)
			}
		})
	})
}

// lineReader reads a view line by line along an axis.
type lineReader[T number] struct {
	reader[T]
	length, count int
}

func lines[T number](v driver.View, axis int) lineReader[T] {
	if len(v.Shape) == 0 {
		return lineReader[T]{read[T](v), 1, 1}
	}
	l := layout{offset: v.Offset}
	n := 1
	for i, size := range v.Shape {
		if i != axis {
			l.push(size, v.Stride[i])
			n *= size
		}
	}
	l.push(v.Shape[axis], v.Stride[axis])
	return lineReader[T]{readLayout[T](v, l), v.Shape[axis], n}
}

// eachLine calls visit for every line, for several lines concurrently. visit must poll
// within long lines.
func eachLine[T number](b *Backend, x lineReader[T], visit func(line int, s *scratch[T], poll func())) {
	each := max(1, copyItem/4/max(1, x.length))
	b.eachPolling((x.count+each-1)/each, func(item int, poll func()) {
		withScratch(func(s *scratch[T]) {
			for line := item * each; line < min(x.count, (item+1)*each); line++ {
				visit(line, s, poll)
			}
		})
	})
}
