package ptx

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"halfnote/cuda/kernels"
)

func random(r *rand.Rand, n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(r.NormFloat64())
	}
	return list
}

func TestSaxpy(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		k := kernel(t, m, "saxpy")
		for _, n := range []int{1, 3, 4, 127, 1000, 4096} {
			d, r := &device{t: t}, rand.New(rand.NewPCG(1, uint64(n)))
			x, y := random(r, n), random(r, n)
			px, _ := array(d, x)
			py, got := array(d, y)
			d.must(k, line(uint32(n+511)/512), line(128), 0, py, px, float32(0.3), uint64(n))
			for i := range got {
				if want := y[i] + float32(0.3*x[i]); got[i] != want {
					t.Fatalf("n %d: element %d is %v, want %v", n, i, got[i], want)
				}
			}
		}
	})
}

func TestRowSum(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		k := kernel(t, m, "row_sum")
		for _, threads := range []uint32{32, 64, 256, 1024} {
			const rows, cols = 5, 777
			d := &device{t: t}
			x := random(rand.New(rand.NewPCG(2, 2)), rows*cols)
			px, _ := array(d, x)
			py, got := array(d, make([]float32, rows))
			d.must(k, line(rows), line(threads), 0, py, px, cols)
			for i := range got {
				want := 0.0
				for _, v := range x[i*cols : i*cols+cols] {
					want += float64(v)
				}
				if math.Abs(float64(got[i])-want) > 1e-4 {
					t.Fatalf("%d threads: row %d is %v, want %v", threads, i, got[i], want)
				}
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		const rows, cols = 37, 50
		d := &device{t: t}
		x := random(rand.New(rand.NewPCG(3, 3)), rows*cols)
		px, _ := array(d, x)
		py, got := array(d, make([]float32, rows*cols))
		d.must(kernel(t, m, "transpose"), [3]uint32{(cols + 15) / 16, (rows + 15) / 16, 1}, [3]uint32{16, 16, 1}, 16*17*4, py, px, rows, cols)
		for i := range got {
			if want := x[i%rows*cols+i/rows]; got[i] != want {
				t.Fatalf("element %d is %v, want %v", i, got[i], want)
			}
		}
	})
}

func TestStructure(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		k := kernel(t, m, "strided")
		if p := k.Params[2]; p.Size != 96 || p.Align != 8 {
			t.Fatalf("the structure has %d bytes at multiples of %d, want 96 at 8", p.Size, p.Align)
		}
		d := &device{t: t}
		x := random(rand.New(rand.NewPCG(4, 4)), 4*30)
		px, _ := array(d, x)
		py, got := array(d, make([]float32, 2*3*4))
		s := make([]byte, 96)
		binary.LittleEndian.PutUint32(s, 3)
		for i, n := range []uint32{2, 3, 4} {
			binary.LittleEndian.PutUint32(s[4+4*i:], n)
		}
		for i, n := range []uint64{5, 30, 1} {
			binary.LittleEndian.PutUint64(s[32+8*i:], n)
		}
		binary.LittleEndian.PutUint64(s[80:], math.Float64bits(0.1))
		copy(s[88:], []byte{1, 0xFE, 3})
		d.must(k, line(1), line(32), 0, py, px, s, 24)
		for i := range got {
			want := float32(float64(x[i/12*5+i/4%3*30+i%4])*0.1) + []float32{1, -2, 3}[i%3]
			if got[i] != want {
				t.Fatalf("element %d is %v, want %v", i, got[i], want)
			}
		}
	})
}

func collatz(n int64, most int32) (steps int32) {
	for n != 1 && steps < most {
		if n&1 != 0 {
			n = 3*n + 1
		} else {
			n /= 2
		}
		steps++
	}
	return steps
}

