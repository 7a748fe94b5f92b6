package tensor

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"halfnote/tensor/driver"
)

// far returns the largest distance between elements of x and y.
func far(x, y *Tensor) float64 {
	if x.Numel() == 0 {
		return 0
	}
	return x.Double().Sub(y.Double()).Abs().Amax().Item()
}

// shapesOfMatrices are shapes of small, square, tall, wide, empty and batched matrices.
var shapesOfMatrices = [][]int{{1, 1}, {2, 2}, {5, 5}, {33, 33}, {7, 3}, {3, 7}, {40, 9}, {9, 40}, {2, 3, 4, 4}, {2, 5, 3}, {0, 3, 3}, {0, 3}, {3, 0}, {0, 0}}

func TestQR(t *testing.T) {
	for _, shape := range shapesOfMatrices {
		x := NewGenerator(1).Randn(shape...).Double()
		for _, mode := range []string{"reduced", "complete"} {
			name := fmt.Sprint(mode, shape)
			q, r := x.QR(mode)
			if d := far(q.MatMul(r), x); !(d < 1e-13) {
				t.Errorf("%s: q r differs from the matrix by %v", name, d)
			}
			if d := far(q.mT().MatMul(q), Eye(q.Size(-1)).Double()); !(d < 1e-14*float64(len(shape)+x.Size(-2))) {
				t.Errorf("%s: qᵀ q differs from the identity by %v", name, d)
			}
			if d := far(r.Tril(-1), ZerosLike(r)); d != 0 {
				t.Errorf("%s: r is not triangular", name)
			}
		}
	}
	// Zero columns, and numbers whose squares overflow.
	x := NewAs(Float64, []float64{0, 1e200, 0, -2e200, 0, 3e200}, 3, 2)
	q, r := x.QR("reduced")
	if d := far(q.MatMul(r), x); !(d < 1e186) {
		t.Errorf("large numbers: q r differs from the matrix by %v", d)
	}
	if q, r := x.QR("r"); q.Numel() != 0 || r.Size(0) != 2 {
		t.Errorf("mode r: got %v and %v", q.Shape(), r.Shape())
	}
}

func TestEigh(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 10, 60} {
		for name, x := range map[string]*Tensor{
			"normal":  NewGenerator(2).Randn(n, n).Double(),
			"zeros":   Zeros(n, n).Double(),
			"ones":    Ones(n, n).Double(),
			"large":   NewGenerator(2).Randn(n, n).Double().MulScalar(1e200),
			"small":   NewGenerator(2).Randn(n, n).Double().MulScalar(1e-200),
			"batch":   NewGenerator(2).Randn(2, 3, n, n).Double(),
			"graded":  Logspace(0, -20, max(n, 1), 10).Double().Slice(0, 0, n).Outer(Logspace(0, -20, max(n, 1), 10).Double().Slice(0, 0, n)),
			"integer": Eye(n).Double().Sub(Eye(n).Double().Roll(1, 0)),
		} {
			w, v := x.Eigh()
			s := x.Tril(0).Add(x.Tril(-1).mT())
			size := 1.0
			if n > 0 {
				size = math.Max(s.Abs().Amax().Item(), 1e-300)
			}
			if d := far(v.Mul(w.Unsqueeze(-2)).MatMul(v.mT()), s); !(d <= 1e-14*size*float64(n+1)) {
				t.Errorf("%s %d: v w vᵀ differs from the matrix by %v", name, n, d)
			}
			if d := far(v.mT().MatMul(v), Eye(n).Double()); !(d < 1e-13) {
				t.Errorf("%s %d: vᵀ v differs from the identity by %v", name, n, d)
			}
			if sorted, _ := w.Sort(-1); far(sorted, w) != 0 {
				t.Errorf("%s %d: the eigenvalues are not in order: %v", name, n, w)
			}
		}
	}
}

func TestPseudoinverse(t *testing.T) {
	for _, shape := range shapesOfMatrices {
		x := NewGenerator(3).Randn(shape...).Double()
		p := x.Pinv(RankOptions{})
		for name, d := range map[string]float64{
			"x p x": far(x.MatMul(p).MatMul(x), x), "p x p": far(p.MatMul(x).MatMul(p), p),
			"x p": far(x.MatMul(p), x.MatMul(p).mT()), "p x": far(p.MatMul(x), p.MatMul(x).mT()),
		} {
			if !(d < 1e-11) {
				t.Errorf("%v: %s is wrong by %v", shape, name, d)
			}
		}
		b := NewGenerator(4).Randn(append(append([]int{}, shape[:len(shape)-1]...), 2)...).Double()
		solution, _, rank, s := x.Lstsq(b, LstsqOptions{Driver: "gelsd"})
		if d := far(solution, p.MatMul(b)); !(d < 1e-11) {
			t.Errorf("%v: lstsq is wrong by %v", shape, d)
		}
		if n := min(x.Size(-1), x.Size(-2)); far(rank, Full(float64(n), rank.Shape()...)) != 0 || far(s, x.SVDVals()) > 1e-13 {
			t.Errorf("%v: got ranks %v of singular values %v", shape, rank, s)
		}
	}
	one := New([]float64{1, 2, 3}).Outer(New([]float64{2, 0, -1, 1})).Double()
	if r := one.MatrixRank(RankOptions{}).Item(); r != 1 {
		t.Errorf("the rank of a product of vectors: got %v", r)
	}
	if d := far(one.MatMul(one.Pinv(RankOptions{})).MatMul(one), one); !(d < 1e-14) {
		t.Errorf("singular matrix: wrong by %v", d)
	}
	sym := one.mT().MatMul(one)
	if d := far(sym.Pinv(RankOptions{Hermitian: true}), sym.Pinv(RankOptions{})); !(d < 1e-14) || sym.MatrixRank(RankOptions{Hermitian: true}).Item() != 1 {
		t.Errorf("symmetric singular matrix: wrong by %v", d)
	}
}

