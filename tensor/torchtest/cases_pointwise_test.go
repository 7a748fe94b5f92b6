package torchtest

import (
	"fmt"
	"maps"
	"strings"

	"halfnote/tensor"
)

var _ = family("pointwise", pointwise())

func pointwise() cases {
	all := cases{
		"logit eps":              func(in []T) T { return in[0].Logit(0.3) },
		"round decimals":         func(in []T) T { return in[0].RoundTo(1) },
		"round tens":             func(in []T) T { return in[0].RoundTo(-1) },
		"clamp at the bounds":    func(in []T) T { return in[0].Clamp(-1, 2) },
		"clamp crossed":          func(in []T) T { return in[0].Clamp(2, 1) },
		"clamp tensors":          func(in []T) T { return in[0].ClampTensor(in[1], in[2]) },
		"clamp integers":         func(in []T) T { return in[0].Clamp(-1, 2) },
		"nan_to_num numbers":     func(in []T) T { return in[0].NanToNumWith(1, 2, 3) },
		"hardtanh at the bounds": func(in []T) T { return in[0].Hardtanh(-1, 1) },
		"elu at 0":               func(in []T) T { return in[0].ELU(1) },
		"glu":                    func(in []T) T { return in[0].GLU(0) },
		"glu last":               func(in []T) T { return in[0].GLU(-1) },
		"softmin":                func(in []T) T { return in[0].Softmin(1) },

		"pow edges":           func(in []T) T { return in[0].PowTensor(in[1]) },
		"pow of zeros":        func(in []T) T { return in[0].PowTensor(in[1]) },
		"pow integers":        func(in []T) T { return in[0].PowTensor(in[1]) },
		"pow integer number":  func(in []T) T { return in[0].Pow(3) },
		"rdiv":                func(in []T) T { return in[0].RDivScalar(3.1) },
		"add alpha":           func(in []T) T { return in[0].AddScaled(in[1], 0.3) },
		"sub alpha":           func(in []T) T { return in[0].SubScaled(in[1], 0.3) },
		"addcmul":             func(in []T) T { return in[0].Addcmul(in[1], in[2], 0.7) },
		"addcdiv":             func(in []T) T { return in[0].Addcdiv(in[1], in[2], 0.7) },
		"addcmul promotion":   func(in []T) T { return in[0].Addcmul(in[1], in[2], 1) },
		"lerp tensor":         func(in []T) T { return in[0].LerpTensor(in[1], in[2]) },
		"where bool":          func(in []T) T { return in[0].Where(in[1], in[2]) },
		"isclose":             func(in []T) T { return in[0].IsClose(in[1], 0.1, 0.01) },
		"logical_not":         func(in []T) T { return in[0].Not() },
		"bitwise_left_shift":  func(in []T) T { return in[0].LeftShift(in[1]) },
		"bitwise_right_shift": func(in []T) T { return in[0].RightShift(in[1]) },
	}
	for op, f := range map[string]func(x T) T{
		"logit":     func(x T) T { return x.Logit(0) },
		"clamp":     func(x T) T { return x.Clamp(-0.5, 0.7) },
		"clamp min": func(x T) T { return x.ClampMin(-0.3) },
		"clamp max": func(x T) T { return x.ClampMax(0.3) },
		"elu":       func(x T) T { return x.ELU(0.7) },
		"celu":      func(x T) T { return x.CELU(1.3) },
		"gelu tanh": T.GELUTanh, "gelu precise": T.GELU,
		"softplus beta":    func(x T) T { return x.SoftplusWith(3, 2) },
		"leaky_relu":       func(x T) T { return x.LeakyReLU(0.01) },
		"leaky_relu slope": func(x T) T { return x.LeakyReLU(0.3) },
		"hardtanh":         func(x T) T { return x.Hardtanh(-1, 1) },
		"hardshrink":       func(x T) T { return x.Hardshrink(0.5) },
		"softshrink":       func(x T) T { return x.Softshrink(0.5) },
		"threshold":        func(x T) T { return x.Threshold(0.1, 20) },
		"pow of a number":  func(x T) T { return x.RPow(1.7) },
		"div number":       func(x T) T { return x.DivScalar(3) },
		"rsub":             func(x T) T { return x.RSubScalar(3.1) },
	} {
		c := single(op, f)
		delete(c, op+" one")
		if strings.HasPrefix(op, "gelu") {
			delete(c, op+" edges")
		}
		maps.Copy(all, c)
	}
	for op, f := range map[string]func(x, y T) T{
		"trunc_divide": T.DivTrunc, "pow tensors": T.PowTensor,
		"lerp number": func(x, y T) T {
			d := tensor.PromoteTypes(x.DType(), y.DType())
			return x.To(d).Lerp(y.To(d), 0.3)
		},
	} {
		c := pairs(op, f)
		for _, name := range []string{" broadcast to a scalar", " one", " promotion with a scalar", " edges"} {
			delete(c, op+name)
		}
		maps.Copy(all, c)
	}
	all["trunc_divide integers"] = all["trunc_divide"]
	for op, f := range map[string]func(x T, c float64) T{
		"eq": T.EqScalar, "ne": T.NeScalar, "lt": T.LtScalar, "le": T.LeScalar, "gt": T.GtScalar, "ge": T.GeScalar,
	} {
		all[op+" number"] = func(in []T) T { return f(in[0], 0.5) }
	}
	for op, f := range map[string]func(x, y T) T{"logical_and": T.And, "logical_or": T.Or, "logical_xor": T.Xor} {
		all[op] = func(in []T) T { return f(in[0], in[1]) }
	}
	for op, f := range map[string]func(x T, dim int) T{
		"cumsum": T.Cumsum, "cumprod": T.Cumprod, "logcumsumexp": T.LogCumsumExp,
		"cummax": func(x T, dim int) T { v, _ := x.Cummax(dim); return v },
		"cummin": func(x T, dim int) T { v, _ := x.Cummin(dim); return v },
	} {
		for name, dim := range map[string]int{"": 1, " first": 0, " middle": -2, " scalar": 0, " empty": 1, " long": 0} {
			all[op+name] = func(in []T) T { return f(in[0], dim) }
		}
		all[op+" view"] = func(in []T) T { return f(in[0].T().Slice(0, 1, 4), 1) }
	}
	for op, f := range map[string]func(x T, dims ...int) T{"prod": T.Prod, "var": T.Var, "std": T.Std, "logsumexp": T.LogSumExp} {
		c := reduction(op, f)
		for _, name := range []string{" last", " scalar", " one"} {
			delete(c, op+name)
		}
		maps.Copy(all, c)
	}
	maps.Copy(all, cases{
		"cummax indices":           func(in []T) T { _, i := in[0].Cummax(0); return i },
		"cummin indices":           func(in []T) T { _, i := in[0].Cummin(0); return i },
		"cumprod with a zero":      func(in []T) T { return in[0].Cumprod(1) },
		"cumsum integers":          func(in []T) T { return in[0].Cumsum(1) },
		"cumsum bools":             func(in []T) T { return in[0].Cumsum(1) },
		"cumprod integers":         func(in []T) T { return in[0].Cumprod(1) },
		"logcumsumexp infinite":    func(in []T) T { return in[0].LogCumsumExp(0) },
		"diff":                     func(in []T) T { return in[0].Diff(1, 1) },
		"diff twice":               func(in []T) T { return in[0].Diff(2, 0) },
		"trapezoid":                func(in []T) T { return in[0].Trapezoid(0.3, 1) },
		"prod with zeros":          func(in []T) T { return in[0].Prod(1) },
		"prod keep":                func(in []T) T { return in[0].KeepDim().Prod(1) },
		"prod empty":               func(in []T) T { return in[0].Prod() },
		"prod scalar":              func(in []T) T { return in[0].Prod() },
		"prod integers":            func(in []T) T { return in[0].Prod(1) },
		"var of one":               func(in []T) T { return in[0].Var() },
		"var correction":           func(in []T) T { return in[0].KeepDim().VarWith(0, 1) },
		"var correction too large": func(in []T) T { return in[0].VarWith(5, 1) },
		"std correction":           func(in []T) T { return in[0].StdWith(2, 1) },
		"std of equals":            func(in []T) T { return in[0].Std(1) },
		"logsumexp large":          func(in []T) T { return in[0].LogSumExp(1) },
		"logsumexp infinite":       func(in []T) T { return in[0].LogSumExp(1) },
		"logsumexp keep":           func(in []T) T { return in[0].KeepDim().LogSumExp(1) },
		"max along":                func(in []T) T { v, _ := in[0].Max(1); return v },
		"min along":                func(in []T) T { v, _ := in[0].Min(0); return v },
		"max indices":              func(in []T) T { _, i := in[0].Max(1); return i },
		"min indices":              func(in []T) T { _, i := in[0].Min(1); return i },
		"max ties along":           func(in []T) T { v, _ := in[0].Max(1); return v },
		"nansum":                   func(in []T) T { return in[0].NanSum(1) },
		"nanmean":                  func(in []T) T { return in[0].NanMean(1) },
		"bincount":                 func(in []T) T { return in[0].Bincount(12) },
		"histc":                    func(in []T) T { return in[0].Histc(5, -1, 1) },
		"histc of the range":       func(in []T) T { return in[0].Histc(4, 0, 0) },
	})
	for _, q := range []float64{0, 0.3, 0.5, 1} {
		all[fmt.Sprint("quantile ", q)] = func(in []T) T { return in[0].Quantile(q, 1) }
	}
	all["quantile first"] = func(in []T) T { return in[0].Quantile(0.25, 0) }
	for op, f := range map[string]func(x T, dims ...int) T{"all": T.All, "any": T.Any, "count_nonzero": T.CountNonzero} {
		all[op] = func(in []T) T { return f(in[0]) }
		all[op+" first"] = func(in []T) T { return f(in[0], 0) }
		all[op+" empty"] = all[op]
	}
	return all
}
