package drivertest

import (
	"math"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// testSoftmax compares the bits of [driver.Softmax] and the related codes, if offered, with those
// of the codes that define them.
func testSoftmax(t *testing.T, b driver.Backend) {
	list := append([][]int{{3, 70001}, {40, 130}, {2, 1024}, {5, 9, 40}}, shapes...)
	turn := 0
	for _, code := range []driver.Code{driver.Softmax, driver.LogSoftmax, driver.SoftmaxGrad, driver.LogSoftmaxGrad} {
		for i, shape := range list {
			for axis := range shape {
				for _, d := range dtypes {
					if turn++; slow(b) && turn%3 > 0 {
						continue
					}
					src := []driver.View{place(t, b, d, shape, layoutsOf(shape)[axis%len(layoutsOf(shape))], random(100003))}
					given := []driver.DType{d}
					if code >= driver.SoftmaxGrad {
						src = append(src, place(t, b, d, shape, []strategy{gaps, dense}[i%2], random(100005)))
						given = append(given, d)
					}
					if !b.Offers(code, d, given...) {
						continue
					}
					dst := newView(t, b, d, shape, []strategy{dense, gaps, reversed}[i%3])
					checkRows(t, b, code, axis, dst, src, name(code, d, shape, axis))
					checkHoles(t, b, dst)
					if code <= driver.LogSoftmax && d.Size() == 2 && b.Offers(code, d, driver.Float32) {
						x := place(t, b, driver.Float32, shape, []strategy{dense, gaps}[axis%2], random(100003))
						checkRows(t, b, code, axis, dst, []driver.View{x}, name(code, d, shape, axis, "of float32"))
						checkHoles(t, b, dst)
					}
				}
			}
		}
	}
	inf, nan, negative0 := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, x := range [][]float64{{inf, 1, 2}, {-inf, 1, 2}, {-inf, -inf}, {nan, 1}, {1, 2, 3, 4, 5, 6, 7, nan, 9}, {0, negative0}, {negative0}, {1000, -1000}} {
		for _, code := range []driver.Code{driver.Softmax, driver.LogSoftmax} {
			if d := driver.Float32; b.Offers(code, d, d) {
				src := place(t, b, d, []int{len(x)}, dense, x)
				checkRows(t, b, code, 0, newView(t, b, d, []int{len(x)}, dense), []driver.View{src}, name(code, x))
				checkRows(t, b, code, 0, src, []driver.View{src}, name(code, x, "in place"))
			}
		}
	}
}

// checkRows compares the code with its definition.
func checkRows(t *testing.T, b driver.Backend, code driver.Code, axis int, dst driver.View, src []driver.View, what string) {
	t.Helper()
	run := func(c driver.Code, alpha float64, shape []int, src ...driver.View) driver.View {
		to := newView(t, b, wide(dst.DType), shape, dense)
		for i, v := range src {
			src[i].Stride = slices.Clone(v.Stride)
			if src[i].Shape = shape; v.Shape[axis] < shape[axis] {
				src[i].Stride[axis] = 0
			}
		}
		b.Run(driver.Kernel{Code: c, Alpha: alpha}, to, src...)
		return to
	}
	shape, one := dst.Shape, slices.Clone(dst.Shape)
	one[axis] = 1
	reduced := func(c driver.Code, v driver.View) driver.View {
		to := newView(t, b, wide(dst.DType), one, dense)
		b.Run(driver.Kernel{Code: c}, to, v)
		return to
	}
	if dst.Len() == 0 {
		b.Run(driver.Kernel{Code: code, Axis: axis}, dst, src...)
		return
	}
	x := run(driver.Copy, 0, shape, src[0])
	var want driver.View
	switch code {
	case driver.Softmax, driver.LogSoftmax:
		s := run(driver.Sub, 0, shape, x, reduced(driver.ReduceMax, x))
		e := run(driver.Exp, 0, shape, s)
		total := reduced(driver.Sum, e)
		if want = run(driver.Div, 0, shape, e, total); code == driver.LogSoftmax {
			want = run(driver.Sub, 0, shape, s, run(driver.Log, 0, one, total))
		}
	case driver.SoftmaxGrad:
		y := run(driver.Copy, 0, shape, src[1])
		want = run(driver.Mul, 0, shape, run(driver.Sub, 0, shape, x, reduced(driver.Sum, run(driver.Mul, 0, shape, x, y))), y)
	default:
		p := run(driver.Exp, 0, shape, run(driver.Copy, 0, shape, src[1]))
		want = run(driver.Sub, 0, shape, x, run(driver.Mul, 0, shape, p, reduced(driver.Sum, x)))
	}
	b.Run(driver.Kernel{Code: code, Axis: axis}, dst, src...)
	list := values(b, want)
	for i, got := range values(b, dst) {
		if w := round(dst.DType, list[i]); !equal(got, w) {
			t.Errorf("%s: element %d: got %g, want %g", what, i, got, w)
			return
		}
	}
}

// testDropout checks [driver.Dropout] element by element if the backend offers it.
func testDropout(t *testing.T, b driver.Backend) {
	for _, d := range dtypes {
		if !b.Offers(driver.Dropout, d, d, driver.Bool) {
			continue
		}
		for i, shape := range shapes {
			for _, s := range layoutsOf(shape) {
				src := []driver.View{place(t, b, d, shape, s, random(100003)), place(t, b, driver.Bool, shape, strategies[i%len(strategies)], []float64{1, 0, 1, 1, 0, 1, 1})}
				if i == 3 {
					set(b, src[0], []float64{math.Inf(1), math.NaN(), math.Inf(-1), 1, math.Copysign(0, -1)})
				}
				dst := newView(t, b, d, shape, []strategy{dense, gaps, reversed}[i%3])
				b.Run(driver.Kernel{Code: driver.Dropout, Alpha: 1 / 0.9}, dst, src...)
				checkHoles(t, b, dst)
				x, keep := values(b, src[0]), values(b, src[1])
				for j, got := range values(b, dst) {
					if want := round(d, round(wide(d), 1/0.9)*keep[j]*x[j]); !equal(got, want) {
						t.Errorf("%s: element %d: got %g, want %g", name("dropout", d, shape, s), j, got, want)
						break
					}
				}
			}
		}
	}
}
