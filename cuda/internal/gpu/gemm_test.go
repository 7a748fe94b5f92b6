//go:build cuda && linux && cgo

package gpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"halfnote/cuda/internal/fake"
	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
)

// TestMatmul runs the conformance tests of products on each route, and those of contractions.
func TestMatmul(t *testing.T) {
	b := open(t)
	own := bare(t)
	defer func(routes route) { own.routes = routes }(own.routes)
	routes := []route{mma | simt, simt}
	if fake.Real() { // for the fake library TestProducts suffices
		routes = append(routes, allRoutes)
	}
	for _, own.routes = range routes {
		drivertest.Check(t, b, "Matmul", "MatmulExact")
	}
	own.routes = allRoutes
	drivertest.Check(t, b, "Contract")
}

// bare returns the backend of the first GPU.
func bare(t *testing.T) *Backend {
	b := open(t)
	if slow, ok := b.(emulated); ok {
		return slow.Backend
	}
	return b.(*Backend)
}

// TestProducts multiplies matrices of -1, 0 and 1, whose products are exact in every dtype, on every
// route and with tiles of both sizes. Sizes are near those of tiles, and layouts are all that
// kernels distinguish.
func TestProducts(t *testing.T) {
	b := bare(t)
	defer func(routes route, tf32 bool) {
		b.routes, b.busy = routes, busyBlocks
		b.tf32.Store(tf32)
	}(b.routes, b.tf32.Load())
	for _, route := range []struct {
		name   string
		routes route
		tf32   bool
		dtypes []driver.DType
	}{
		{"simt", simt, false, []driver.DType{driver.Float16, driver.BFloat16, driver.Float32, driver.Float64, driver.Int64, driver.Int32, driver.Uint8}},
		{"library", library | simt, true, []driver.DType{driver.Float16, driver.BFloat16, driver.Float32, driver.Float64}},
		{"mma", mma | simt, true, []driver.DType{driver.Float16, driver.BFloat16, driver.Float32}},
	} {
		for _, busy := range []int{busyBlocks, 1} {
			t.Run(fmt.Sprintf("%s/%d", route.name, busy), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, uint64(busy)))
				for i := range 70 {
					b.routes, b.busy = route.routes, busy
					b.tf32.Store(route.tf32)
					checkExact(t, b, r, route.dtypes[i%len(route.dtypes)])
				}
			})
		}
	}
}

// TestTF32 checks that float32 operands keep their 23 fraction bits by default, and are rounded to
// nearest with 10 fraction bits if TF32 is allowed, for all products or for one of high precision.
func TestTF32(t *testing.T) {
	b := bare(t)
	if major, _ := b.Capability(); major < 8 {
		t.Skip("needs tensor cores for TF32")
	}
	defer func(routes route, on bool) {
		b.routes = routes
		b.AllowTF32(on)
	}(b.routes, b.tf32.Load())
	b.routes = mma
	one := func(x float32) driver.View {
		buffer, err := b.Alloc(4)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(buffer, 0, binary.NativeEndian.AppendUint32(nil, math.Float32bits(x)))
		return driver.View{Buffer: buffer, DType: driver.Float32, Shape: []int{1, 1}, Stride: []int{1, 1}}
	}
	for _, test := range []struct {
		on, high bool
		x, want  float32
	}{
		{false, false, 1 + 0x1p-23, 1 + 0x1p-23},
		{true, false, 1 + 0x1p-10, 1 + 0x1p-10},
		{true, false, 1 + 0x1.8p-11, 1 + 0x1p-10},
		{true, false, 1 + 0x0.8p-11, 1},
		{true, false, -1 - 0x1.8p-11, -1 - 0x1p-10},
		{false, true, 1 + 0x1.8p-11, 1 + 0x1p-10},
	} {
		b.AllowTF32(test.on)
		dst := one(0)
		b.Run(driver.Kernel{Code: driver.Matmul, High: test.high}, dst, one(test.x), one(1))
		if got := math.Float32frombits(binary.NativeEndian.Uint32(content(b, dst))); got != test.want {
			t.Errorf("TF32 %v, high %v: %b times 1: got %b, want %b", test.on, test.high, test.x, got, test.want)
		}
	}
}

// TestManyAxes contracts views with more axes than the kernels support.
func TestManyAxes(t *testing.T) {
	b := bare(t)
	r := rand.New(rand.NewPCG(3, 4))
	view := func(stride ...int) driver.View { // shape (2, 2, …), axes in any order
		buffer, err := b.Alloc(4 << len(stride))
		if err != nil {
			t.Fatal(err)
		}
		v := driver.View{Buffer: buffer, DType: driver.Float32, Stride: stride}
		for range stride {
			v.Shape = append(v.Shape, 2)
		}
		return v
	}
	x, y := view(1, 2, 64, 4, 32, 8, 16), view(1, 4, 2, 32, 8, 16, 64) // (m, m, k, k, k, k, k) and (k, k, k, k, k, n, n)
	dst := view(1, 8, 2, 4)
	xs, ys := integers(t, b, r, x), integers(t, b, r, y)
	b.Run(driver.Kernel{Code: driver.Contract, Params: driver.ContractParams{Rows: 2, Columns: 2, Sum: 5}}, dst, x, y)
	got := content(b, dst)
	for i, at := range places(dst) {
		want := 0
		for k := range 32 {
			want += xs[i/4*32+k] * ys[k*4+i%4]
		}
		if got := math.Float32frombits(binary.NativeEndian.Uint32(got[4*at:])); got != float32(want) {
			t.Errorf("element %d: got %v, want %d", i, got, want)
		}
	}
}

