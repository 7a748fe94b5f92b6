package drivertest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// testPad compares [driver.Packer.Pad] with loops, along axes in any order.
func testPad(t *testing.T, b driver.Backend) {
	p, ok := b.(driver.Packer)
	if !ok {
		return
	}
	r := rand.New(rand.NewPCG(5, 6))
	count := 1000
	if slow(b) {
		count = 150
	}
	for range count {
		d := []driver.DType{driver.Float16, driver.BFloat16, driver.Float32, driver.Float64, driver.Uint8, driver.Bool}[r.IntN(6)]
		shape := make([]int, 1+r.IntN(6))
		full, before := make([]int, len(shape)), make([]int, len(shape))
		for i := range shape {
			shape[i], before[i] = r.IntN(5), r.IntN(3)*r.IntN(2)
			full[i] = shape[i] + before[i] + r.IntN(3)*r.IntN(2)
		}
		if r.IntN(2) == 0 { // channels in groups, more of them than in a tile
			i := r.IntN(len(shape))
			shape[i], before[i] = []int{3, 8, 17, 70}[r.IntN(4)], 0
			full[i] = (shape[i] + 7) / 8 * 8
		}
		dst, src := anyOrder(t, b, r, d, full), anyOrder(t, b, r, d, shape)
		set(b, src, random(997))
		p.Pad(dst, src, before)
		checkHoles(t, b, dst)
		got, x := values(b, dst), values(b, src)
		for i := range got {
			at, j, inside := i, 0, true
			place := make([]int, len(full))
			for a := len(full) - 1; a >= 0; a-- {
				place[a] = at%full[a] - before[a]
				at /= full[a]
			}
			for a, q := range place {
				inside = inside && q >= 0 && q < shape[a]
				j = j*shape[a] + q
			}
			want := 0.0
			if inside {
				want = x[j]
			}
			if got[i] != want {
				t.Fatalf("%v of %v, strides %v, with %v zeros before it as %v, strides %v: element %d: got %v, want %v", d, shape, src.Stride, before, full, dst.Stride, i, got[i], want)
			}
		}
	}
}

// anyOrder returns a view without gaps whose axes are in any order.
func anyOrder(t *testing.T, b driver.Backend, r *rand.Rand, d driver.DType, shape []int) driver.View {
	t.Helper()
	order := r.Perm(len(shape))
	if r.IntN(2) == 0 {
		slices.Sort(order)
	}
	turned := make([]int, len(shape))
	for i, a := range order {
		turned[i] = shape[a]
	}
	v := newView(t, b, d, turned, dense)
	stride := make([]int, len(shape))
	for i, a := range order {
		stride[a] = v.Stride[i]
	}
	v.Shape, v.Stride = shape, stride
	return v
}
