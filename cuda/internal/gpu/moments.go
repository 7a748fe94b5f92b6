//go:build cuda && linux && cgo

package gpu

import (
	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

func init() {
	offer(family{func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
		return len(src) == 2 && isReal(src[0]) && dst == src[0].Wide() && src[1] == dst
	}, moments}, driver.Moments)
	offer(family{func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
		return (len(src) == 5 || len(src) == 6) && isReal(src[1]) && dst == src[1].Wide() && src[2] == src[1] &&
			src[0] == dst && driver.AllDTypes(src[3:], len(src)-3, dst)
	}, normalizeSums}, driver.NormalizeSums)
}

// statistics are reductions of several operands to several results by kernels of moments.cuh;
// kind is the suffix of their names.
type statistics struct {
	kind     string
	results  []driver.View // two results of dst's shape
	operands []driver.View // operands of one shape
	room     int           // bytes of a partial result
	// arguments adds a kernel's arguments: its inputs, if reads is set, and its outputs.
	arguments func(a argsOf, s *statistics, reads bool)
}

// norm is Norm of moments.cuh.
type norm struct {
	all           results
	kept, reduced axes
}

// moments sets mean to the mean of x, and variance to the mean squared difference from it.
func moments(b *Backend, _ driver.Kernel, variance driver.View, src []driver.View) {
	x, mean := src[0], src[1]
	s := statistics{kind: "moments", results: []driver.View{variance, mean}, operands: []driver.View{x}, room: variance.DType.Size()}
	s.arguments = func(a argsOf, s *statistics, reads bool) {
		if reads {
			a.Ptr(pointer(s.operands[0]))
		}
		a.Ptr(pointer(s.results[0]))
		if reads {
			a.Ptr(pointer(s.results[1]))
		}
	}
	s.run(b)
}

// normalizeSums sets first and second to the sums of g = dy*w and g*((x - mean)*scale), divided
// by Alpha.
func normalizeSums(b *Backend, k driver.Kernel, first driver.View, src []driver.View) {
	s := statistics{kind: "sums", results: []driver.View{first, src[0]}, operands: src[1:], room: 2 * first.DType.Size()}
	s.arguments = func(a argsOf, s *statistics, reads bool) {
		if reads {
			var from [5]drv.Ptr
			for i, v := range s.operands {
				from[i] = pointer(v)
			}
			a.Bytes(bytesOf(&from))
		}
		a.Ptr(pointer(s.results[0]))
		a.Ptr(pointer(s.results[1]))
		number(a.Args, first.DType, k.Alpha)
	}
	s.run(b)
}

// walks returns the walk through the results and the walk through the elements of one result. The
// views of kept are in the order of Norm.
func (s *statistics) walks() (kept, reduced walk) {
	order := []driver.View{s.results[0], s.operands[0], s.results[1]}
	order = append(order, s.operands[1:]...)
	to, in := make([]driver.View, len(order)), make([]driver.View, len(s.operands))
	for axis, n := range s.operands[0].Shape {
		if s.results[0].Shape[axis] == n {
			for i, v := range order {
				to[i].Shape, to[i].Stride = append(to[i].Shape, n), append(to[i].Stride, v.Stride[axis])
			}
		} else {
			for i, v := range s.operands {
				in[i].Shape, in[i].Stride = append(in[i].Shape, n), append(in[i].Stride, v.Stride[axis])
			}
		}
	}
	return walkOf(to...), walkOf(in...)
}

// views returns the kernel parameter for a range of the walk's views, at most as many as Axes
// has.
func (w walk) views(from, to int) *axes {
	w.stride = w.stride[min(from, len(w.stride)):min(to, len(w.stride))]
	return w.axes()
}

// halves processes two halves one after the other, along the longest axis of the results.
func (s *statistics) halves(b *Backend) {
	axis := largest(s.results[0].Shape)
	n := s.results[0].Shape[axis]
	for _, part := range [][2]int{{0, n / 2}, {n / 2, n}} {
		half := *s
		half.results, half.operands = nil, nil
		for _, v := range s.results {
			half.results = append(half.results, cut(v, axis, part[0], part[1]))
		}
		for _, v := range s.operands {
			half.operands = append(half.operands, cut(v, axis, part[0], part[1]))
		}
		half.run(b)
	}
}

