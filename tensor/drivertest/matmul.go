package drivertest

import (
	"math"
	"testing"

	"halfnote/tensor/driver"
)

// testMatmul multiplies matrices at sizes just below and above those of tiles, blocks and work items.
func testMatmul(t *testing.T, b driver.Backend) {
	for _, c := range []struct {
		batch   []int
		m, n, k int
	}{
		{nil, 1, 1, 1}, {nil, 3, 5, 7}, {nil, 4, 2, 512}, {nil, 5, 3, 513}, {nil, 1, 9, 2050}, {nil, 17, 1, 1030},
		{nil, 0, 3, 2}, {nil, 3, 0, 2}, {nil, 3, 4, 0}, {nil, 130, 131, 33}, {nil, 2, 300, 64}, {nil, 64, 64, 64},
		{[]int{3}, 4, 5, 6}, {[]int{2, 2}, 5, 2, 3}, {[]int{0}, 2, 2, 2}, {[]int{2}, 33, 34, 600},
	} {
		for i, d := range dtypes {
			for j, s := range []strategy{dense, reversed, gaps, repeated} {
				for _, bias := range []int{-1, 0, 1, 2} {
					if slow(b) && (c.m+c.n+c.k+i+j+bias)%5 != 0 {
						continue
					}
					testProduct(t, b, c.batch, c.m, c.n, c.k, d, s, bias)
				}
			}
		}
	}
}

// testProduct checks one product. bias is -1 for no bias, and otherwise the number of the last
// axes along which it does not repeat.
func testProduct(t *testing.T, b driver.Backend, batch []int, m, n, k int, d driver.DType, s strategy, bias int) {
	t.Helper()
	shape := func(rows, cols int) []int { return append(append([]int{}, batch...), rows, cols) }
	other := map[strategy]strategy{dense: dense, reversed: dense, gaps: reversed, repeated: dense}[s]
	x := place(t, b, d, shape(m, k), s, random(10007))
	y := place(t, b, d, shape(k, n), other, random(10009))
	src := []driver.View{x, y}
	xs, ys := values(b, x), values(b, y)
	var add []float64
	to := d
	if bias >= 0 {
		z := place(t, b, d, shape(m, n), dense, random(101))
		z.Stride = append([]int{}, z.Stride...)
		for i := range len(z.Stride) - bias {
			z.Stride[i] = 0
		}
		src, add = append(src, z), values(b, z)
		if d.Size() == 2 && bias > 0 {
			to = driver.Float32
		}
	}
	layout := dense
	if s == gaps {
		layout = gaps
	}
	dst := newView(t, b, to, shape(m, n), layout)
	b.Run(driver.Kernel{Code: driver.Matmul}, dst, src...)
	checkHoles(t, b, dst)
	checkSums(t, name(batch, m, n, k, d, s, bias), wide(d), to, values(b, dst), xs, ys, add, m, n, k)
}

// checkSums compares the products of matrices xs (…,m,k) and ys (…,k,n), plus add if it is not
// nil, with loops in float64.
func checkSums(t *testing.T, name string, in, to driver.DType, got, xs, ys, add []float64, m, n, k int) {
	t.Helper()
	for i, got := range got {
		matrix, row, col := i/(m*n), i/n%m, i%n
		var sum, size float64
		for p := range k {
			v := xs[(matrix*m+row)*k+p] * ys[(matrix*k+p)*n+col]
			sum += v
			size += math.Abs(v)
		}
		if add != nil {
			sum += add[i]
			size += math.Abs(add[i])
		}
		// K roundings of sums and K of products, in float32 unless dst is
		// float64, then one to dst's dtype.
		slack := float64(2*k+2) * ulp(in, 0.5) * size
		if got >= round(to, sum-slack) && got <= round(to, sum+slack) {
			continue
		}
		t.Errorf("%s: element %d: got %g, want %g within %g", name, i, got, sum, slack)
		return
	}
}

// testMatmulExact checks products whose sums are exact in float32, so that only the last
// rounding matters.
func testMatmulExact(t *testing.T, b driver.Backend) {
	ones := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 1
		}
		return x
	}
	for _, test := range []struct {
		name string
		d    driver.DType
		x, y []float64
		bias []float64
		want float64
	}{
		{"4097 ones", driver.Float16, ones(4097), ones(4097), nil, 4096},
		{"overflow", driver.Float16, []float64{256}, []float64{256}, nil, math.Inf(1)},
		{"60000 - 60000", driver.Float16, []float64{60000, 60000}, []float64{1, -1}, nil, 0},
		{"2048 + 1", driver.Float16, []float64{2048, 1}, []float64{1, 1}, nil, 2048},
		{"product 2048, bias 1", driver.Float16, []float64{2048}, []float64{1}, []float64{1}, 2048},
		{"product 2049, bias 1", driver.Float16, []float64{2048, 1}, []float64{1, 1}, []float64{1}, 2050},
		{"underflow of products", driver.Float16, ones(2), []float64{0x1p-24, 0x1p-24}, nil, 0x1p-23},
		{"tiny products", driver.Float16, []float64{0x1p-24, 0x1p-24}, []float64{0x1p-1, 0x1p-1}, nil, 0x1p-24},
		{"300 ones", driver.BFloat16, ones(300), ones(300), nil, 300},
		{"infinity", driver.Float32, []float64{math.Inf(1), 1}, []float64{1, 1}, nil, math.Inf(1)},
		{"infinity times 0", driver.Float32, []float64{math.Inf(1), 1}, []float64{0, 1}, nil, math.NaN()},
	} {
		k := len(test.x)
		src := []driver.View{place(t, b, test.d, []int{1, k}, dense, test.x), place(t, b, test.d, []int{k, 1}, dense, test.y)}
		if test.bias != nil {
			src = append(src, place(t, b, test.d, []int{1, 1}, dense, test.bias))
		}
		dst := newView(t, b, test.d, []int{1, 1}, dense)
		b.Run(driver.Kernel{Code: driver.Matmul}, dst, src...)
		if got := values(b, dst)[0]; !equal(got, test.want) {
			t.Errorf("%s in %v: got %g, want %g", test.name, test.d, got, test.want)
		}
	}
}
