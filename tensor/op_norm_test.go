package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// normOf is the definition of a norm of order p, in float64.
func normOf(x []float64, p float64) float64 {
	total, most, least := 0.0, 0.0, math.Inf(1)
	for _, v := range x {
		v = math.Abs(v)
		most, least = max(most, v), min(least, v)
		if p != 0 {
			total += math.Pow(v, p)
		} else if v != 0 {
			total++
		}
	}
	switch {
	case p == 0:
		return total
	case math.IsInf(p, 1):
		return most
	case math.IsInf(p, -1):
		return least
	}
	return math.Pow(total, 1/p)
}

func TestNorms(t *testing.T) {
	inf := math.Inf(1)
	for _, p := range []float64{0, 0.5, 1, 1.5, 2, 3, -1, -2, inf, -inf} {
		for _, d := range dtypes {
			for _, x := range made(d, []int{7}, []int{3, 5}, []int{1}, []int{2, 33}) {
				compare(t, fmt.Sprint("norm ", p, x.shape), x.NormWith(p, PNormOptions{}), []int{}, []float64{normOf(x.Float64s(), p)})
				var rows []float64
				for i := range x.shape[0] {
					rows = append(rows, normOf(x.Select(0, i).Float64s(), p))
				}
				if len(x.shape) == 2 {
					compare(t, fmt.Sprint("norm of rows ", p, x.shape), x.KeepDim().VectorNorm(p, PNormOptions{Dims: []int{-1}}), []int{x.shape[0], 1}, rows)
				}
			}
		}
	}
	if got := New([]float64{300, 400}).Half().VectorNorm(2, PNormOptions{DType: Float64}); got.DType() != Float64 || got.Item() != 500 {
		t.Errorf("result in float64: got %v", got)
	}
	if got := New([]float64{60000, 60000}).Half().NormWith(1, PNormOptions{}).Item(); !math.IsInf(got, 1) {
		t.Errorf("the sum of 60000 and 60000: got %v, want +Inf", got)
	}
	if got := New([]float64{1, math.NaN(), 0}).NormWith(inf, PNormOptions{}).Item(); got == got {
		t.Errorf("norm with a NaN: got %v", got)
	}
}

func TestMatrixNorms(t *testing.T) {
	x := New([]float64{1, -2, 3, 4, 5, -6}, 2, 3)
	for order, want := range map[string]float64{"fro": math.Sqrt(91), "1": 9, "-1": 5, "inf": 15, "-inf": 6} {
		for _, d := range dtypes {
			compare(t, order, x.To(d).MatrixNorm(order, PNormOptions{}), []int{}, []float64{want})
			compare(t, order+" of the transpose", x.To(d).T().KeepDim().MatrixNorm(order, PNormOptions{Dims: []int{1, 0}}), []int{1, 1}, []float64{want})
		}
	}
	// The singular values of a diagonal matrix are its magnitudes.
	y := New([]float64{0, -3, 0, 0, 0, 0, 2, 0, 0}, 3, 3)
	for order, want := range map[string]float64{"nuc": 5, "2": 3, "-2": 0, "fro": math.Sqrt(13)} {
		compare(t, order, y.MatrixNorm(order, PNormOptions{}), []int{}, []float64{want})
	}
	compare(t, "nuclear", y.KeepDim().NuclearNorm(PNormOptions{}), []int{1, 1}, []float64{5})
	compare(t, "frobenius", y.FrobeniusNorm(PNormOptions{}), []int{}, []float64{math.Sqrt(13)})
}

func TestSVD(t *testing.T) {
	zeros := Zeros(4, 3)
	one := New([]float64{1, 2, 3}).Outer(New([]float64{2, 0, -1, 1})) // rank 1
	for name, x := range map[string]*Tensor{
		"tall": made(Float32, []int{7, 3})[0], "wide": made(Float32, []int{3, 8})[0], "batch": made(Float32, []int{2, 3, 4, 5})[0], "one": made(Float32, []int{1, 1})[0],
		"zeros": zeros, "rank 1": one, "transposed": one.T(), "none": Zeros(0, 3), "float64": made(Float64, []int{20, 20})[0], "half": made(Float16, []int{5, 4})[0], "equal": Eye(5),
	} {
		u, s, vh := x.SVD()
		d := Float64
		u, s, vh = u.To(d), s.To(d), vh.To(d)
		slack := 4 * tolerance(x.dtype) * float64(max(1, x.Numel()))
		near := func(what string, a, b *Tensor) {
			if gap := a.Sub(b).Abs(); gap.Numel() > 0 && !(gap.Amax().Item() <= slack) {
				t.Errorf("%s: %s: got %v, want %v", name, what, a, b)
			}
		}
		near("u s vh", u.Mul(s.Unsqueeze(-2)).MatMul(vh), x.To(d))
		eye := Eye(s.shape[len(s.shape)-1]).To(d)
		near("uᵀu", u.Transpose(-1, -2).MatMul(u), eye.expandTo(append(append([]int{}, s.shape...), eye.shape[0])))
		near("vᵀv", vh.MatMul(vh.Transpose(-1, -2)), eye.expandTo(append(append([]int{}, s.shape...), eye.shape[0])))
		row := s.Float64s()
		for i := range row {
			if row[i] < 0 || i%eye.shape[0] > 0 && row[i] > row[i-1] {
				t.Errorf("%s: singular values %v are not in descending order", name, row)
			}
		}
	}
}

