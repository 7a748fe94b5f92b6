//go:build cuda && linux && cgo

package gpu

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/driver"
)

// TestLibrarySupports checks which products cublasLt computes: those of matrices with contiguous
// rows or columns.
func TestLibrarySupports(t *testing.T) {
	b := bare(t)
	needsLibrary(t, b)
	view := func(d driver.DType, shape []int, stride ...int) driver.View {
		buffer, err := b.Alloc(1 << 14)
		if err != nil {
			t.Fatal(err)
		}
		return driver.View{Buffer: buffer, DType: d, Shape: shape, Stride: stride}
	}
	const half, single = driver.Float16, driver.Float32
	x, y, to := view(half, []int{8, 16}, 16, 1), view(half, []int{16, 24}, 24, 1), view(half, []int{8, 24}, 24, 1)
	for _, test := range []struct {
		name string
		dst  driver.View
		src  []driver.View
		want bool
	}{
		{"rows", to, []driver.View{x, y}, true},
		{"columns of both operands", to, []driver.View{view(half, []int{8, 16}, 1, 8), view(half, []int{16, 24}, 1, 16)}, true},
		{"result by columns", view(half, []int{8, 24}, 1, 8), []driver.View{x, y}, true},
		{"parts of rows", to, []driver.View{view(half, []int{8, 16}, 20, 1), y}, true},
		{"float32 of halves", view(single, []int{8, 24}, 24, 1), []driver.View{x, y}, true},
		{"a row is added", to, []driver.View{x, y, view(half, []int{8, 24}, 0, 1)}, true},
		{"a column is added", to, []driver.View{x, y, view(half, []int{8, 24}, 1, 0)}, true},
		{"a matrix is added", to, []driver.View{x, y, view(half, []int{8, 24}, 24, 1)}, true},
		{"halves are added to float32", view(single, []int{8, 24}, 24, 1), []driver.View{x, y, view(half, []int{8, 24}, 0, 1)}, true},
		{"batch times a matrix", view(half, []int{3, 8, 24}, 192, 24, 1), []driver.View{view(half, []int{3, 8, 16}, 128, 16, 1), view(half, []int{3, 16, 24}, 0, 24, 1)}, true},
		{"batch times batch", view(half, []int{3, 8, 24}, 192, 24, 1), []driver.View{view(half, []int{3, 8, 16}, 128, 16, 1), view(half, []int{3, 16, 24}, 400, 24, 1)}, true},
		{"step 2", to, []driver.View{view(half, []int{8, 16}, 32, 2), y}, false},
		{"overlapping rows", to, []driver.View{view(half, []int{8, 16}, 4, 1), y}, false},
		{"backwards", to, []driver.View{view(half, []int{8, 16}, -16, 1), y}, false},
		{"empty sums", to, []driver.View{view(half, []int{8, 0}, 1, 1), view(half, []int{0, 24}, 24, 1)}, false},
		{"two batch axes", view(half, []int{2, 2, 8, 24}, 500, 192, 24, 1), []driver.View{view(half, []int{2, 2, 8, 16}, 300, 128, 16, 1), view(half, []int{2, 2, 16, 24}, 0, 400, 24, 1)}, false},
		{"integers", view(driver.Int32, []int{8, 24}, 24, 1), []driver.View{view(driver.Int32, []int{8, 16}, 16, 1), view(driver.Int32, []int{16, 24}, 24, 1)}, false},
	} {
		if test.name == "backwards" {
			test.src[0].Offset = 7 * 16
		}
		p := productOf(test.dst, test.src, 1, 1, 1)
		if got := b.productByLibrary(&p, test.dst, test.src); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
	b.Synchronize()
}

// TestRepeatedProducts checks that a product that has been computed before neither allocates driver
// memory nor waits, on every route.
func TestRepeatedProducts(t *testing.T) {
	if fake.Real() {
		t.Skip("needs the counters of the fake driver")
	}
	b := bare(t)
	defer func(routes route) { b.routes = routes }(b.routes)
	view := func(shape ...int) driver.View {
		buffer, err := b.Alloc(4 * shape[0] * shape[1])
		if err != nil {
			t.Fatal(err)
		}
		return driver.View{Buffer: buffer, DType: driver.Float16, Shape: shape, Stride: []int{shape[1], 1}}
	}
	x, y, z, dst := view(16, 1024), view(1024, 16), view(16, 16), view(16, 16)
	for _, b.routes = range []route{library, mma, simt} {
		b.Run(driver.Kernel{Code: driver.Matmul}, dst, x, y, z)
		b.Synchronize()
		allocs, syncs, launches := fake.Allocs(), fake.Syncs(), fake.Launches()
		for range 3 {
			b.Run(driver.Kernel{Code: driver.Matmul}, dst, x, y, z)
		}
		if a, s := fake.Allocs()-allocs, fake.Syncs()-syncs; a != 0 || s != 0 {
			t.Errorf("route %d: got %d allocations and %d waits, want none", b.routes, a, s)
		}
		want := 6 // per product one launch for the slices and one for their sum
		if b.routes == library {
			want = 3
		}
		if got := fake.Launches() - launches; got != want {
			t.Errorf("route %d: got %d launches, want %d", b.routes, got, want)
		}
		b.Synchronize()
	}
}

// TestLibraryMultipliesImages multiplies a matrix by images (n, c, area), which is one product per
// image.
func TestLibraryMultipliesImages(t *testing.T) {
	b := bare(t)
	needsLibrary(t, b)
	r := rand.New(rand.NewPCG(5, 6))
	const n, c, o, area = 3, 16, 8, 24
	view := func(shape, stride []int) driver.View {
		buffer, err := b.Alloc(2 * n * c * area)
		if err != nil {
			t.Fatal(err)
		}
		return driver.View{Buffer: buffer, DType: driver.Float16, Shape: shape, Stride: stride}
	}
	w, x := view([]int{o, c}, []int{c, 1}), view([]int{c, n, area}, []int{area, c * area, 1})
	y := view([]int{o, n, area}, []int{area, o * area, 1})
	ws, xs := integers(t, b, r, w), integers(t, b, r, x)
	p := productOf(y, []driver.View{w, x}, 1, 2, 1)
	if !b.productByLibrary(&p, y, []driver.View{w, x}) {
		t.Fatal("the library does not support the product")
	}
	got := content(b, y)
	for i, at := range places(y) {
		sum, want := 0, make([]byte, 2)
		for k := range c {
			sum += ws[i/(n*area)*c+k] * xs[k*n*area+i%(n*area)]
		}
		if put(want, driver.Float16, sum); !bytes.Equal(got[2*at:2*at+2], want) {
			t.Fatalf("element %d: got %x, want %d", i, got[2*at:2*at+2], sum)
		}
	}
}

// needsLibrary skips a test if the machine of a real GPU has no cublasLt. The fake driver has one.
func needsLibrary(t *testing.T, b *Backend) {
	t.Helper()
	file, err := b.Library()
	switch {
	case err == nil:
		t.Log(file)
	case fake.Real():
		t.Skip("needs cublasLt:", err)
	default:
		t.Fatal(err)
	}
}
