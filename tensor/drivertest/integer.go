package drivertest

import (
	"maps"
	"math"
	"testing"

	"halfnote/tensor/driver"
)

// testDTypes copies and fills between all dtypes.
func testDTypes(t *testing.T, b driver.Backend) {
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -1.75, 3, 100, 127.5, 200, 255, 256, 448, 464, 470, -500, 1000.7, 65504, 70000, -3e9, 3e9, 1e20, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, from := range driver.DTypes() {
		for _, to := range driver.DTypes() {
			for _, layout := range []strategy{dense, reversed, gaps} {
				src := place(t, b, from, []int{5, 5}, layout, numbers)
				dst := newView(t, b, to, []int{5, 5}, layout)
				b.Run(driver.Kernel{Code: driver.Copy}, dst, src)
				got := values(b, dst)
				for i, x := range values(b, src) {
					if want := round(to, x); !equal(got[i], want) {
						t.Errorf("%v to %v, %v: copy of %v: got %v, want %v", from, to, layout, x, got[i], want)
					}
				}
				checkHoles(t, b, dst)
			}
		}
		dst := newView(t, b, from, []int{3}, dense)
		for _, x := range []float64{0, 1, 3, 2.5, -1} {
			b.Run(driver.Kernel{Code: driver.Fill, Alpha: x}, dst)
			if got, want := values(b, dst)[1], round(from, x); got != want {
				t.Errorf("fill of %v with %v: got %v, want %v", from, x, got, want)
			}
		}
		if from.IsStorage() && (b.Offers(driver.Add, from, from, from) || b.Offers(driver.Sum, from, from)) {
			t.Errorf("%v: arithmetic is offered for a storage dtype", from)
		}
	}
}

var integers = []driver.DType{driver.Int64, driver.Int32, driver.Int16, driver.Int8, driver.Uint8, driver.Bool}

// testIntegers computes with integers and bool, and checks that comparisons give bool.
func testIntegers(t *testing.T, b driver.Backend) {
	for _, d := range integers {
		for code, p := range integral {
			for _, layout := range []strategy{dense, reversed, repeated} {
				shape, numbers := []int{3, 7}, []float64{0, 1, 5, -3, 7, 200, 255, -128, 99, 2, 1, 0, 40}
				var src []driver.View
				for i := range p.operands {
					list := numbers[i:]
					if code == driver.Power && i == 1 {
						list = []float64{0, 1, 2, 3, -1, -2} // exact in float64
						if d == driver.Uint8 {
							list = list[:4]
						}
					}
					src = append(src, place(t, b, d, shape, layout, list))
				}
				targets := []driver.DType{d}
				if code == driver.Equal || code == driver.Less || code == driver.LessEqual {
					targets = append(targets, driver.Bool)
				}
				for _, to := range targets {
					dst := newView(t, b, to, shape, gaps)
					b.Run(driver.Kernel{Code: code, Alpha: 2, Beta: 3}, dst, src...)
					got := values(b, dst)
					for i := range got {
						a := args{alpha: 2, beta: 3, round: func(x float64) float64 { return x }}
						for j, v := range []*float64{&a.x, &a.y, &a.z}[:p.operands] {
							*v = values(b, src[j])[i]
						}
						if want := round(to, p.want(a)); got[i] != want {
							t.Errorf("%v of %v to %v, %v: (%v, %v, %v): got %v, want %v", code, d, to, layout, a.x, a.y, a.z, got[i], want)
						}
					}
				}
			}
		}
		for code, want := range map[driver.Code]float64{driver.Sum: 4, driver.SumSquares: 4, driver.ReduceMax: 1, driver.ReduceMin: 0} {
			src := place(t, b, d, []int{5}, dense, []float64{1, 1, 0, 1, 1})
			dst := newView(t, b, driver.Int64, []int{1}, dense)
			b.Run(driver.Kernel{Code: code}, dst, src)
			if got := values(b, dst)[0]; got != want {
				t.Errorf("%v of %v: got %v, want %v", code, d, got, want)
			}
		}
		if d != driver.Bool {
			testIntegerProduct(t, b, d)
		} else if b.Offers(driver.Matmul, d, d, d) {
			t.Error("Matmul is offered for bool; want it refused")
		}
		for _, code := range []driver.Code{driver.Exp, driver.Div, driver.Mean} {
			src := []driver.DType{d, d}
			if code != driver.Div {
				src = src[:1]
			}
			if b.Offers(code, d, src...) {
				t.Errorf("%v is offered for %v", code, d)
			}
		}
	}
	// A mask also selects floating-point numbers.
	mask := place(t, b, driver.Bool, []int{4}, dense, []float64{1, 0, 0, 1})
	for _, d := range dtypes {
		x, y := place(t, b, d, []int{4}, dense, []float64{1, 2, 3, 4}), place(t, b, d, []int{4}, scalar, []float64{-1})
		dst := newView(t, b, d, []int{4}, dense)
		b.Run(driver.Kernel{Code: driver.Where}, dst, mask, x, y)
		for i, want := range []float64{1, -1, -1, 4} {
			if got := values(b, dst)[i]; got != want {
				t.Errorf("where of %v, element %d: got %v, want %v", d, i, got, want)
			}
		}
		less := newView(t, b, driver.Bool, []int{4}, gaps)
		b.Run(driver.Kernel{Code: driver.Less}, less, y, x)
		if got := values(b, less)[2]; got != 1 {
			t.Errorf("less of %v: got %v, want true", d, got)
		}
	}
}

