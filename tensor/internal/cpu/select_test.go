package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// InBrief returns the backend, marked for a share of the shapes and layouts in a default run.
func InBrief(t *testing.T, b *Backend) driver.Backend {
	if testenv.Requires("long") {
		return b
	}
	t.Log("a share of the shapes and layouts; HALFNOTE_REQUIRE=long runs all")
	return brief{b}
}

type brief struct{ *Backend }

func (brief) Slow()  {}
func (brief) Brief() {}

// eachTier calls body for the kernels of every tier and for portable code.
func eachTier(body func(name string)) {
	defer func(l asm.Loops, n asm.Norms, s asm.Selects) { loops, norms, selects = l, n, s }(loops, norms, selects)
	for _, tier := range append([]*asm.Tier{nil}, asm.Tiers()...) {
		loops, norms, selects = loopsOf(tier), normsOf(tier), selectsOf(tier)
		name := asm.Portable
		if tier != nil {
			name = tier.Name
		}
		body(name)
	}
}

// filled returns a view of a buffer with random bits, or with small float32, some of them NaN.
func filled(t *testing.T, b *Backend, d driver.DType, elements int, shape, stride []int) driver.View {
	t.Helper()
	buf, err := b.Alloc(elements * d.Size())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, uint64(elements)))
	p := make([]byte, elements*d.Size())
	for i := range p {
		p[i] = byte(r.UintN(256))
	}
	if d == driver.Float32 {
		for i := range elements {
			x := float32(r.IntN(40) - 20)
			if r.IntN(200) == 0 {
				x = float32(math.NaN())
			}
			w := math.Float32bits(x)
			p[4*i], p[4*i+1], p[4*i+2], p[4*i+3] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
		}
	}
	b.Write(buf, 0, p)
	return driver.View{Buffer: buf, DType: d, Shape: shape, Stride: stride}
}

// TestTransposed compares copies of transposed views with the source, element by element.
func TestTransposed(t *testing.T) {
	b := New(2)
	eachTier(func(name string) {
		for _, d := range []driver.DType{driver.Uint8, driver.BFloat16, driver.Float32, driver.Int64} {
			for _, v := range []struct{ shape, stride []int }{
				{[]int{70, 45}, []int{1, 70}}, {[]int{16, 16}, []int{1, 16}}, {[]int{33, 100}, []int{1, 40}},
				{[]int{3, 50, 20}, []int{1000, 1, 50}}, {[]int{40, 3, 20}, []int{1, 800, 40}}, {[]int{5, 30, 4, 4}, []int{16, 80, 4, 1}},
				{[]int{6, 9, 64}, []int{576, 1, 9}}, {[]int{4, 3, 3, 45}, []int{405, 3, 1, 9}}, {[]int{2, 16, 1100}, []int{17600, 1, 16}}, {[]int{3, 2, 33}, []int{70, 1, 2}},
				{[]int{600, 300}, []int{1, 600}}, {[]int{20, 64, 5}, []int{5, 0, 1}}, {[]int{20, 64}, []int{1, 0}},
			} {
				src := filled(t, b, d, 200000, v.shape, v.stride)
				dst := filled(t, b, d, src.Len(), v.shape, nil)
				dst.Stride = make([]int, len(v.shape))
				for i, n := len(v.shape)-1, 1; i >= 0; i-- {
					dst.Stride[i] = n
					n *= v.shape[i]
				}
				b.Run(driver.Kernel{Code: driver.Copy}, dst, src)
				from, to := elements[byte](bufferOf(src.Buffer)), elements[byte](bufferOf(dst.Buffer))
				l, size := layout{shape: v.shape, stride: v.stride}, d.Size()
				for i := range dst.Len() {
					at := l.index(i) * size
					if !slices.Equal(to[i*size:(i+1)*size], from[at:at+size]) {
						t.Errorf("%s: %v of %v: element %d differs", name, d, v, i)
						break
					}
				}
			}
		}
	})
}

