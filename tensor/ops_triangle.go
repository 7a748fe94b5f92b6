package tensor

import "halfnote/tensor/driver"

// triangle keeps one triangle of matrices.
type triangle struct {
	k     int
	upper bool
}

type (
	tril struct{ triangle }
	triu struct{ triangle }
)

func (tril) Info() Info { return info("tril", "torch.tril", SavesNothing) }
func (triu) Info() Info { return info("triu", "torch.triu", SavesNothing) }

func (a triangle) Forward(in []*Tensor) *Tensor {
	x := in[0]
	m, n := x.shape[len(x.shape)-2], x.shape[len(x.shape)-1]
	column := Arange(0, float64(n)).To(Int64).ToDevice(x.Device())
	diagonal := Arange(float64(a.k), float64(m+a.k)).To(Int64).ToDevice(x.Device()).Reshape(m, 1)
	kept := newTensor(x.mem.backend, Bool, []int{m, n})
	if a.upper {
		runBroadcast(driver.Kernel{Code: driver.LessEqual}, kept, diagonal, column)
	} else {
		runBroadcast(driver.Kernel{Code: driver.LessEqual}, kept, column, diagonal)
	}
	y := newTensor(x.mem.backend, x.dtype, x.shape)
	runBroadcast(driver.Kernel{Code: driver.Where}, y, kept, x, y)
	return y
}
func (a tril) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(a, dy)} }
func (a triu) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(a, dy)} }

// Tril returns matrices (…, m, n) with 0 above the k-th diagonal above the main diagonal. It is
// torch.tril.
func (t *Tensor) Tril(k int) *Tensor { return apply(tril{triangle{matrices("tril", t, k), false}}, t) }

// Triu returns matrices (…, m, n) with 0 below the k-th diagonal above the main diagonal. It is
// torch.triu.
func (t *Tensor) Triu(k int) *Tensor { return apply(triu{triangle{matrices("triu", t, k), true}}, t) }

// matrices returns k. It panics if t has fewer than 2 dimensions.
func matrices(op string, t *Tensor, k int) int {
	given(op, t)
	if len(t.shape) < 2 {
		fail(op, []*Tensor{t}, "t is %d-D; want at least 2-D, (…, m, n)", len(t.shape))
	}
	return k
}
