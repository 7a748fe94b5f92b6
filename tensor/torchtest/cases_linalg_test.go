package torchtest

import (
	"strings"

	"halfnote/tensor"
)

var _ = family("linalg", linalg())

func linalg() cases {
	all := cases{
		"linalg_vecdot":           func(in []T) T { return in[0].VecDot(in[1], -1) },
		"linalg_vecdot first":     func(in []T) T { return in[0].VecDot(in[1], 0) },
		"linalg_vecdot broadcast": func(in []T) T { return in[0].VecDot(in[1], -1) },

		"chain_matmul":             func(in []T) T { return tensor.ChainMatMul(in...) },
		"linalg_multi_dot":         func(in []T) T { return tensor.MultiDot(in...) },
		"linalg_multi_dot vectors": func(in []T) T { return tensor.MultiDot(in...) },
		"tensordot":                func(in []T) T { return in[0].TensorDot(in[1], []int{0, 2}, []int{1, 0}) },
		"tensordot last and first": func(in []T) T { return in[0].TensorDot(in[1], []int{1, 2}, []int{0, 1}) },
		"tensordot outer":          func(in []T) T { return in[0].TensorDot(in[1], nil, nil) },

		"diagonal":       func(in []T) T { return in[0].Diagonal(1, 0, 2).Pow(2) },
		"diagonal below": func(in []T) T { return in[0].Diagonal(-1, 0, 1).Pow(2) },
	}
	for op, f := range map[string]func(c, x, y T, o tensor.AddMMOptions) T{
		"addmm": T.AddMM, "addmv": T.AddMV, "addr": T.AddR, "addbmm": T.AddBMM, "baddbmm": T.BAddBMM,
	} {
		for form, o := range map[string]tensor.AddMMOptions{
			"": {}, " alpha": {Alpha: 0.5}, " beta": {Beta: -1.5}, " both": {Beta: 0.3, Alpha: 1.7}, " broadcast": {},
		} {
			if op != "addr" || form != " broadcast" {
				all[op+form] = func(in []T) T { return f(in[0], in[1], in[2], o) }
			}
		}
	}
	for _, name := range []string{
		"ij,jk->ik 3x5", "ij,jk 3x5", "ba,ca 3x5", "bX,cX-> 3x5", "i,i 4", "i,j->ji 4", "ii 4x4", "ii->i 4x4", "iji->ji 2x3x2", "ij->j 2x3", "ij->ji 2x3",
		"ii,ij,j->i 3x3", "bij,bjk->bik 2x3x4", "ij,ij->ij 3x4", "...ij,...jk 2x1x3x4", "i...j,j...->...i 3x2x5x4", "...,...->... 2x3",
		"...i->i 2x3x4", "a,b,c->abc 2", "ab,bc,cd,de->ae 2x3", "bn,anm,bm->ba 2x3", "bhld,bhsd->bhls 2x2x3x4", "ij,jk->ik 3x0", ",i->i ", "b i, b j -> b i j 2x3",
	} {
		equation := name[:strings.LastIndex(name, " ")]
		all["einsum "+name] = func(in []T) T { return tensor.Einsum(equation, in...) }
	}
	return all
}