// testIntegerProduct multiplies integer matrices, whose sums wrap around.
func testIntegerProduct(t *testing.T, b driver.Backend, d driver.DType) {
	const m, n, k = 5, 3, 600
	x, y := place(t, b, d, []int{m, k}, reversed, random(31)), place(t, b, d, []int{k, n}, dense, random(37))
	z := place(t, b, d, []int{m, n}, dense, random(7))
	dst := newView(t, b, d, []int{m, n}, gaps)
	b.Run(driver.Kernel{Code: driver.Matmul}, dst, x, y, z)
	checkHoles(t, b, dst)
	xs, ys, zs := values(b, x), values(b, y), values(b, z)
	for i, got := range values(b, dst) {
		want := zs[i]
		for p := range k {
			want += xs[i/n*k+p] * ys[p*n+i%n]
		}
		if want = round(d, want); got != want {
			t.Errorf("matmul of %v, element %d: got %v, want %v", d, i, got, want)
		}
	}
}

// integral are the elementwise codes for integers.
var integral = func() map[driver.Code]pointwise {
	list := maps.Clone(bitwises)
	for _, code := range []driver.Code{
		driver.Affine, driver.Neg, driver.Abs, driver.Relu, driver.Step, driver.Sign,
		driver.Add, driver.AddScaled, driver.Sub, driver.Mul, driver.Max, driver.Min, driver.Equal, driver.Less, driver.LessEqual, driver.Where,
	} {
		list[code] = pointwises[code]
	}
	quotient := func(f func(x, y int64) int64) pointwise {
		return pointwise{2, 0, ints(func(x, y int64) int64 {
			if y == 0 {
				return 0
			}
			return f(x, y)
		})}
	}
	list[driver.TruncDiv] = quotient(func(x, y int64) int64 { return x / y })
	list[driver.Fmod] = quotient(func(x, y int64) int64 { return x - y*(x/y) })
	list[driver.FloorDiv] = quotient(func(x, y int64) int64 { return int64(math.Floor(float64(x) / float64(y))) })
	list[driver.Remainder] = quotient(func(x, y int64) int64 { return x - y*int64(math.Floor(float64(x)/float64(y))) })
	list[driver.Power] = pointwise{2, 0, ints(func(x, y int64) int64 {
		if y < 0 && x == 0 {
			return 0
		}
		if y < 0 {
			return int64(math.Trunc(math.Pow(float64(x), float64(y))))
		}
		p := int64(1)
		for range y {
			p *= x
		}
		return p
	})}
	return list
}()
