//go:build cuda && linux && cgo

package fake_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfnote/cuda/internal/lt"
)

// TestCublasLt compares products of column-major matrices with plain loops, and checks that
// unsupported types are refused.
func TestCublasLt(t *testing.T) {
	m := open(t)
	h, err := lt.Open(m.d.Context())
	must(t, err)
	for _, test := range []struct {
		m, n, k, batches       int
		transposeA, transposeB bool
		bias, tf32             bool
		beta                   float64
	}{
		{m: 1, n: 1, k: 1, batches: 1},
		{m: 5, n: 7, k: 3, batches: 1},
		{m: 5, n: 7, k: 3, batches: 2, transposeA: true, beta: 0.5},
		{m: 16, n: 4, k: 33, batches: 1, transposeB: true, bias: true},
		{m: 8, n: 8, k: 8, batches: 3, transposeA: true, transposeB: true, bias: true},
		{m: 8, n: 8, k: 8, batches: 1, tf32: true},
	} {
		r := rand.New(rand.NewPCG(1, uint64(test.m)))
		fill := func(n int) (list []float32, at uintptr) {
			host, x := m.pinned(n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			p := m.alloc(4 * n)
			must(t, m.s.CopyIn(p, host, 0, 4*n))
			return x, uintptr(p)
		}
		a, pa := fill(test.m * test.k * test.batches)
		b, pb := fill(test.k * test.n * test.batches)
		c, pc := fill(test.m * test.n * test.batches)
		bias, pbias := fill(test.m)
		out, d := m.pinned(len(c))
		pd := m.alloc(4 * len(c))
		s := lt.Shape{M: test.m, N: test.n, K: test.k, Batches: test.batches, LDA: test.m, LDB: test.k, LDC: test.m, LDD: test.m,
			A: test.m * test.k, B: test.k * test.n, C: test.m * test.n, D: test.m * test.n,
			TransposeA: test.transposeA, TransposeB: test.transposeB, Factors: lt.Float32, Results: lt.Float32, TF32: test.tf32, Bias: test.bias,
			Align: [4]int{16, 16, 16, 16}}
		if test.transposeA {
			s.LDA = test.k
		}
		if test.transposeB {
			s.LDB = test.n
		}
		p, err := h.Plan(s, pbias)
		must(t, err)
		o := lt.Operands{A: pa, B: pb, C: pc, D: uintptr(pd), Bias: pbias, Workspace: uintptr(m.alloc(max(1, p.Workspace())))}
		must(t, h.Run(p, o, test.beta, m.s.Handle()))
		must(t, m.s.CopyOut(out, 0, pd, 4*len(c)))
		must(t, m.s.Synchronize())
		worst := 1e-5
		if test.tf32 {
			worst = 0.02
		}
		for i := range d {
			z, row, col := i/(test.m*test.n), i%test.m, i/test.m%test.n
			want := test.beta * float64(c[i])
			for l := range test.k {
				ia, ib := row+l*test.m, l+col*test.k
				if test.transposeA {
					ia = l + row*test.k
				}
				if test.transposeB {
					ib = col + l*test.n
				}
				want += float64(a[z*test.m*test.k+ia]) * float64(b[z*test.k*test.n+ib])
			}
			if test.bias {
				want += float64(bias[row])
			}
			if !(math.Abs(float64(d[i])-want) <= worst*math.Max(1, math.Abs(want))) {
				t.Fatalf("%+v: element %d is %v, want %v", test, i, d[i], want)
			}
		}
	}
	if _, err := h.Plan(lt.Shape{M: 4, N: 4, K: 4, Batches: 1, LDA: 4, LDB: 4, LDC: 4, LDD: 4, Factors: lt.BFloat16, Results: lt.Float16}, 0); err == nil {
		t.Error("bfloat16 factors and float16 results: got a plan, want the error NotSupported")
	}
}
