//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"math"
	"testing"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/driver"
)

// TestCaptureProduct captures a product of the library, with a workspace that the graph owns, and
// replays it between other products, which use another workspace.
func TestCaptureProduct(t *testing.T) {
	b := bare(t)
	needsLibrary(t, b)
	const n = 8
	matrix := func(number float64) driver.View {
		buffer, err := b.Alloc(4 * n * n)
		if err != nil {
			t.Fatal(err)
		}
		v := driver.View{Buffer: buffer, DType: driver.Float32, Shape: []int{n, n}, Stride: []int{n, 1}}
		b.Run(driver.Kernel{Code: driver.Fill, Alpha: number}, v)
		return v
	}
	x, y, to, other := matrix(2), matrix(3), matrix(0), matrix(0)
	product := driver.Kernel{Code: driver.Matmul}
	b.Run(product, to, x, y)
	if err := b.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	allocs := fake.Allocs()
	g, err := b.Capture(func() { b.Run(product, to, x, y) })
	if err != nil {
		t.Fatal(err)
	}
	if n := fake.Allocs() - allocs; !fake.Real() && n != 1 {
		t.Errorf("got %d allocations for the graph, want 1 for the workspace", n)
	}
	for i := range 3 {
		b.Run(driver.Kernel{Code: driver.Fill, Alpha: float64(i)}, x)
		g.Replay()
		b.Run(product, other, to, y)
		for v, want := range map[*driver.View]float32{&to: float32(3 * n * i), &other: float32(9 * n * n * i)} {
			var p [4]byte
			b.Read(p[:], v.Buffer, 4*(n*n-1))
			if got := math.Float32frombits(binary.NativeEndian.Uint32(p[:])); got != want {
				t.Errorf("x filled with %d: got %v, want %v", i, got, want)
			}
		}
	}
	g.Free()
	if err := b.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	if pools := len(b.memory.pools); pools != 0 {
		t.Errorf("got %d pools after Free, want 0", pools)
	}
}
