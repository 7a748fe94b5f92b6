package drivertest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"halfnote/tensor/driver"
)

// Contractions compares [driver.Contract] with [driver.Matmul] of copies of the same views,
// bit for bit: windows on an image, reversed views, axes in any order, and gaps.
func Contractions(t *testing.T, b driver.Backend) {
	testContractions(t, b, true)
}

// testContract compares contractions with loops within the tolerance of sums, because the order of a
// backend's sums may depend on the views.
func testContract(t *testing.T, b driver.Backend) {
	testContractions(t, b, false)
}

func testContractions(t *testing.T, b driver.Backend, exact bool) {
	r := rand.New(rand.NewPCG(7, 8))
	count := 300
	if slow(b) {
		count = 40
	}
	for i := range count {
		d := append(dtypes, driver.Int32)[i%5]
		if !b.Offers(driver.Contract, d, d, d) {
			return
		}
		size := func(most int) int { return 1 + r.IntN(most) }
		batch := []int{size(3), size(2)}[:r.IntN(3)]
		m, n, k := []int{size(20), size(3)}[:1+r.IntN(2)], []int{size(3), size(20), size(20)}[:1+r.IntN(3)], []int{size(4), size(4), size(9)}[:1+r.IntN(3)]
		switch i % 4 {
		case 0: // a derivative of a weight: long sums over rows of an image
			n, k = k, n
		case 1:
			k = []int{size(600), size(3)}
		}
		if i == count*2/3 {
			m, n, k = []int{70}, []int{3, 16, 16}, []int{20, 3, 3}
		}
		join := func(lists ...[]int) (all []int) {
			for _, list := range lists {
				all = append(all, list...)
			}
			return all
		}
		to := d
		if d.Size() == 2 && r.IntN(3) == 0 {
			to = driver.Float32
		}
		x, y := wandering(t, b, r, d, join(batch, m, k)), wandering(t, b, r, d, join(batch, k, n))
		dst := newView(t, b, to, join(batch, m, n), strategy(r.IntN(3)))
		rows, cols, deep := product(m), product(n), product(k)
		src := []driver.View{x, y}
		copies := []driver.View{copied(t, b, x, join(batch, []int{rows, deep})), copied(t, b, y, join(batch, []int{deep, cols}))}
		if r.IntN(2) == 0 {
			bias := wandering(t, b, r, []driver.DType{d, to}[r.IntN(2)], dst.Shape)
			if r.IntN(2) == 0 {
				bias.Stride = append([]int{}, bias.Stride...)
				for a := range n {
					bias.Stride[len(batch)+len(m)+a] = 0
				}
			}
			src, copies = append(src, bias), append(copies, copied(t, b, bias, join(batch, []int{rows, cols})))
		}
		b.Run(driver.Kernel{Code: driver.Contract, Params: driver.ContractParams{Rows: len(m), Columns: len(n), Sum: len(k)}}, dst, src...)
		checkHoles(t, b, dst)
		label := fmt.Sprintf("%v of %v as %v, strides %v, times %v, strides %v", d, join(batch, m, n), to, x.Stride, k, y.Stride)
		if !exact && d.IsFloat() {
			var add []float64
			if len(copies) == 3 {
				add = values(b, copies[2])
			}
			checkSums(t, label, wide(d), to, values(b, dst), values(b, copies[0]), values(b, copies[1]), add, rows, cols, deep)
			continue
		}
		want := newView(t, b, to, join(batch, []int{rows, cols}), 0)
		b.Run(driver.Kernel{Code: driver.Matmul}, want, copies...)
		if !bytes.Equal(bytesOf(b, copied(t, b, dst, dst.Shape)), bytesOf(b, want)) {
			t.Errorf("%s: result differs from a product of copies", label)
		}
	}
}

// wandering returns a view of random numbers whose axes are in any order, may overlap, have gaps, and run
// backwards.
func wandering(t *testing.T, b driver.Backend, r *rand.Rand, d driver.DType, shape []int) driver.View {
	t.Helper()
	v := driver.View{DType: d, Shape: shape, Stride: make([]int, len(shape))}
	order, last := r.Perm(len(shape)), 1
	if r.IntN(3) > 0 { // row-major
		for i := range order {
			order[i] = len(order) - 1 - i
		}
	}
	reach := 0
	for _, a := range order {
		stride := last
		switch r.IntN(8) {
		case 0:
			stride = 2 * last
		case 1:
			stride = 1 + r.IntN(last)
		case 2:
			stride = -last
		}
		v.Stride[a] = stride
		if stride < 0 {
			v.Offset += -stride * (shape[a] - 1)
		}
		reach += max(stride, -stride) * (shape[a] - 1)
		last = max(stride, -stride)*(shape[a]-1) + 1
	}
	numbers := place(t, b, d, []int{reach + 1}, dense, random(997))
	v.Buffer = numbers.Buffer
	v.Offset += numbers.Offset
	return v
}

// copied returns a copy of v with another shape.
func copied(t *testing.T, b driver.Backend, v driver.View, shape []int) driver.View {
	t.Helper()
	c := newView(t, b, v.DType, v.Shape, dense)
	b.Run(driver.Kernel{Code: driver.Copy}, c, v)
	c.Shape, c.Stride = shape, make([]int, len(shape))
	for i, n := len(shape)-1, 1; i >= 0; i-- {
		c.Stride[i] = n
		n *= shape[i]
	}
	return c
}

func product(list []int) int {
	n := 1
	for _, x := range list {
		n *= x
	}
	return n
}

func bytesOf(b driver.Backend, v driver.View) []byte {
	p := make([]byte, v.Len()*v.DType.Size())
	b.Read(p, v.Buffer, v.Offset*v.DType.Size())
	return p
}
