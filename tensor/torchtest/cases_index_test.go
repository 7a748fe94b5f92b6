package torchtest

import (
	"fmt"
	"maps"
	"math"

	"halfnote/tensor"
)

var _ = family("index", index())

func index() cases {
	all := cases{}
	for _, part := range []cases{putIn(), chosen(), extremes(), joined(), shaped(), masked(), sorted(), turned(), lookedUp()} {
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
	keep := map[string]func(k tensor.KeepDim, dims ...int) T{"argmax": tensor.KeepDim.Argmax, "argmin": tensor.KeepDim.Argmin}
	for op, f := range map[string]func(x T, dims ...int) T{"argmax": T.Argmax, "argmin": T.Argmin} {
		c[op] = func(in []T) T { return f(in[0]) }
		c[op+" scalar"] = c[op]
		c[op+" first"] = func(in []T) T { return f(in[0], 0) }
		c[op+" last"] = func(in []T) T { return f(in[0], -1) }
		c[op+" keep"] = func(in []T) T { return keep[op](in[0].KeepDim(), 1) }
		c[op+" ties"] = func(in []T) T { return f(in[0], 1) }
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

func masked() cases {
	fill := func(value float64) func(in []T) T {
		return func(in []T) T { return in[0].MaskedFill(in[1], value) }
	}
	pick := func(in []T) T { return in[0].MaskedSelect(in[1]) }
	where := func(in []T) T { return in[0].Argwhere() }
	return cases{
		"masked_fill":             fill(-1.5),
		"masked_fill broadcast":   fill(math.Inf(-1)),
		"masked_select":           pick,
		"masked_select broadcast": pick,
		"masked_scatter":          func(in []T) T { return in[0].MaskedScatter(in[1], in[2]) },
		"nonzero":                 func(in []T) T { return tensor.Stack(0, in[0].Nonzero()...) },
		"argwhere":                where,
		"argwhere scalar":         where,
	}
}

func sorted() cases {
	first := func(f func(x T) (a, b T)) func(in []T) T {
		return func(in []T) T { a, _ := f(in[0]); return a }
	}
	second := func(f func(x T) (a, b T)) func(in []T) T {
		return func(in []T) T { _, b := f(in[0]); return b }
	}
	c := cases{
		"topk":                     first(func(x T) (a, b T) { return x.TopK(3, 1) }),
		"topk positions":           second(func(x T) (a, b T) { return x.TopK(3, 0) }),
		"topk smallest":            first(func(x T) (a, b T) { return x.TopKSmallest(2, -1) }),
		"topk special":             first(func(x T) (a, b T) { return x.TopK(3, 1) }),
		"kthvalue":                 first(func(x T) (a, b T) { return x.KthValue(2, 1) }),
		"kthvalue positions":       second(func(x T) (a, b T) { return x.KthValue(4, 0) }),
		"median":                   first(func(x T) (a, b T) { return x.Median(1) }),
		"median positions":         second(func(x T) (a, b T) { return x.Median(0) }),
		"median special":           first(func(x T) (a, b T) { return x.Median(1) }),
		"median special positions": func(in []T) T { _, i := in[0].Median(1); return i.Slice(0, 1, 2) },
		"mode":                     first(func(x T) (a, b T) { return x.Mode(1) }),
		"mode positions":           second(func(x T) (a, b T) { return x.Mode(0) }),
		"unique":                   func(in []T) T { v, _, _ := in[0].Unique(); return v },
		"unique inverse":           func(in []T) T { _, i, _ := in[0].Unique(); return i },
		"unique counts":            func(in []T) T { _, _, n := in[0].Unique(); return n },
	}
	for name, f := range map[string][2]func(T, int) (T, T){"sort": {T.Sort}, "sort descending": {T.SortDescending}} {
		c[name] = first(func(x T) (a, b T) { return f[0](x, 1) })
		c[name+" first"] = first(func(x T) (a, b T) { return f[0](x, 0) })
		c[name+" scalar"] = first(func(x T) (a, b T) { return f[0](x, 0) })
	}
	for name, f := range map[string]func(T, int) T{"argsort": T.Argsort, "argsort descending": T.ArgsortDescending} {
		c[name+" ties"] = func(in []T) T { return f(in[0], 1) }
		c[name+" integers"] = func(in []T) T { return f(in[0], 0) }
	}
	for name, right := range map[string]bool{"": false, " right": true} {
		c["searchsorted"+name] = func(in []T) T { return in[0].Searchsorted(in[1], right) }
		c["searchsorted rows"+name] = func(in []T) T {
			s, _ := in[0].Sort(1)
			return s.Searchsorted(in[1], right)
		}
		c["bucketize"+name] = func(in []T) T { return in[0].Bucketize(in[1], right) }
	}
	return c
}

func turned() cases {
	c := cases{
		"roll":             func(in []T) T { return in[0].Roll(2, 1) },
		"roll back":        func(in []T) T { return in[0].Roll(-7, 0) },
		"flip":             func(in []T) T { return in[0].Flip(0) },
		"flip all":         func(in []T) T { return in[0].Flip() },
		"diag of a vector": func(in []T) T { return in[0].Diag(1) },
		"as_strided":       func(in []T) T { return in[0].Contiguous().AsStrided([]int{2, 3, 2}, []int{1, 2, 3}, 1) },
	}
	for k := -2; k < 4; k++ {
		c[fmt.Sprint("rot90 ", k)] = func(in []T) T { return in[0].Rot90(k, 0, 1) }
		c[fmt.Sprint("tril ", k)] = func(in []T) T { return in[0].Tril(k) }
		c[fmt.Sprint("triu ", k)] = func(in []T) T { return in[0].Triu(k) }
		c[fmt.Sprint("diag_embed ", k)] = func(in []T) T { return in[0].DiagEmbed(k) }
		c[fmt.Sprint("diag ", k)] = func(in []T) T { return in[0].Diag(k) }
	}
	delete(c, "rot90 -2")
	for _, k := range []int{-1, 2, 3} {
		for _, op := range []string{"tril ", "triu ", "diag_embed ", "diag "} {
			delete(c, fmt.Sprint(op, k))
		}
	}
	return c
}

func lookedUp() cases {
	look := func(o tensor.EmbeddingOptions) func(in []T) T {
		return func(in []T) T { return tensor.Embedding(in[0], in[1], o) }
	}
	c := cases{
		"embedding":                      look(tensor.EmbeddingOptions{}),
		"embedding padding":              look(tensor.EmbeddingOptions{Padded: true}),
		"embedding padding from the end": look(tensor.EmbeddingOptions{Padded: true, PaddingIdx: -1}),
		"embedding one":                  look(tensor.EmbeddingOptions{}),
		"embedding max norm":             look(tensor.EmbeddingOptions{MaxNorm: 1}),
		"embedding max norm 1":           look(tensor.EmbeddingOptions{MaxNorm: 0.7, NormType: 1}),
		"one_hot":                        func(in []T) T { return in[0].OneHot(-1) },
		"one_hot classes":                func(in []T) T { return in[0].OneHot(7) },
		"embedding_bag weights": func(in []T) T {
			return tensor.EmbeddingBag(in[0], in[1], tensor.EmbeddingBagOptions{Mode: "sum", Weights: in[2]})
		},
	}
	for _, mode := range []string{"sum", "mean", "max"} {
		o := tensor.EmbeddingBagOptions{Mode: mode}
		c["embedding_bag "+mode] = func(in []T) T { return tensor.EmbeddingBag(in[0], in[1], o) }
		c["embedding_bag "+mode+" offsets"] = func(in []T) T {
			o := o
			o.Offsets = in[2]
			return tensor.EmbeddingBag(in[0], in[1], o)
		}
		c["embedding_bag "+mode+" padding"] = func(in []T) T {
			o := o
			o.Offsets, o.Padded, o.PaddingIdx = in[2], true, 1
			return tensor.EmbeddingBag(in[0], in[1], o)
		}
	}
	return c
}
