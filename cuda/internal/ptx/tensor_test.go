package ptx

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTensorCores(t *testing.T) {
	m := read(t, "tensor_sm80.ptx")
	for _, test := range []struct {
		kernel string
		to     func(float64) uint64
		from   func(uint64) float64
	}{
		{"mma_f16", toF16, fromF16},
		{"mma_bf16", toBF16, fromBF16},
	} {
		for _, k := range []int{8, 16, 40, 64} {
			r, d := rand.New(rand.NewPCG(7, uint64(k))), &device{t: t}
			a, b := make([]uint16, 16*k), make([]uint16, k*8)
			for i := range a {
				a[i] = uint16(test.to(r.NormFloat64()))
			}
			for i := range b {
				b[i] = uint16(test.to(r.NormFloat64()))
			}
			pa, _ := array(d, a)
			pb, _ := array(d, b)
			pc, got := array(d, make([]float32, 16*8))
			d.must(kernel(t, m, test.kernel), line(1), line(32), 0, pc, pa, pb, k)
			for i := range got {
				want := 0.0
				for j := range k {
					want += test.from(uint64(a[i/8*k+j])) * test.from(uint64(b[j*8+i%8]))
				}
				if math.Abs(float64(got[i])-want) > 1e-4 {
					t.Fatalf("%s, k %d: element %d is %v, want %v", test.kernel, k, i, got[i], want)
				}
			}
		}
	}
}

func TestTF32(t *testing.T) {
	m := read(t, "tensor_sm80.ptx")
	r, d := rand.New(rand.NewPCG(8, 8)), &device{t: t}
	a, b := random(r, 16*8), random(r, 8*8)
	pa, _ := array(d, a)
	pb, _ := array(d, b)
	pc, got := array(d, make([]float32, 16*8))
	d.must(kernel(t, m, "mma_tf32"), line(1), line(32), 0, pc, pa, pb)
	// 10 fraction bits, ties away from zero.
	short := func(x float32) float64 {
		return float64(math.Float32frombits((math.Float32bits(x) + 1<<12) &^ 0x1FFF))
	}
	for i := range got {
		want := 0.0
		for j := range 8 {
			want += short(a[i/8*8+j]) * short(b[j*8+i%8])
		}
		if math.Abs(float64(got[i])-want) > 1e-6 {
			t.Fatalf("element %d is %v, want %v", i, got[i], want)
		}
	}
}
