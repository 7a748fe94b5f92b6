package tensor

import (
	"strings"
	"testing"
)

// TestTriangleIndices checks that TrilIndices and TriuIndices return the positions that Tril and Triu keep.
func TestTriangleIndices(t *testing.T) {
	for _, shape := range [][2]int{{0, 0}, {1, 1}, {3, 3}, {2, 5}, {5, 2}, {0, 4}, {4, 0}} {
		for k := -7; k <= 7; k++ {
			ones := Ones(shape[0], shape[1])
			for name, c := range map[string][2]*Tensor{
				"tril": {TrilIndices(shape[0], shape[1], k), Stack(0, ones.Tril(k).Nonzero()...)},
				"triu": {TriuIndices(shape[0], shape[1], k), Stack(0, ones.Triu(k).Nonzero()...)},
			} {
				if !Equal(c[0], c[1]) {
					t.Errorf("%s %v %d: got %v, want %v", name, shape, k, c[0], c[1])
				}
			}
		}
	}
	if got := TriuIndices(2, 2, 1<<62); got.Numel() != 0 {
		t.Errorf("offset far above the diagonal: got %v", got)
	}
	if got := TrilIndices(2, 2, -1<<62); got.Numel() != 0 {
		t.Errorf("offset far below the diagonal: got %v", got)
	}
}

func TestStatisticsErrors(t *testing.T) {
	x := Zeros(2, 3)
	for want, f := range map[string]func(){
		"tensor: quantile: shape (2, 3): q is 2":                                                             func() { x.Quantiles([]float64{0, 2}, 0, QuantileOptions{}) },
		"tensor: nanquantile: shape (2, 3): unknown interpolation \"cubic\"":                                 func() { x.NanQuantiles([]float64{0}, 0, QuantileOptions{"cubic"}) },
		"tensor: nanquantile: dtype float16: want float32 or float64":                                        func() { x.Half().NanQuantile(0, 0) },
		"tensor: quantile: shape (0,): dimension 0 is empty":                                                 func() { Zeros(0).Quantile(0, 0) },
		"tensor: nanmedian: shape (2, 3): dimension 2 is out of range":                                       func() { x.NanMedian(2) },
		"tensor: cov: shape (2, 3, 1): input has 3 dimensions":                                               func() { x.Unsqueeze(-1).Cov() },
		"tensor: cov: shapes (2, 3) and (2,): counts has dtype int64":                                        func() { x.CovWith(1, Ones(2).Long(), nil) },
		"tensor: cov: shapes (2, 3) and (3,): weights has a negative element":                                func() { x.CovWith(1, nil, Ones(3).Neg()) },
		"tensor: histogram: shape (2, 3): bins is 0, Low is 0 and High is 0":                                 func() { x.Histogram(0, HistogramOptions{}) },
		"tensor: unique: shape (2, 0): the slices along dimension 0 are empty":                               func() { Zeros(2, 0).UniqueDim(0) },
		"tensor: tril_indices: shape (-1, 2): a size is negative":                                            func() { TrilIndices(-1, 2, 0) },
		"tensor: polygamma: shape (2, 3): n is -1":                                                           func() { x.Polygamma(-1) },
		"tensor: linalg_qr: shape (2, 3): unknown mode \"full\"; want reduced, complete or r":                func() { x.QR("full") },
		"tensor: linalg_qr: shape (3,): t is 1-D":                                                            func() { Zeros(3).QR("r") },
		"tensor: linalg_eigh: shape (2, 3): t is not a batch of square matrices":                             func() { x.Eigh() },
		"tensor: linalg_eigh: shape (1, 1): an element is not finite":                                        func() { Zeros(1, 1).Log().Eigh() },
		"tensor: linalg_pinv: shape (2, 3): ATol and RTol are -1 and 0":                                      func() { x.Pinv(RankOptions{ATol: -1}) },
		"tensor: pinverse: shape (1,): an element is not finite":                                             func() { finite("pinverse", Zeros(1).Log()) },
		"tensor: linalg_lstsq: shapes (2, 3) and (3, 1): matrix and right-hand side do not match":            func() { x.Lstsq(Zeros(3, 1), LstsqOptions{}) },
		"tensor: linalg_lstsq: shapes (2, 3) and (2,): unknown driver \"svd\"":                               func() { x.Lstsq(Zeros(2), LstsqOptions{Driver: "svd"}) },
		"tensor: linalg_lstsq: dtypes float16 and float16: want float32 or float64":                          func() { x.Half().Lstsq(Zeros(2).Half(), LstsqOptions{}) },
		"tensor: linalg_lu_factor: dtype float16: want float32 or float64":                                   func() { Eye(2).Half().LUFactor() },
		"tensor: linalg_lu_solve: shapes (2, 2), (2,) and (2, 1): pivots contain 3; want 1 to 2":             func() { Eye(2).LUSolve(FromInts([]int{1, 3}), Zeros(2, 1)) },
		"tensor: linalg_solve_triangular: shapes (2, 2) and (3, 1): matrix and right-hand side do not match": func() { Eye(2).SolveTriangular(Zeros(3, 1), true, TriangularOptions{}) },
		"tensor: cholesky_solve: shapes (2, 2) and (3, 1): matrix and right-hand side do not match":          func() { Zeros(3, 1).CholeskySolve(Eye(2), true) },
		"tensor: linalg_matrix_exp: shape (2, 3): t is not a batch of square matrices":                       func() { x.MatrixExp() },
		"tensor: linalg_cond: shape (2, 3): t is not a batch of square matrices":                             func() { x.Cond("1") },
		"tensor: linalg_cond: shape (0, 3): the matrices are empty":                                          func() { Zeros(0, 3).Cond("2") },
	} {
		if err := Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
