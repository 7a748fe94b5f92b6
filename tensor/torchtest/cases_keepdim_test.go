package torchtest

import "halfnote/tensor"

var _ = family("keepdim", keepDim())

// kept returns a case of a reduction that keeps dimensions.
func kept(f func(k tensor.KeepDim) T) func([]T) T {
	return func(in []T) T { return f(in[0].KeepDim()) }
}

func keepDim() cases {
	type K = tensor.KeepDim
	c := cases{
		"prod middle":            kept(func(k K) T { return k.Prod(1) }),
		"quantile":               kept(func(k K) T { return k.Quantile(.3, 1) }),
		"var correction":         kept(func(k K) T { return k.VarWith(0, 1) }),
		"std correction":         kept(func(k K) T { return k.StdWith(0, 1) }),
		"aminmax least":          kept(func(k K) T { y, _ := k.Aminmax(1); return y }),
		"aminmax largest":        kept(func(k K) T { _, y := k.Aminmax(1); return y }),
		"var_mean variance":      kept(func(k K) T { y, _ := k.VarMean(1); return y }),
		"var_mean mean":          kept(func(k K) T { _, y := k.VarMean(1); return y }),
		"std_mean deviation":     kept(func(k K) T { y, _ := k.StdMean(1); return y }),
		"std_mean mean":          kept(func(k K) T { _, y := k.StdMean(1); return y }),
		"linalg_matrix_norm fro": kept(func(k K) T { return k.MatrixNorm("fro", tensor.PNormOptions{Dims: []int{0, 1}}) }),
		"linalg_matrix_norm nuc": kept(func(k K) T { return k.MatrixNorm("nuc", tensor.PNormOptions{Dims: []int{0, 1}}) }),
		"linalg_matrix_norm 1":   kept(func(k K) T { return k.MatrixNorm("1", tensor.PNormOptions{Dims: []int{0, 2}}) }),
		"frobenius_norm":         kept(func(k K) T { return k.FrobeniusNorm(tensor.PNormOptions{}) }),
		"nuclear_norm":           kept(func(k K) T { return k.NuclearNorm(tensor.PNormOptions{}) }),
		"pairwise_distance":      func(in []T) T { return in[0].KeepDim().PairwiseDistance(in[1], 3, 1e-6) },
		"max of a scalar":        kept(func(k K) T { y, _ := k.Max(0); return y }),
		"median of a scalar":     kept(func(k K) T { y, _ := k.Median(0); return y }),
	}
	vectorNorm := func(k K, dims ...int) T { return k.VectorNorm(3, tensor.PNormOptions{Dims: dims}) }
	for name, f := range map[string]func(k K, dims ...int) T{
		"sum": K.Sum, "mean": K.Mean, "amax": K.Amax, "amin": K.Amin, "var": K.Var, "std": K.Std, "logsumexp": K.LogSumExp, "norm": K.Norm,
		"linalg_vector_norm": vectorNorm, "nansum": K.NanSum, "nanmean": K.NanMean, "all": K.All, "any": K.Any, "argmax": K.Argmax, "argmin": K.Argmin,
	} {
		where := map[string][]int{"first": {0}, "two": {2, 0}, "all": nil}
		switch name {
		case "nansum", "nanmean":
			delete(where, "two")
		case "all", "any":
			where = map[string][]int{"last": {-1}, "two": {0, 1}, "of uint8": {1}}
		case "argmax", "argmin":
			where = map[string][]int{"last": {-1}}
		}
		for suffix, dims := range where {
			c[name+" "+suffix] = kept(func(k K) T { return f(k, dims...) })
		}
	}
	for name, f := range map[string]func(k K, dim int) (values, indices T){
		"max": K.Max, "min": K.Min, "median": K.Median, "mode": K.Mode, "kthvalue": func(k K, dim int) (a, b T) { return k.KthValue(2, dim) },
	} {
		c[name+" values"] = kept(func(k K) T { y, _ := f(k, 1); return y })
		c[name+" indices"] = kept(func(k K) T { _, at := f(k, 1); return at })
	}
	return c
}