// checkExact compares a product of random sizes and layouts with plain loops.
func checkExact(t *testing.T, b *Backend, r *rand.Rand, d driver.DType) {
	t.Helper()
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	m, n, k, batch := pick(1, 3, 40, 64, 72, 130), pick(1, 5, 48, 64, 80, 129), pick(0, 1, 7, 16, 64, 72, 136, 600), pick(1, 1, 1, 2, 3)
	to := d
	if d.IsFloat() && d.Size() == 2 && r.IntN(2) == 0 {
		to = driver.Float32
	}
	x, y, dst := scattered(t, b, r, d, batch, m, k), scattered(t, b, r, d, batch, k, n), scattered(t, b, r, to, batch, m, n)
	xs, ys := integers(t, b, r, x), integers(t, b, r, y)
	src := []driver.View{x, y}
	name := fmt.Sprintf("%v: %d of %d x %d x %d, strides %v times %v to %v of %v", d, batch, m, k, n, x.Stride, y.Stride, dst.Stride, to)
	want := make([]int, batch*m*n)
	if r.IntN(3) > 0 {
		z := scattered(t, b, r, []driver.DType{d, to}[r.IntN(2)], batch, m, n)
		for axis := range r.IntN(3) { // repeat C along no axis, the batch, or the batch and rows
			z.Stride[axis] = 0
		}
		want = integers(t, b, r, z)
		src, name = append(src, z), fmt.Sprintf("%s plus %v of %v", name, z.Stride, z.DType)
	}
	for i := range want {
		for p := range k {
			want[i] += xs[i/n*k+p] * ys[(i/(m*n)*k+p)*n+i%n]
		}
	}
	before := content(b, dst)
	b.Run(driver.Kernel{Code: driver.Matmul}, dst, src...)
	for i, at := range places(dst) {
		put(before[at*to.Size():], to, want[i])
	}
	if after := content(b, dst); !bytes.Equal(after, before) {
		for i, at := range places(dst) {
			if at *= to.Size(); !bytes.Equal(after[at:at+to.Size()], before[at:at+to.Size()]) {
				t.Errorf("%s: element %d: got %x, want %x, of %d", name, i, after[at:at+to.Size()], before[at:at+to.Size()], want[i])
				return
			}
		}
		t.Errorf("%s: wrote outside the result", name)
	}
}

// scattered returns a view of a batch whose rows or columns are contiguous, at distances that are
// multiples of 16 bytes or not.
func scattered(t *testing.T, b *Backend, r *rand.Rand, d driver.DType, batch, rows, cols int) driver.View {
	t.Helper()
	gap, off := 8*r.IntN(2), 16*r.IntN(2)
	if r.IntN(4) == 0 {
		gap, off = 1, r.IntN(2)
	}
	v := driver.View{DType: d, Offset: off, Shape: []int{batch, rows, cols}, Stride: []int{rows * (cols + gap), cols + gap, 1}}
	if r.IntN(2) == 0 {
		v.Stride = []int{cols * (rows + gap), 1, rows + gap}
	}
	buffer, err := b.Alloc((off + batch*(rows+gap)*(cols+gap) + 1) * d.Size())
	if err != nil {
		t.Fatal(err)
	}
	v.Buffer = buffer
	return v
}

// integers sets the elements of v to -1, 0 or 1 and returns them.
func integers(t *testing.T, b *Backend, r *rand.Rand, v driver.View) []int {
	t.Helper()
	p := bytes.Repeat([]byte{0xff}, v.Buffer.Bytes()) // NaN in elements that must not be read
	x := make([]int, v.Len())
	at := places(v)
	for i := range x {
		x[i] = r.IntN(3) - 1
		put(p[at[i]*v.DType.Size():], v.DType, x[i])
	}
	for i := range x { // of elements that share memory the last one remains
		x[i] = get(p[at[i]*v.DType.Size():], v.DType)
	}
	b.Write(v.Buffer, 0, p)
	return x
}

func content(b *Backend, v driver.View) []byte {
	p := make([]byte, v.Buffer.Bytes())
	b.Read(p, v.Buffer, 0)
	return p
}

// places returns the positions of the elements of v in its buffer, in row-major order.
func places(v driver.View) []int {
	list := []int{v.Offset}
	for axis, n := range v.Shape {
		var next []int
		for _, at := range list {
			for i := range n {
				next = append(next, at+i*v.Stride[axis])
			}
		}
		list = next
	}
	return list
}

// put stores an integer of magnitude up to 256.
func put(p []byte, d driver.DType, x int) {
	single := math.Float32bits(float32(x))
	switch d {
	case driver.Float16:
		h := uint16(single >> 31 << 15)
		if n := uint16(max(x, -x)); n > 0 {
			e := bits.Len16(n) - 1
			h |= uint16(15+e)<<10 | n<<(10-e)&0x3ff
		}
		binary.NativeEndian.PutUint16(p, h)
	case driver.BFloat16:
		binary.NativeEndian.PutUint16(p, uint16(single>>16))
	case driver.Float32:
		binary.NativeEndian.PutUint32(p, single)
	case driver.Float64:
		binary.NativeEndian.PutUint64(p, math.Float64bits(float64(x)))
	case driver.Int64:
		binary.NativeEndian.PutUint64(p, uint64(x))
	case driver.Int32:
		binary.NativeEndian.PutUint32(p, uint32(x))
	default:
		p[0] = byte(x)
	}
}

// get returns the -1, 0 or 1 that put has stored.
func get(p []byte, d driver.DType) int {
	var q [8]byte
	for x := -1; x <= 1; x++ {
		if put(q[:], d, x); bytes.Equal(p[:d.Size()], q[:d.Size()]) {
			return x
		}
	}
	panic("the element is not -1, 0 or 1")
}