func TestDistances(t *testing.T) {
	for _, p := range []float64{0, 1, 2, 2.5, math.Inf(1)} {
		for _, d := range dtypes {
			in := made(d, []int{4, 3}, []int{2, 3})
			x, y := in[0], in[1]
			difference := func(a, b *Tensor) float64 {
				var z []float64
				for i, v := range a.Float64s() {
					z = append(z, v-b.Float64s()[i])
				}
				return normOf(z, p)
			}
			var cdist, pdist, pairs []float64
			for i := range 4 {
				for j := range 2 {
					cdist = append(cdist, difference(x.Select(0, i), y.Select(0, j)))
				}
				for j := i + 1; j < 4; j++ {
					pdist = append(pdist, difference(x.Select(0, i), x.Select(0, j)))
				}
			}
			compare(t, fmt.Sprint("cdist ", p), x.CDist(y, p), []int{4, 2}, cdist)
			compare(t, fmt.Sprint("pdist ", p), x.PDist(p), []int{6}, pdist)
			compare(t, fmt.Sprint("dist ", p), x.Slice(0, 0, 2).Dist(y, p), []int{}, []float64{difference(x.Slice(0, 0, 2), y)})
			for i := range 2 {
				pairs = append(pairs, difference(x.Select(0, i), y.Select(0, i)))
			}
			if d == Float64 {
				compare(t, fmt.Sprint("pairwise ", p), x.Slice(0, 0, 2).PairwiseDistance(y, p, 0), []int{2}, pairs)
			}
		}
	}
	if got := Zeros(1, 3).PDist(2); got.Numel() != 0 {
		t.Errorf("distances within one row: got %v", got)
	}
}

func TestOtherProducts(t *testing.T) {
	x, y := New([]float64{1, 2, 3}), New([]float64{-2, 0, 5})
	for _, d := range dtypes {
		x, y := x.To(d), y.To(d)
		compare(t, "cross", x.Cross(y, 0), []int{3}, []float64{10, -11, 4})
		compare(t, "cosine", x.CosineSimilarity(y, 0, 1e-8), []int{}, []float64{13 / math.Sqrt(14*29)})
		compare(t, "cosine of zeros", x.CosineSimilarity(ZerosLike(y), 0, 1e-8), []int{}, []float64{0})
		compare(t, "kron", x.Kron(y.Unsqueeze(1)), []int{3, 3}, []float64{-2, -4, -6, 0, 0, 0, 5, 10, 15})
		in := made(d, []int{2, 3}, []int{2, 4}, []int{5, 3, 4}, []int{5})
		shape, want := summed("ni,nj,oij->no", in[0], in[1], in[2])
		b := in[3].Float64s()
		for i := range want {
			want[i] += b[i%5]
		}
		compare(t, "bilinear", Bilinear(in[0], in[1], in[2], in[3]), shape, want)
		m := New([]float64{1, 1, 0, 1}, 2, 2).To(d)
		for n := range 9 {
			compare(t, fmt.Sprint("power ", n), m.MatrixPower(n), []int{2, 2}, []float64{1, float64(n), 0, 1})
		}
	}
}