// TestFirstExtreme compares positions of extremes with a plain search.
func TestFirstExtreme(t *testing.T) {
	b := New(2)
	eachTier(func(name string) {
		for _, v := range []struct {
			shape, stride []int
			reduced       int // number of reduced axes, the last ones
		}{
			{[]int{4, 20, 20, 2, 2}, []int{1600, 80, 2, 40, 1}, 2}, // disjoint windows
			{[]int{3, 19, 23, 3, 3}, []int{1600, 40, 1, 40, 1}, 2}, // overlapping windows
			{[]int{2000, 32}, []int{32, 1}, 1}, {[]int{2000, 7}, []int{1, 2000}, 1},
			{[]int{30, 100}, []int{100, 1}, 1}, {[]int{5, 2100}, []int{2100, 1}, 1}, {[]int{1, 33}, []int{33, 1}, 1},
		} {
			x := filled(t, b, driver.Float32, 70000, v.shape, v.stride)
			outs, count := 1, 1
			shape := slices.Clone(v.shape)
			for i, n := range v.shape {
				if i < len(shape)-v.reduced {
					outs *= n
				} else {
					count, shape[i] = count*n, 1
				}
			}
			dst := filled(t, b, driver.Int64, outs, shape, make([]int, len(shape)))
			for i, n := len(shape)-1, 1; i >= 0; i-- {
				dst.Stride[i] = n
				n *= shape[i]
			}
			numbers, l := elements[float32](bufferOf(x.Buffer)), layout{shape: v.shape, stride: v.stride}
			for _, code := range []driver.Code{driver.ArgMax, driver.ArgMin} {
				b.Run(driver.Kernel{Code: code}, dst, x)
				for o, got := range elements[int64](bufferOf(dst.Buffer))[:outs] {
					best := 0
					value := func(i int) float32 { return numbers[l.index(o*count+i)] }
					for i := range count {
						x, most := value(i), value(best)
						if x != x && most == most || code == driver.ArgMax && x > most || code == driver.ArgMin && x < most {
							best = i
						}
					}
					if int(got) != best {
						t.Errorf("%s: %v of %v: result %d: got %d, want %d", name, code, v, o, got, best)
						break
					}
				}
			}
		}
	})
}

// TestGatherRows compares gathered rows with the source, element by element.
func TestGatherRows(t *testing.T) {
	b := New(2)
	eachTier(func(name string) {
		for _, d := range []driver.DType{driver.Uint8, driver.Float16, driver.Float32} {
			for _, width := range []int{1, 3, 16, 63, 64, 65, 200} {
				const rows, from = 100, 50
				x := filled(t, b, d, from*width*2, []int{from, width}, []int{2 * width, 1})
				index := filled(t, b, driver.Int64, rows, []int{rows, width}, []int{1, 0})
				for i, p := range elements[int64](bufferOf(index.Buffer)) {
					elements[int64](bufferOf(index.Buffer))[i] = int64(uint64(p) % from)
				}
				dst := filled(t, b, d, rows*width, []int{rows, width}, []int{width, 1})
				b.Run(driver.Kernel{Code: driver.Gather}, dst, x, index)
				got, memory := elements[byte](bufferOf(dst.Buffer)), elements[byte](bufferOf(x.Buffer))
				n := width * d.Size()
				for i, p := range elements[int64](bufferOf(index.Buffer)) {
					if !slices.Equal(got[i*n:(i+1)*n], memory[int(p)*2*n:][:n]) {
						t.Errorf("%s: %v, rows of %d: row %d differs", name, d, width, i)
						break
					}
				}
			}
		}
	})
}

// TestRowPasses compares arithmetic on operands that repeat within rows, or repeat whole rows, with
// plain loops.
func TestRowPasses(t *testing.T) {
	b := New(2)
	eachTier(func(name string) {
		for _, v := range []struct{ shape, stride []int }{
			{[]int{9, 40, 16}, []int{0, 1, 0}}, {[]int{9, 40, 7}, []int{0, 3, 0}}, {[]int{50, 70}, []int{0, 1}}, {[]int{50, 70}, []int{1, 0}},
			{[]int{3, 20, 4, 30}, []int{0, 30, 0, 1}}, {[]int{40, 1000}, []int{2, 0}}, {[]int{3, 5, 6, 40}, []int{5, 1, 0, 0}}, {[]int{40, 50}, []int{0, 0}},
		} {
			y := filled(t, b, driver.Float32, 2000, v.shape, v.stride)
			n := y.Len()
			dense := make([]int, len(v.shape))
			for i, next := len(v.shape)-1, 1; i >= 0; i-- {
				dense[i] = next
				next *= v.shape[i]
			}
			x, dst := filled(t, b, driver.Float32, n, v.shape, dense), filled(t, b, driver.Float32, n+1, v.shape, dense)
			l := layout{shape: v.shape, stride: v.stride}
			for code, f := range map[driver.Code]func(x, y float32) float32{
				driver.Add: func(x, y float32) float32 { return x + y }, driver.Sub: func(x, y float32) float32 { return x - y },
				driver.Mul: func(x, y float32) float32 { return x * y }, driver.Div: func(x, y float32) float32 { return x / y },
			} {
				b.Run(driver.Kernel{Code: code}, dst, x, y)
				for i, got := range elements[float32](bufferOf(dst.Buffer))[:n] {
					want := f(elements[float32](bufferOf(x.Buffer))[i], elements[float32](bufferOf(y.Buffer))[l.index(i)])
					if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
						t.Errorf("%s: %v of %v: element %d: got %v, want %v", name, code, v, i, got, want)
						break
					}
				}
			}
		}
	})
}
