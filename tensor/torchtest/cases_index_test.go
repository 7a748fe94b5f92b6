package torchtest

import (
	"maps"

	"halfnote/tensor"
)

var _ = family("index", index())

func index() cases {
	all := cases{}
	for _, part := range []cases{putIn(), chosen(), extremes(), joined(), shaped()} {
		maps.Copy(all, part)
	}
	return all
}

func putIn() cases {
	c := cases{
		"gather":             func(in []T) T { return in[0].Gather(0, in[1]) },
		"gather last":        func(in []T) T { return in[0].Gather(-1, in[1]) },
		"gather smaller":     func(in []T) T { return in[0].Gather(1, in[1]) },
		"gather empty":       func(in []T) T { return in[0].Gather(0, in[1]) },
		"gather of a scalar": func(in []T) T { return in[0].Gather(0, in[1]) },
		"take_along_dim":     func(in []T) T { return in[0].TakeAlongDim(in[1], 1) },
		"take":               func(in []T) T { return in[0].Take(in[1].AddScalar(-6)) },
		"scatter":            func(in []T) T { return in[0].Scatter(0, in[1], in[2]) },
		"scatter larger":     func(in []T) T { return in[0].Scatter(1, in[1], in[2]) },
		"scatter a number":   func(in []T) T { return in[0].ScatterValue(1, in[1], 2.5) },
		"scatter_add":        func(in []T) T { return in[0].ScatterAdd(0, in[1], in[2]) },
		"scatter_add last":   func(in []T) T { return in[0].ScatterAdd(1, in[1], in[2]) },
		"scatter_add vector": func(in []T) T { return in[0].ScatterAdd(0, in[1], in[2]) },
		"scatter_add empty":  func(in []T) T { return in[0].ScatterAdd(0, in[1], in[2]) },
	}
	reduce := func(how string, o tensor.ScatterReduceOptions) func(in []T) T {
		return func(in []T) T { return in[0].ScatterReduce(0, in[1], in[2], how, o) }
	}
	for _, how := range []string{"sum", "mean", "prod", "amax", "amin"} {
		c["scatter_reduce "+how] = reduce(how, tensor.ScatterReduceOptions{})
		c["scatter_reduce "+how+" without itself"] = reduce(how, tensor.ScatterReduceOptions{ExcludeSelf: true})
	}
	c["scatter_reduce prod of zeros"] = c["scatter_reduce prod"]
	c["scatter_reduce amax of ties"] = c["scatter_reduce amax"]
	c["scatter_reduce mean of integers"] = c["scatter_reduce mean"]
	return c
}

func chosen() cases {
	rows := func(in []T) T { return in[0].IndexSelect(0, in[1]) }
	return cases{
		"index_select":       func(in []T) T { return in[0].IndexSelect(1, in[1]) },
		"index_select first": rows,
		"index_select empty": rows,
		"index_select one":   rows,
		"index_add":          func(in []T) T { return in[0].IndexAdd(0, in[1], in[2], 1) },
		"index_add alpha":    func(in []T) T { return in[0].IndexAdd(1, in[1], in[2], -0.7) },
		"index_copy":         func(in []T) T { return in[0].IndexCopy(1, in[1], in[2]) },
		"index_fill":         func(in []T) T { return in[0].IndexFill(0, in[1], -1.5) },
	}
}

func extremes() cases {
	c := cases{}
	for op, f := range map[string][2]func(x T, dims ...int) T{"argmax": {T.Argmax, T.ArgmaxKeep}, "argmin": {T.Argmin, T.ArgminKeep}} {
		c[op] = func(in []T) T { return f[0](in[0]) }
		c[op+" scalar"] = c[op]
		c[op+" first"] = func(in []T) T { return f[0](in[0], 0) }
		c[op+" last"] = func(in []T) T { return f[0](in[0], -1) }
		c[op+" keep"] = func(in []T) T { return f[1](in[0], 1) }
		c[op+" ties"] = func(in []T) T { return f[0](in[0], 1) }
	}
	return c
}

func joined() cases {
	rows := func(in []T) T { return tensor.Cat(0, in...) }
	return cases{
		"cat":                      func(in []T) T { return tensor.Cat(1, in...) },
		"cat three":                rows,
		"cat with an empty vector": func(in []T) T { return tensor.Cat(0, in[1], in[0]) },
		"cat promotion":            func(in []T) T { return tensor.Cat(0, in...) },
		"stack":                    func(in []T) T { return tensor.Stack(1, in...) },
		"stack last":               func(in []T) T { return tensor.Stack(-1, in...) },
		"stack scalars":            func(in []T) T { return tensor.Stack(0, in...) },
		"hstack":                   func(in []T) T { return tensor.HStack(in...) },
		"hstack vectors":           func(in []T) T { return tensor.HStack(in...) },
		"vstack":                   func(in []T) T { return tensor.VStack(in...) },
		"dstack":                   func(in []T) T { return tensor.DStack(in...) },
		"split":                    func(in []T) T { return in[0].Split(3, 1)[2] },
		"split sizes": func(in []T) T {
			s := in[0].SplitSizes([]int{1, 0, 3}, 0)
			return s[2].Mul(s[0])
		},
		"chunk":        func(in []T) T { return in[0].Chunk(4, 1)[2] },
		"tensor_split": func(in []T) T { return in[0].TensorSplit(4, 1)[1] },
		"unbind": func(in []T) T {
			s := in[0].Unbind(1)
			return s[0].Mul(s[2])
		},
	}
}

func shaped() cases {
	return cases{
		"slice step":             func(in []T) T { return in[0].SliceStep(1, 1, 6, 2) },
		"narrow":                 func(in []T) T { return in[0].Narrow(1, -3, 2) },
		"flatten":                func(in []T) T { return in[0].Flatten(1, 2) },
		"unflatten":              func(in []T) T { return in[0].Unflatten(1, 2, -1) },
		"movedim":                func(in []T) T { return in[0].Movedim(0, 2) },
		"repeat":                 func(in []T) T { return in[0].Repeat(2, 1, 3) },
		"tile":                   func(in []T) T { return in[0].Tile(2) },
		"repeat_interleave":      func(in []T) T { return in[0].RepeatInterleave(3, 1) },
		"repeat_interleave each": func(in []T) T { return in[0].RepeatInterleaveEach(in[1], 0) },
		"meshgrid": func(in []T) T {
			g := tensor.Meshgrid(in...)
			return g[0].Mul(g[1])
		},
		"cartesian_prod": func(in []T) T { return tensor.CartesianProd(in...) },
		"squeeze":        func(in []T) T { return in[0].Squeeze() },
	}
}
