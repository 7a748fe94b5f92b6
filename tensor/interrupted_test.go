package tensor

import (
	"errors"
	"testing"

	"halfnote/tensor/driver"
)

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