// copies makes the reduced elements contiguous.
func (s *statistics) copies(b *Backend) {
	var kept, reduced []int
	for axis, n := range s.operands[0].Shape {
		if s.results[0].Shape[axis] == n {
			kept = append(kept, axis)
		} else {
			reduced = append(reduced, axis)
		}
	}
	permuted := func(v driver.View) driver.View {
		shape, stride := v.Shape, v.Stride
		v.Shape, v.Stride = nil, nil
		for _, axis := range append(kept, reduced...) {
			v.Shape, v.Stride = append(v.Shape, shape[axis]), append(v.Stride, stride[axis])
		}
		return v
	}
	whole := *s
	whole.results, whole.operands = nil, nil
	for _, v := range s.results {
		whole.results = append(whole.results, permuted(v))
	}
	for _, v := range s.operands {
		v = permuted(v)
		to := b.temporary(v.DType, v.Shape)
		defer b.Release(to.Buffer)
		b.Run(driver.Kernel{Code: driver.Copy}, to, v)
		whole.operands = append(whole.operands, to)
	}
	whole.run(b)
}

// run enqueues the launches, as [reduction.run] does.
func (s *statistics) run(b *Backend) {
	kept, reduced := s.walks()
	switch {
	case kept.n == 0:
		return
	case !kept.fits():
		s.halves(b)
		return
	case !reduced.fits():
		s.copies(b)
		return
	}
	first := s.operands[0]
	f := norm{kept: *kept.views(4, 7), reduced: *reduced.views(2, 5)}
	p := plan{results: results{
		dtype: uint32(s.results[0].DType), parts: 1, outs: int64(kept.n), count: int64(reduced.n),
		kept: *kept.views(0, 4), reduced: *reduced.views(0, 2),
	}}
	if len(s.operands) > 1 { // a second operand, possibly with another layout
		p.most = 8 / s.results[0].DType.Size()
		other := s.operands[1]
		p.single = pointer(first)%16 != pointer(other)%16
		for i := range kept.shape {
			p.single = p.single || kept.stride[1][i] != kept.stride[3][i]
		}
		for i := range reduced.shape {
			p.single = p.single || reduced.stride[0][i] != reduced.stride[1][i]
		}
	}
	name := first.DType.String()
	module := "moments_" + name
	if !p.columns(b, kept, reduced, first) {
		p.rows(reduced)
		p.near = p.near && (len(s.operands) == 1 || reduced.stride[1][len(reduced.shape)-1] == 1)
	}
	if s.kind == "moments" {
		if p.group > 0 && p.parts == 1 {
			s.launch(b, kernel{module, "moments_" + name}, p, f, nil)
			return
		}
		b.Run(driver.Kernel{Code: driver.Mean}, s.results[1], first)
	}
	room := drv.Ptr(0)
	var buffer driver.Buffer
	if p.parts > 1 {
		buffer = b.scratch(kept.n * int(p.parts) * s.room)
		room = at(buffer)
	}
	s.launch(b, kernel{module, p.kernel + s.kind + "_" + name}, p, f, &room)
	for parts := int(p.parts); parts > 1; {
		group, grid, left := joining(kept.n, parts)
		var more driver.Buffer
		to := drv.Ptr(0)
		if left > 1 {
			more = b.scratch(kept.n * left * s.room)
			to = at(more)
		}
		a := argsOf{newArgs()}
		a.I32(int32(group))
		a.I32(int32(parts))
		a.Ptr(at(buffer))
		a.Ptr(to)
		s.arguments(a, s, false)
		f.all = p.results
		a.Bytes(bytesOf(&f))
		b.launch(kernel{module, "joints_" + s.kind + "_" + name}, [3]uint32{uint32(grid), 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
		b.Release(buffer)
		buffer, parts = more, left
	}
}

func (s *statistics) launch(b *Backend, k kernel, p plan, f norm, room *drv.Ptr) {
	a := argsOf{newArgs()}
	p.arguments(a)
	s.arguments(a, s, true)
	if room != nil {
		a.Ptr(*room)
	}
	f.all = p.results
	a.Bytes(bytesOf(&f))
	b.launch(k, [3]uint32{p.grid, 1, 1}, [3]uint32{p.threads, 1, 1}, 0, a.Args)
}