func TestBranches(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		const n = 1000
		d := &device{t: t}
		py, got := array(d, make([]int32, n))
		d.must(kernel(t, m, "branches"), line(8), line(128), 0, py, n)
		for i := range got {
			u := uint32(i)
			var want int32
			switch i % 7 {
			case 0:
				want = collatz(int64(i)+1, 1000)
			case 1:
				want = int32(i * (i / 7 & 15))
			case 2:
				want = []int32{3, 1, 4, 1, 5, 9, 2, 6}[i&7]
			case 3:
				want = int32(i) / -3
			case 4:
				want = int32(u*2654435761>>7) % 1000
			case 5:
				want = int32(bits.OnesCount32(u) + bits.LeadingZeros32(u+1)*100)
			default:
				want = -int32(i)
			}
			if got[i] != want {
				t.Fatalf("element %d is %v, want %v", i, got[i], want)
			}
		}
		r, ok := m.Global("counters")
		if !ok || r.Size != 16 {
			t.Fatalf("counters are %+v, want 16 bytes", r)
		}
		for i := range uint64(4) {
			if got := *(*uint32)(pointer(r.Base + 4*i)); got != n/4 {
				t.Errorf("counter %d is %d, want %d", i, got, n/4)
			}
		}
	})
}

func TestHistogram(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		const n, blocks = 20000, 7
		r := rand.New(rand.NewPCG(5, 5))
		x, want := make([]byte, n), make([]uint32, 256)
		for i := range x {
			x[i] = byte(r.IntN(16) * r.IntN(16))
			want[x[i]]++
		}
		d := &device{t: t}
		px, _ := array(d, x)
		pb, got := array(d, make([]uint32, 256))
		pt, total := array(d, make([]float32, 1))
		d.must(kernel(t, m, "histogram"), line(blocks), line(192), 0, pb, pt, px, n)
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("bin %d is %d, want %d", i, got[i], want[i])
			}
		}
		if total[0] != blocks {
			t.Errorf("total is %v, want %v", total[0], blocks)
		}
	})
}

func TestHalves(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		x := []uint16{0, 0x8000, 1, 0x3C00, 0xC000, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x03FF, 0x0400}
		want := []uint16{0x3C00, 0x3C00, 0x3C00, 0x4000, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7FFF, 0x3C00, 0x3C00}
		d := &device{t: t}
		px, _ := array(d, x)
		py, got := array(d, make([]uint16, len(x)))
		d.must(kernel(t, m, "halves"), line(1), line(32), 0, py, px, float32(1), len(x))
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%#x + 1 is %#x, want %#x", x[i], got[i], want[i])
			}
		}
	})
}

func TestGCD(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		const n = 333
		r := rand.New(rand.NewPCG(6, 6))
		a, b := make([]uint64, n), make([]uint64, n)
		for i := range a {
			a[i], b[i] = r.Uint64()>>r.IntN(60), r.Uint64()>>r.IntN(60)
		}
		d := &device{t: t}
		pa, _ := array(d, a)
		pb, _ := array(d, b)
		py, got := array(d, make([]uint64, n))
		d.must(kernel(t, m, "gcd"), line(4), line(96), 0, py, pa, pb, n)
		for i := range got {
			p, q := a[i], b[i]
			for q != 0 {
				p, q = q, p%q
			}
			if got[i] != p {
				t.Fatalf("gcd of %d and %d is %d, want %d", a[i], b[i], got[i], p)
			}
		}
	})
}

func TestDoubles(t *testing.T) {
	both(t, func(t *testing.T, m *Module) {
		x := []float64{0, 1.5, -2, 3, -100, 1e-300, math.Inf(-1)}
		d := &device{t: t}
		px, _ := array(d, x)
		py, got := array(d, make([]float64, len(x)))
		d.must(kernel(t, m, "doubles"), line(1), line(32), 0, py, px, len(x))
		for i, v := range x {
			want := math.FMA(v, v, -1)
			if math.Abs(v) > 2 {
				want = math.Sqrt(math.Abs(v)) / 3
			}
			if got[i] != want {
				t.Errorf("%v gives %v, want %v", v, got[i], want)
			}
		}
	})
}

// TestBackendKernels checks that all kernels of the backend can be decoded, and use only
// instructions of the version and target that they name.
func TestBackendKernels(t *testing.T) {
	for _, name := range kernels.Modules() {
		m, err := Parse(kernels.PTX(name))
		if err == nil {
			err = m.Check()
			m.Release()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