func TestLU(t *testing.T) {
	for _, shape := range [][]int{{1, 1}, {5, 5}, {2, 3, 4, 4}, {30, 30}, {0, 0}, {0, 2, 2}} {
		x := NewGenerator(5).Randn(shape...).Double()
		lu, pivots := x.LUFactor()
		l, u := lu.Tril(-1).Add(Eye(shape[len(shape)-1]).Double()), lu.Triu(0)
		if d := far(l.MatMul(u).exchanged(pivots, true), x); !(d < 1e-13) {
			t.Errorf("%v: p l u differs from the matrix by %v", shape, d)
		}
		b := NewGenerator(6).Randn(append(append([]int{}, shape[:len(shape)-1]...), 3)...).Double()
		if d := far(x.MatMul(lu.LUSolve(pivots, b)), b); !(d < 1e-11) {
			t.Errorf("%v: the solution is wrong by %v", shape, d)
		}
		sign, log := x.SlogDet()
		if d := far(sign.Mul(log.Exp()).Div(x.Det()), Ones(shape[:len(shape)-2]...)); !(d < 1e-13) {
			t.Errorf("%v: the determinant is wrong by %v", shape, d)
		}
	}
}

func TestMatrixExp(t *testing.T) {
	x := NewGenerator(7).Randn(3, 4, 4).Double()
	y := x.MatrixExp()
	if d := far(y.MatMul(x.Neg().MatrixExp()), Eye(4).Double()); !(d < 1e-11) {
		t.Errorf("exp(x) exp(-x) differs from the identity by %v", d)
	}
	if d := far(x.MulScalar(3).MatrixExp(), y.MatMul(y).MatMul(y)); !(d < 1e-6) {
		t.Errorf("exp(3x) is wrong by %v", d)
	}
	diagonal := NewAs(Float64, []float64{-30, 0, 12}, 3)
	if d := far(Eye(3).Double().Mul(diagonal).MatrixExp(), Eye(3).Double().Mul(diagonal.Exp())); !(d < 1e-8) {
		t.Errorf("diagonal matrix: wrong by %v", d)
	}
}

// TestDecompositionsCanBeInterrupted checks that operations with loops in Go poll for interrupts.
func TestDecompositionsCanBeInterrupted(t *testing.T) {
	g := NewGenerator(1)
	x, y := g.Randn(40, 40), g.Randn(40, 3)
	tall := g.Randn(60, 20)
	lu, pivots := x.LUFactor()
	stop := errors.New("interrupted")
	for name, f := range map[string]func(){
		"eigh": func() { x.Eigh() }, "qr": func() { tall.QR("complete") }, "pinv": func() { tall.Pinv(RankOptions{}) },
		"pinv hermitian": func() { x.Pinv(RankOptions{Hermitian: true}) }, "lstsq": func() { tall.Lstsq(tall, LstsqOptions{}) },
		"slogdet": func() { x.SlogDet() }, "lu_factor": func() { x.LUFactor() }, "lu_solve": func() { lu.LUSolve(pivots, y) },
		"matrix_exp": func() { x.MatrixExp() }, "solve_triangular": func() { x.SolveTriangular(y, true, TriangularOptions{}) },
		"cholesky_solve": func() { y.CholeskySolve(x, true) }, "cholesky_inverse": func() { x.CholeskyInverse(true) },
		"lgamma": func() { x.Lgamma() }, "polygamma": func() { x.Polygamma(3) }, "unique_dim": func() { g.Randint(0, 2, 3000, 40).UniqueDim(0) },
		"unique_consecutive": func() { x.UniqueConsecutive() }, "histogram": func() { x.Histogram(10, HistogramOptions{}) },
		"tril_indices": func() { TrilIndices(50, 50, 0) }, "triu_indices": func() { TriuIndices(50, 50, 0) },
	} {
		polls := 0
		driver.SetHost(driver.Host{Poll: func() { polls++ }})
		f()
		all := polls
		driver.SetHost(driver.Host{Poll: func() {
			if polls--; polls == all/2 {
				panic(stop)
			}
		}})
		func() {
			defer func() {
				if p := recover(); p != stop {
					t.Errorf("%s: got %v, want an interrupt at the poll in the middle of %d", name, p, all)
				}
			}()
			f()
		}()
		driver.SetHost(driver.Host{})
	}
}
