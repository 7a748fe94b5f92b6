package bench

import (
	"fmt"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

var (
	fused     = tensor.Internal(plumbing.Token{}).Fused
	lifetimes = tensor.Internal(plumbing.Token{}).Lifetimes
)

// maker makes the other operands of an operation for x, and returns the operation.
type maker func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor

// of returns the maker of an operation with x as its only operand.
func of(f func(x *tensor.Tensor) *tensor.Tensor) maker {
	return func(*tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor { return f }
}

// ofPositive returns the maker of an operation whose only operand is |x|.
func ofPositive(f func(x *tensor.Tensor) *tensor.Tensor) maker {
	return func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		size := x.Abs()
		return func(*tensor.Tensor) *tensor.Tensor { return f(size) }
	}
}

// with returns the maker of an operation with a second operand like x.
func with(f func(x, y *tensor.Tensor) *tensor.Tensor) maker {
	return func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		y := tensor.Randn(x.Shape()...).To(x.DType())
		return func(x *tensor.Tensor) *tensor.Tensor { return f(x, y) }
	}
}

// convolved returns the maker of a convolution with kernels of that size. It keeps the number of
// channels.
func convolved(kernel, stride int) maker {
	return func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		w := tensor.Randn(x.Size(1), x.Size(1), kernel, kernel).To(x.DType()).RequireGrad()
		o := tensor.ConvOptions{Stride: []int{stride}, Padding: []int{kernel / 2}}
		return func(x *tensor.Tensor) *tensor.Tensor { return tensor.Conv2d(x, w, nil, o) }
	}
}

// operations maps the names of operations to their makers. x holds normal random numbers.
var operations = map[string]maker{
	"add":  with((*tensor.Tensor).Add),
	"add_": with((*tensor.Tensor).AddAssign),
	"attention": of(func(x *tensor.Tensor) *tensor.Tensor {
		return nn.ScaledDotProductAttention(x, x, x)
	}),
	"bfloat16":    of((*tensor.Tensor).BFloat16),
	"conv1x1":     convolved(1, 1),
	"conv3x3":     convolved(3, 1),
	"conv3x3/2":   convolved(3, 2),
	"dropout":     of(func(x *tensor.Tensor) *tensor.Tensor { return tensor.Dropout(x, 0.1, true) }),
	"erf":         of((*tensor.Tensor).Erf),
	"exp":         of((*tensor.Tensor).Exp),
	"expm1":       of((*tensor.Tensor).Expm1),
	"float16":     of((*tensor.Tensor).Half),
	"float32":     of((*tensor.Tensor).Float),
	"gelu":        of((*tensor.Tensor).GELU),
	"gelu tanh":   of((*tensor.Tensor).GELUTanh),
	"log":         ofPositive((*tensor.Tensor).Log),
	"log1p":       ofPositive((*tensor.Tensor).Log1p),
	"log_softmax": of(func(x *tensor.Tensor) *tensor.Tensor { return x.LogSoftmax(-1) }),
	"max_pool2d":  of(func(x *tensor.Tensor) *tensor.Tensor { return nn.MaxPool2d(x, 2) }),
	"mse_loss":    with(func(x, y *tensor.Tensor) *tensor.Tensor { return nn.MSELoss(x, y) }),
	"mul":         with((*tensor.Tensor).Mul),
	"relu":        of((*tensor.Tensor).ReLU),
	"relu_":       of((*tensor.Tensor).ReLUAssign),
	"rsqrt":       ofPositive((*tensor.Tensor).Rsqrt),
	"sigmoid":     of((*tensor.Tensor).Sigmoid),
	"silu":        of((*tensor.Tensor).SiLU),
	"sin":         of((*tensor.Tensor).Sin),
	"softmax":     of(func(x *tensor.Tensor) *tensor.Tensor { return x.Softmax(-1) }),
	"sum":         of(func(x *tensor.Tensor) *tensor.Tensor { return x.Sum() }),
	"sum of columns": of(func(x *tensor.Tensor) *tensor.Tensor {
		return x.Sum(0)
	}),
	"sum of rows": of(func(x *tensor.Tensor) *tensor.Tensor { return x.Sum(1) }),
	"tanh":        of((*tensor.Tensor).Tanh),
	"transpose":   of(func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(-1, -2).Contiguous() }),
	"checked float16": of(func(x *tensor.Tensor) *tensor.Tensor { // reports an element that overflows
		y := x.Half()
		fused.Unscale([]*tensor.Tensor{y}, 1)
		return y
	}),
	"add of a row": func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		row := tensor.Randn(x.Size(-1)).To(x.DType())
		return func(x *tensor.Tensor) *tensor.Tensor { return x.Add(row) }
	},
	"batch_norm": func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		c := x.Size(1)
		mean, variance, w, b := tensor.Zeros(c), tensor.Ones(c), tensor.Ones(c).RequireGrad(), tensor.Zeros(c).RequireGrad()
		return func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.BatchNorm(x, mean, variance, w, b, tensor.BatchNormOptions{Training: true})
		}
	},
	"cross_entropy": func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		labels := tensor.Randint(0, x.Size(1), x.Size(0))
		return func(x *tensor.Tensor) *tensor.Tensor { return nn.CrossEntropy(x, labels) }
	},
	"embedding": func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		ids := tensor.Randint(0, x.Size(0), 16, 128)
		return func(x *tensor.Tensor) *tensor.Tensor { return tensor.Embedding(ids, x, tensor.EmbeddingOptions{}) }
	},
	"layer_norm": func(x *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
		n := x.Size(-1)
		w, b := tensor.Ones(n).To(x.DType()).RequireGrad(), tensor.Zeros(n).To(x.DType()).RequireGrad()
		return func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.LayerNorm(x, []int{n}, w, b, tensor.NormOptions{})
		}
	},
}

// optimizers maps the names of optimizers to their constructors.
var optimizers = map[string]func(params []*tensor.Tensor) *optim.Optimizer{
	"sgd":      func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 1e-3) },
	"momentum": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 1e-3, optim.Momentum(0.9)) },
	"adamw":    func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 1e-3) },
}

// operation returns a function that computes an operation and, with Grad, its derivative for a
// gradient of ones.
func operation(s Spec) func() {
	tensor.ManualSeed(1)
	if optimizer, ok := optimizers[s.Op]; ok {
		p := tensor.Randn(s.Shape...).RequireGrad()
		p.SetGrad(tensor.Randn(s.Shape...))
		return optimizer([]*tensor.Tensor{p}).Step
	}
	x := tensor.Randn(s.Shape...).To(dtype(s.DType))
	if s.Op == "unscale" {
		return func() { fused.Unscale([]*tensor.Tensor{x}, 0.999999) }
	}
	make, ok := operations[s.Op]
	if !ok {
		panic(&tensor.Error{Op: "bench", Why: fmt.Sprintf("unknown operation %q", s.Op)})
	}
	f := make(x)
	if !s.Grad {
		return drop(func() (y *tensor.Tensor) {
			tensor.NoGrad(func() { y = f(x) })
			return y
		})
	}
	x.RequireGrad()
	ones := tensor.OnesLike(f(x))
	return drop(func() *tensor.Tensor {
		y := f(x)
		y.BackwardWith(tensor.BackwardOptions{Gradient: ones})
		x.SetGrad(nil)
		return y
	})
}

// drop returns a function that computes a result and releases its memory, as a loop of a cell does after the last use
// of a result. PyTorch, which counts references, does so too.
func drop(f func() *tensor.Tensor) func() {
	return func() {
		var none *tensor.Tensor
		since := lifetimes.Begin(&none)
		lifetimes.Free(since, f())
	}
}
