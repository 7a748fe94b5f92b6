package torchtest

import (
	"fmt"
	"strings"

	"halfnote/tensor"
)

var _ = family("decompositions", decompositions())

// elements returns all elements of several tensors.
func elements(list ...T) T {
	for i, x := range list {
		list[i] = x.Ravel()
	}
	return tensor.Cat(0, list...)
}

func decompositions() cases {
	rank := tensor.RankOptions{}
	turned := func(x T) T { return x.Transpose(-1, -2) }
	spectral := func(in []T) T {
		w, v := in[0].Add(turned(in[0])).Eigh()
		first := v.Slice(-1, 0, 1)
		return v.Mul(w.Unsqueeze(-2).Pow(2)).MatMul(turned(v)).Add(first.MatMul(turned(first)))
	}
	factored := func(in []T) T { lu, _ := in[0].LUFactor(); return lu }
	solved := func(in []T) T { lu, pivots := in[0].LUFactor(); return lu.LUSolve(pivots, in[1]) }
	exp := func(in []T) T { return in[0].MatrixExp() }
	all := cases{
		"linalg_eigh": spectral, "linalg_eigh batch": spectral, "linalg_eigh one": spectral,
		"linalg_eigh values":      func(in []T) T { return in[0].EigvalsH() },
		"linalg_eigh magnitudes":  func(in []T) T { _, v := in[0].Eigh(); return v.Abs() },
		"linalg_qr zeros":         func(in []T) T { q, r := in[0].QR("reduced"); return elements(q, r) },
		"linalg_qr complete wide": func(in []T) T { _, r := in[0].QR("complete"); return r },
		"pinverse singular":       func(in []T) T { return in[0].Pinv(rank) },
		"pinverse rtol":           func(in []T) T { return in[0].Pinv(tensor.RankOptions{RTol: 0.3}) },
		"pinverse atol":           func(in []T) T { return in[0].Pinv(tensor.RankOptions{ATol: 2.5}) },
		"pinverse hermitian":      func(in []T) T { return in[0].Add(turned(in[0])).Pinv(tensor.RankOptions{Hermitian: true}) },
		"linalg_lstsq vector":     func(in []T) T { x, _, _, _ := in[0].Lstsq(in[1], tensor.LstsqOptions{}); return x },
		"linalg_lstsq singular":   func(in []T) T { x, _, _, _ := in[0].Lstsq(in[1], tensor.LstsqOptions{}); return x },
		"matrix_rank singular":    func(in []T) T { return in[0].MatrixRank(rank) },
		"matrix_rank rtol":        func(in []T) T { return in[0].MatrixRank(tensor.RankOptions{RTol: 0.3}) },
		"matrix_rank atol":        func(in []T) T { return in[0].MatrixRank(tensor.RankOptions{ATol: 2.5}) },
		"matrix_rank hermitian":   func(in []T) T { return in[0].MatMul(in[0].T()).MatrixRank(tensor.RankOptions{Hermitian: true}) },
		"cond tall":               func(in []T) T { return in[0].Cond("2") },
		"cond singular":           func(in []T) T { return in[0].Cond("1") },
		"linalg_slogdet":          func(in []T) T { _, y := in[0].SlogDet(); return y },
		"linalg_slogdet sign":     func(in []T) T { y, _ := in[0].SlogDet(); return y },
		"linalg_slogdet singular": func(in []T) T { return tensor.Stack(0, listOf(in[0].SlogDet())...) },
		"linalg_lu_factor":        factored, "linalg_lu_factor batch": factored,
		"linalg_lu_factor pivots": func(in []T) T { _, p := in[0].LUFactor(); return p },
		"linalg_lu_solve":         solved, "linalg_lu_solve batch": solved,
		"linalg_matrix_exp 1": exp, "linalg_matrix_exp 2": exp, "linalg_matrix_exp 4": exp, "linalg_matrix_exp zero": exp,
		"linalg_matrix_exp large":           func(in []T) T { return in[0].MulScalar(4).MatrixExp() },
		"linalg_solve_triangular broadcast": func(in []T) T { return in[0].SolveTriangular(in[1], true, tensor.TriangularOptions{}) },
		"linalg_solve_triangular empty":     func(in []T) T { return in[0].SolveTriangular(in[1], true, tensor.TriangularOptions{}) },
		"cholesky_solve batch":              func(in []T) T { return in[0].CholeskySolve(in[1].Tril(0), false) },
	}
	for _, form := range []string{"", " tall", " wide", " batch", " one"} {
		all["linalg_qr"+form+" q"] = func(in []T) T { q, _ := in[0].QR("reduced"); return q }
		all["linalg_qr"+form+" r"] = func(in []T) T { _, r := in[0].QR("r"); return r }
		all["linalg_qr"+form+" both"] = func(in []T) T { q, r := in[0].QR("reduced"); return elements(q, r).Pow(2) }
		all["linalg_qr"+form+" complete"] = func(in []T) T { q, r := in[0].QR("complete"); return elements(q, r) }
		if form == " one" {
			break
		}
		all["pinverse"+form] = func(in []T) T { return in[0].Pinv(rank) }
		all["matrix_rank"+form] = func(in []T) T { return in[0].MatrixRank(rank) }
		for i, what := range []string{"", " residuals", " rank", " values"} {
			o := tensor.LstsqOptions{Driver: []string{"", "gelsd", "gelsy", "gelss"}[i]}
			all["linalg_lstsq"+form+what] = func(in []T) T { return listOf(in[0].Lstsq(in[1], o))[i] }
		}
	}
	for _, order := range strings.Fields("2 -2 1 -1 fro nuc inf -inf") {
		all["cond "+order] = func(in []T) T { return in[0].Cond(order) }
	}
	for _, upper := range []bool{false, true} {
		name, triangle := "lower", T.Tril
		if upper {
			name, triangle = "upper", T.Triu
		}
		for form, o := range map[string]tensor.TriangularOptions{"": {}, " unit": {Unitriangular: true}, " right": {Right: true}, " unit right": {Right: true, Unitriangular: true}} {
			all[fmt.Sprint("linalg_solve_triangular ", name, form)] = func(in []T) T { return in[0].SolveTriangular(in[1], upper, o) }
		}
		all["cholesky_solve "+name] = func(in []T) T { return in[0].CholeskySolve(triangle(in[1], 0), upper) }
		all["cholesky_inverse "+name] = func(in []T) T { return triangle(in[0], 0).CholeskyInverse(upper) }
	}
	return all
}

func listOf(list ...T) []T { return list }