func TestSolutions(t *testing.T) {
	for _, d := range dtypes {
		a := New([]float64{0, 2, 1, 1, 0, -1, 3, 1, 2}, 3, 3).To(d) // its first pivot is 0
		compare(t, "det", a.Det(), []int{}, []float64{-9})
		compare(t, "solve", a.Solve(New([]float64{7, -2, 11}).To(d)), []int{3}, []float64{1, 2, 3})
		compare(t, "inverse", New([]float64{0, 4, 2, 0}, 2, 2).To(d).Inverse(), []int{2, 2}, []float64{0, 0.5, 0.25, 0})
		compare(t, "det of a singular matrix", Ones(2, 2).To(d).Det(), []int{}, []float64{0})
		compare(t, "cholesky", New([]float64{4, 9, 2, 10}, 2, 2).To(d).Cholesky(), []int{2, 2}, []float64{2, 0, 1, 3})
	}
	for want, f := range map[string]func(){
		"tensor: linalg_inv: shape (2, 3, 3): matrix 1 is singular":                               func() { Cat(0, Eye(3), Ones(3, 3)).Reshape(2, 3, 3).Inverse() },
		"tensor: linalg_inv: shape (2, 3): t is not a batch of square matrices":                   func() { Zeros(2, 3).Inverse() },
		"tensor: linalg_det: shape (3,): t is not a batch of square matrices":                     func() { Zeros(3).Det() },
		"tensor: linalg_det: dtype int64":                                                         func() { Zeros(2, 2).Long().Det() },
		"tensor: linalg_solve: shapes (2, 2) and (2, 1): matrix 0 is singular":                    func() { Ones(2, 2).Solve(Ones(2)) },
		"tensor: linalg_solve: shapes (2, 2) and (3, 2): matrix and right-hand side do not match": func() { Eye(2).Solve(Ones(3, 2)) },
		"tensor: linalg_solve: dtypes float32 and float16: operands must have one dtype":          func() { Eye(2).Solve(Ones(2).Half()) },
		"tensor: linalg_cholesky: shape (2, 2): matrix 0 is not positive definite":                func() { Ones(2, 2).Neg().Cholesky() },
	} {
		if err := Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestPNormErrors(t *testing.T) {
	x := Zeros(2, 3)
	o := PNormOptions{}
	for want, f := range map[string]func(){
		"tensor: norm: shape (2, 3): p is NaN":                                                                                                   func() { x.NormWith(math.NaN(), o) },
		"tensor: norm: shape (2, 3): dimension 2 is out of range":                                                                                func() { x.Norm(2) },
		"tensor: norm: shape (0,): dimensions (0,) are empty, where the norm of order +Inf is undefined":                                         func() { Zeros(0).NormWith(math.Inf(1), o) },
		"tensor: linalg_vector_norm: dtype float32: DType is int64; want a floating-point dtype":                                                 func() { x.VectorNorm(2, PNormOptions{DType: Int64}) },
		"tensor: linalg_matrix_norm: shape (2, 3): unknown norm \"3\"; want one of [\"fro\" \"nuc\" \"inf\" \"-inf\" \"1\" \"-1\" \"2\" \"-2\"]": func() { x.MatrixNorm("3", o) },
		"tensor: linalg_matrix_norm: shape (2, 3): dimensions (1, -1) are the same":                                                              func() { x.MatrixNorm("1", PNormOptions{Dims: []int{1, -1}}) },
		"tensor: linalg_matrix_norm: shape (2, 3): Dims is (1,)":                                                                                 func() { x.MatrixNorm("1", PNormOptions{Dims: []int{1}}) },
		"tensor: linalg_matrix_norm: shape (0, 3): the matrices are empty":                                                                       func() { Zeros(0, 3).MatrixNorm("1", o) },
		"tensor: nuclear_norm: shape (3,): Dims is (-2, -1)":                                                                                     func() { Zeros(3).NuclearNorm(o) },
		"tensor: frobenius_norm: shape (2, 3): dimension 5 is out of range":                                                                      func() { x.FrobeniusNorm(PNormOptions{Dims: []int{0, 5}}) },
		"tensor: linalg_svd: shape (3,): t is 1-D":                                                                                               func() { Zeros(3).SVD() },
		"tensor: linalg_svd: dtype int64":                                                                                                        func() { x.Long().SVD() },
		"tensor: dist: shapes (2, 3) and (2,): cannot broadcast":                                                                                 func() { x.Dist(Zeros(2), 2) },
		"tensor: cdist: shapes (2, 3) and (3, 2): the rows of t and o do not match; want (…, m, k) and (…, n, k)":                                func() { x.CDist(x.T(), 2) },
		"tensor: cdist: shapes (2, 3) and (2, 3): p is -1; want at least 0":                                                                      func() { x.CDist(x, -1) },
		"tensor: cdist: shapes (2, 1, 3) and (3, 1, 3): the leading dimensions do not broadcast":                                                 func() { Zeros(2, 1, 3).CDist(Zeros(3, 1, 3), 2) },
		"tensor: pdist: shape (3,): t is 1-D":                                                                                                    func() { Zeros(3).PDist(2) },
		"tensor: pdist: shape (2, 3): p is -2":                                                                                                   func() { x.PDist(-2) },
		"tensor: pairwise_distance: shapes (2, 3) and (2,): cannot broadcast":                                                                    func() { x.PairwiseDistance(Zeros(2), 2, 0) },
		"tensor: cosine_similarity: shape (2, 3): dimension 2 is out of range":                                                                   func() { x.CosineSimilarity(x, 2, 0) },
		"tensor: cross: shapes (2, 3) and (2, 3): dimension 0 has size 2; want 3":                                                                func() { x.Cross(x, 0) },
		"tensor: bilinear: shapes (2, 3), (2, 3) and (2, 3): inputs and weight do not match":                                                     func() { Bilinear(x, x, x, nil) },
		"tensor: bilinear: shapes (2, 3), (2, 3), (5, 3, 3) and (2,): weight and bias do not match":                                              func() { Bilinear(x, x, Zeros(5, 3, 3), Zeros(2)) },
		"tensor: linalg_matrix_power: shape (2, 3): t is not a batch of square matrices":                                                         func() { x.MatrixPower(2) },
		"tensor: linalg_matrix_power: shape (2, 2): n is -1; want at least 0":                                                                    func() { Zeros(2, 2).MatrixPower(-1) },
	} {
		if err := Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
