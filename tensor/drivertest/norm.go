package drivertest

import (
	"math"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// Norms runs only the checks of [driver.Moments], [driver.Normalize], [driver.NormalizeGrad]
// and [driver.NormalizeSums]: it compares their bits with those of the kernels that they
// combine.
func Norms(t *testing.T, b driver.Backend) {
	for _, c := range []struct {
		shape               []int
		statistics, weights int // the axes along which weights repeat, as bits
	}{
		{[]int{3, 5, 49}, 0b101, 0b101},      // batch norm
		{[]int{2, 2, 1040}, 0b101, 0b101},    // channels longer than a block
		{[]int{4, 20, 16}, 0b101, 0b101},     //
		{[]int{40, 33}, 0b01, 0b01},          // batch norm of vectors
		{[]int{1100, 2, 18}, 0b001, 0b001},   //
		{[]int{7, 130}, 0b10, 0b01},          // layer norm
		{[]int{1030, 3}, 0b10, 0b01},         //
		{[]int{1, 3, 1500}, 0b100, 0b011},    //
		{[]int{3, 4, 6, 20}, 0b1100, 0b1001}, // group norm
		{[]int{3, 40, 17}, 0b100, 0b101},     // instance norm
		{[]int{1, 1, 1}, 0b111, 0b111},       //
		{[]int{2, 20000}, 0b10, 0b01},        // many parts
		{[]int{9000, 3}, 0b01, 0b01},         //
		{[]int{2, 0, 3}, 0b101, 0b101},       //
	} {
		for _, d := range dtypes {
			if !b.Offers(driver.Moments, wide(d), d, wide(d)) {
				t.Logf("moments of %v: not offered", d)
				continue
			}
			for i, s := range []strategy{dense, reversed, gaps} {
				if (i+int(d))%brief(b, 3) != 0 || (driver.View{Shape: c.shape}).Len() > 20000 && (s != dense || slow(b) && d != driver.Float16) {
					continue
				}
				special := []float64{1, math.Inf(1), math.NaN()}[i]
				n := norm{t, b, d, c.shape, s, special, name(d, c.shape, s, c.statistics, c.weights, special)}
				n.check(c.statistics, c.weights)
			}
		}
	}
}

// norm is a normalisation of one shape and dtype, with one special element.
type norm struct {
	*testing.T
	b       driver.Backend
	d       driver.DType
	shape   []int
	s       strategy
	special float64
	what    string
}

// operand returns numbers that repeat along the axes whose bits are set.
func (n norm) operand(d driver.DType, s strategy, seed, repeat int) driver.View {
	x := slices.Clone(random(20011 + seed))
	if seed%2 == 0 {
		x[17] = n.special
	}
	v := place(n, n.b, d, n.reduced(repeat), s, x)
	return n.expanded(v)
}

// reduced returns the shape with size 1 along the axes whose bits are set.
func (n norm) reduced(axes int) []int {
	shape := slices.Clone(n.shape)
	for i := range shape {
		if axes>>i&1 == 1 {
			shape[i] = 1
		}
	}
	return shape
}

func (n norm) expanded(v driver.View) driver.View {
	v.Stride = slices.Clone(v.Stride)
	for i, size := range v.Shape {
		if size == 1 {
			v.Stride[i] = 0
		}
	}
	v.Shape = n.shape
	return v
}

// run returns the result of k for src in a new view.
func (n norm) run(k driver.Kernel, d driver.DType, shape []int, src ...driver.View) driver.View {
	dst := newView(n, n.b, d, shape, dense)
	n.b.Run(k, dst, src...)
	return dst
}

// same compares all elements, and checks the gaps between those of got.
func (n norm) same(what string, got, want driver.View) {
	n.Helper()
	w := values(n.b, want)
	for i, g := range values(n.b, got) {
		if math.Float64bits(g) != math.Float64bits(w[i]) && (g == g || w[i] == w[i]) {
			n.Errorf("%s of %s: element %d: got %v, want %v", what, n.what, i, g, w[i])
			return
		}
	}
	checkHoles(n, n.b, got)
}

func (n norm) check(statistics, weights int) {
	d, w, small := n.d, wide(n.d), n.reduced(statistics)
	x, dy := n.operand(d, n.s, 0, 0), n.operand(d, n.s, 1, 0)
	do := func(c driver.Code, src ...driver.View) driver.View {
		return n.run(driver.Kernel{Code: c}, w, n.shape, src...)
	}
	widened := func(v driver.View) driver.View { return do(driver.Copy, v) }
	mean, variance := newView(n, n.b, w, small, gaps), newView(n, n.b, w, small, n.s)
	n.b.Run(driver.Kernel{Code: driver.Moments}, variance, x, mean)
	wantMean := n.run(driver.Kernel{Code: driver.Mean}, w, small, widened(x))
	n.same("mean", mean, wantMean)
	centred := do(driver.Sub, widened(x), n.expanded(wantMean))
	n.same("variance", variance, n.run(driver.Kernel{Code: driver.Mean}, w, small, do(driver.Mul, centred, centred)))

	mean, scale := n.operand(w, n.s, 2, statistics), n.operand(w, dense, 3, statistics)
	weight, bias := n.operand(w, dense, 5, weights), n.operand(w, dense, 7, weights)
	z := do(driver.Mul, do(driver.Sub, widened(x), mean), scale)
	got := newView(n, n.b, d, n.shape, n.s)
	n.b.Run(driver.Kernel{Code: driver.Normalize}, got, x, mean, scale, weight, bias)
	n.same("normalize", got, n.run(driver.Kernel{Code: driver.Copy}, d, n.shape, do(driver.Add, do(driver.Mul, z, weight), bias)))
	got = newView(n, n.b, d, n.shape, gaps)
	n.b.Run(driver.Kernel{Code: driver.Normalize}, got, x, mean, scale)
	n.same("normalize without weight", got, n.run(driver.Kernel{Code: driver.Copy}, d, n.shape, z))

	for _, with := range []bool{true, false} {
		for _, along := range []int{statistics, weights} {
			g, list := widened(dy), []driver.View{dy, x, mean, scale}
			if with {
				g, list = do(driver.Mul, g, weight), append(list, weight)
			}
			first, second := newView(n, n.b, w, n.reduced(along), n.s), newView(n, n.b, w, n.reduced(along), gaps)
			n.b.Run(driver.Kernel{Code: driver.NormalizeSums, Alpha: 7}, first, append([]driver.View{second}, list...)...)
			divided := func(x driver.View) driver.View {
				sum := n.run(driver.Kernel{Code: driver.Sum}, w, n.reduced(along), x)
				seven := n.run(driver.Kernel{Code: driver.Fill, Alpha: 7}, w, n.reduced(along))
				return n.run(driver.Kernel{Code: driver.Div}, w, n.reduced(along), sum, seven)
			}
			n.same("first sum", first, divided(g))
			n.same("second sum", second, divided(do(driver.Mul, g, z)))
			if along != statistics {
				continue
			}
			list = append([]driver.View{dy, x, mean, scale, n.expanded(first), n.expanded(second)}, list[4:]...)
			got := newView(n, n.b, d, n.shape, n.s)
			n.b.Run(driver.Kernel{Code: driver.NormalizeGrad}, got, list...)
			want := do(driver.Sub, do(driver.Sub, g, n.expanded(first)), do(driver.Mul, z, n.expanded(second)))
			want = n.run(driver.Kernel{Code: driver.Copy}, d, n.shape, do(driver.Mul, want, scale))
			n.same("gradient", got, want)
			if list = slices.Delete(list, 4, 6); n.b.Offers(driver.NormalizeGrad, d, driver.DTypesOf(nil, list)...) {
				got = newView(n, n.b, d, n.shape, n.s)
				n.b.Run(driver.Kernel{Code: driver.NormalizeGrad, Alpha: 7}, got, list...)
				n.same("gradient and sums", got, want)
			}
		}
	}
}
