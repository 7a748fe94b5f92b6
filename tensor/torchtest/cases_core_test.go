package torchtest

import (
	"fmt"
	"maps"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var _ = family("core", core())

func core() cases {
	all := cases{
		"where":           func(in []T) T { return in[0].Step().Where(in[1], in[2]) },
		"where broadcast": func(in []T) T { return in[0].Step().Where(in[1], in[2]) },
		"to float64":      func(in []T) T { return in[0].Double() },
		"to float32":      func(in []T) T { return in[0].Float() },
		"to float16":      func(in []T) T { return in[0].Half() },
		"to bfloat16":     func(in []T) T { return in[0].BFloat16() },

		"sum empty":      func(in []T) T { return in[0].Sum() },
		"sum empty rows": func(in []T) T { return in[0].Sum(0) },
		"mean empty":     func(in []T) T { return in[0].Mean() },
		"norm empty":     func(in []T) T { return in[0].Norm() },
		"sum keep":       func(in []T) T { return in[0].KeepDim().Sum(1) },
		"mean keep":      func(in []T) T { return in[0].KeepDim().Mean(0) },
		"sum as float32": func(in []T) T { return in[0].SumAs(tensor.Float32) },
		"amax ties":      func(in []T) T { return in[0].Amax(1) },
		"amin ties":      func(in []T) T { return in[0].Amin() },
		"norm of zeros":  func(in []T) T { return in[0].Norm() },

		"softmax as float32":     func(in []T) T { return in[0].SoftmaxAs(tensor.Float32, 1) },
		"log_softmax as float32": func(in []T) T { return in[0].LogSoftmaxAs(tensor.Float32, 1) },

		"mse_loss":           mseLoss,
		"mse_loss one":       mseLoss,
		"mse_loss scalar":    mseLoss,
		"mse_loss promotion": mseLoss,
		"l1_loss":            l1Loss,
		"l1_loss promotion":  l1Loss,

		"matmul views":    func(in []T) T { return in[0].T().MatMul(in[1].Slice(1, 1, 3)) },
		"linear":          linear,
		"linear 3-D":      linear,
		"linear vector":   linear,
		"linear empty":    linear,
		"linear one":      linear,
		"linear, no bias": func(in []T) T { return tensor.Linear(in[0], in[1], nil) },

		"reshape":                func(in []T) T { return in[0].Reshape(2, -1).Pow(2) },
		"reshape of a transpose": func(in []T) T { return in[0].T().Reshape(6).Pow(2) },
		"permute":                func(in []T) T { return in[0].Permute(2, 0, 1).Pow(2) },
		"expand":                 func(in []T) T { return in[0].Expand(2, 3, 4).Pow(2) },
		"slice":                  func(in []T) T { return in[0].Slice(1, 1, 3).Pow(2) },
		"slice select":           func(in []T) T { return in[0].Select(0, -1).Pow(2) },
		"slice empty":            func(in []T) T { return in[0].Slice(0, 2, 2).Pow(2) },

		"chain penalty": func(in []T) T { return in[0].MatMul(in[1]).Tanh().Pow(2).Sum().Sqrt() },
		"chain mlp": func(in []T) T {
			return nn.MSELoss(tensor.Linear(in[0], in[1], in[2]).Sigmoid().MatMul(in[3]), in[0])
		},
	}
	for op, f := range map[string]func(x T) T{
		"add number": func(x T) T { return x.AddScalar(0.1) },
		"mul number": func(x T) T { return x.MulScalar(0.7) },
	} {
		maps.Copy(all, single(op, f))
	}
	for _, e := range []float64{0, 1, 2, 3, 0.5, -1, -2, 1.7} {
		maps.Copy(all, single(fmt.Sprint("pow ", e), func(x T) T { return x.Pow(e) }))
	}
	all["pow 2 of both signs"] = all["pow 2"]
	all["pow 3 of both signs"] = all["pow 3"]
	for op, f := range map[string]func(x T, dims ...int) T{
		"sum": T.Sum, "mean": T.Mean, "norm": T.Norm, "amax": T.Amax, "amin": T.Amin,
	} {
		maps.Copy(all, reduction(op, f))
	}
	for op, f := range map[string]func(x T, dim int) T{"softmax": T.Softmax, "log_softmax": T.LogSoftmax} {
		for name, dim := range map[string]int{
			"": -1, " first": 0, " middle": 1, " one": 0, " scalar": 0, " empty": 1, " long": 1, " masked": 1, " large": 1,
		} {
			all[op+name] = func(in []T) T { return f(in[0], dim) }
		}
		all[op+" view"] = func(in []T) T { return f(in[0].T().Slice(0, 1, 4), 1) }
	}
	return all
}

func mseLoss(in []T) T { return nn.MSELoss(in[0], in[1]) }
func l1Loss(in []T) T  { return nn.L1Loss(in[0], in[1]) }
func linear(in []T) T  { return tensor.Linear(in[0], in[1], in[2]) }

// pairs are the cases of a function of two tensors, at awkward shapes.
func pairs(op string, f func(x, y T) T) cases {
	c := cases{op + " views": func(in []T) T { return f(in[0].T(), in[1].Slice(0, 1, 3)) }}
	for _, name := range []string{"", " broadcast", " broadcast to a scalar", " scalars", " one", " empty", " promotion", " promotion with a scalar", " edges"} {
		c[op+name] = func(in []T) T { return f(in[0], in[1]) }
	}
	return c
}

// single are the cases of a function of one tensor, at awkward shapes.
func single(op string, f func(x T) T) cases {
	c := cases{op + " view": func(in []T) T { return f(in[0].T().Slice(0, 1, in[0].Size(1))) }}
	for _, name := range []string{"", " scalar", " one", " empty", " edges"} {
		c[op+name] = func(in []T) T { return f(in[0]) }
	}
	return c
}

// reduction are the cases of a reduction.
func reduction(op string, f func(x T, dims ...int) T) cases {
	return cases{
		op:             func(in []T) T { return f(in[0]) },
		op + " first":  func(in []T) T { return f(in[0], 0) },
		op + " last":   func(in []T) T { return f(in[0], -1) },
		op + " two":    func(in []T) T { return f(in[0], 0, 2) },
		op + " scalar": func(in []T) T { return f(in[0]) },
		op + " one":    func(in []T) T { return f(in[0], 0) },
		op + " long":   func(in []T) T { return f(in[0]) },
		op + " view":   func(in []T) T { return f(in[0].T().Slice(0, 1, 4), 0) },
	}
}
