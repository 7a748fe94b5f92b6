package torchtest

import (
	"fmt"
	"math"
	"strings"

	"halfnote/tensor"
)

var _ = family("norms", norms())

func norms() cases {
	inf := math.Inf(1)
	polar := func(in []T) T {
		u, s, vh := in[0].SVD()
		return u.Mul(s.Unsqueeze(-2).Pow(2)).MatMul(vh).Add(u.MatMul(vh))
	}
	cosine := func(in []T) T { return in[0].CosineSimilarity(in[1], 1, 1e-8) }
	bilinear := func(in []T) T { return tensor.Bilinear(append(in, nil)[0], in[1], in[2], append(in, nil)[3]) }
	kron := func(in []T) T { return in[0].Kron(in[1]) }
	all := cases{
		"norm ties":              func(in []T) T { return in[0].NormWith(inf, tensor.PNormOptions{}) },
		"norm keep":              func(in []T) T { return in[0].KeepDim().NormWith(3, tensor.PNormOptions{Dims: []int{1}}) },
		"norm of zeros 3":        func(in []T) T { return in[0].NormWith(3, tensor.PNormOptions{}) },
		"norm empty 1":           func(in []T) T { return in[0].NormWith(1, tensor.PNormOptions{}) },
		"norm one":               func(in []T) T { return in[0].NormWith(3, tensor.PNormOptions{}) },
		"norm as float32":        func(in []T) T { return in[0].VectorNorm(2, tensor.PNormOptions{DType: tensor.Float32}) },
		"frobenius_norm":         func(in []T) T { return in[0].FrobeniusNorm(tensor.PNormOptions{}) },
		"nuclear_norm":           func(in []T) T { return in[0].NuclearNorm(tensor.PNormOptions{}) },
		"linalg_svd":             polar,
		"linalg_svd batch":       polar,
		"linalg_svd values":      func(in []T) T { return in[0].SVDVals() },
		"linalg_svd wide values": func(in []T) T { return in[0].SVDVals() },
		"linalg_matrix_norm first": func(in []T) T {
			return in[0].KeepDim().MatrixNorm("1", tensor.PNormOptions{Dims: []int{0, 2}})
		},
		"cdist batch":             func(in []T) T { return in[0].CDist(in[1], 2) },
		"cdist by products":       func(in []T) T { return in[0].CDist(in[1], 2) },
		"cdist empty":             func(in []T) T { return in[0].CDist(in[1], 2) },
		"pairwise_distance":       func(in []T) T { return in[0].PairwiseDistance(in[1], 2, 1e-6) },
		"pairwise_distance 1":     func(in []T) T { return in[0].PairwiseDistance(in[1], 1, 0.01) },
		"cosine_similarity":       cosine,
		"cosine_similarity first": func(in []T) T { return in[0].CosineSimilarity(in[1], 0, 1e-8) },
		"cosine_similarity small": func(in []T) T { return in[0].CosineSimilarity(in[1], 0, 2) },
		"cross":                   func(in []T) T { return in[0].Cross(in[1], -1) },
		"cross first":             func(in []T) T { return in[0].Cross(in[1], 0) },
		"bilinear":                bilinear,
		"bilinear, no bias":       bilinear,
		"kron":                    kron,
		"kron ranks":              kron,
	}
	for _, form := range []string{"", " batch", " empty"} {
		all["linalg_inv"+form] = func(in []T) T { return in[0].Inverse() }
	}
	for _, form := range []string{"", " broadcast", " vector"} {
		all["linalg_solve"+form] = func(in []T) T { return in[0].Solve(in[1]) }
	}
	all["linalg_det"] = func(in []T) T { return in[0].Det() }
	all["linalg_det one"] = all["linalg_det"]
	all["linalg_cholesky"] = func(in []T) T {
		return in[0].MatMul(in[0].Transpose(-1, -2)).Add(tensor.Eye(3).To(in[0].DType())).Cholesky()
	}
	for name, p := range map[string]float64{"0": 0, "0.5": 0.5, "1": 1, "1.5": 1.5, "2": 2, "3": 3, "-1": -1, "inf": inf, "-inf": -inf} {
		all["norm "+name] = func(in []T) T { return in[0].NormWith(p, tensor.PNormOptions{}) }
		all["linalg_vector_norm "+name] = func(in []T) T { return in[0].VectorNorm(p, tensor.PNormOptions{Dims: []int{0, 2}}) }
	}
	for _, order := range strings.Fields("fro nuc 2 -2 1 -1 inf -inf") {
		all["linalg_matrix_norm "+order] = func(in []T) T { return in[0].MatrixNorm(order, tensor.PNormOptions{}) }
	}
	for name, p := range map[string]float64{"0": 0, "1": 1, "2": 2, "3": 3, "inf": inf} {
		all["dist "+name] = func(in []T) T { return in[0].Dist(in[1], p) }
		all["cdist "+name] = func(in []T) T { return in[0].CDist(in[1], p) }
		all["cdist itself "+name] = all["cdist "+name]
		all["pdist "+name] = func(in []T) T { return in[0].PDist(p) }
	}
	for _, n := range []int{0, 1, 2, 3, 5} {
		all[fmt.Sprint("linalg_matrix_power ", n)] = func(in []T) T { return in[0].MatrixPower(n) }
	}
	return all
}
