package diagnose_test

import (
	"fmt"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// Mistakes with operations, dtypes and sizes.
var mistakesOfValues = []mistake{
	{code: "bce-autocast", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				if out := b.net.Forward(b.x); bad {
					return nn.BinaryCrossEntropy(out.Sigmoid(), b.y)
				} else {
					return nn.BinaryCrossEntropyWithLogits(out, b.y)
				}
			}))
		}
	}},
	{code: "count-in-half", step: func(b *bench, bad bool, _ int) func() {
		mask := tensor.Ones(3001)
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				n := mask.To(tensor.Int64)
				if bad {
					return b.mse().Div(n.Cumsum(0).Half().Amax().Float())
				}
				return b.mse().Div(n.Sum().Float())
			}))
		}
	}},
	{code: "double-sigmoid", step: func(b *bench, bad bool, _ int) func() {
		if bad {
			b.net.Append(nn.NewSigmoid())
		}
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				return nn.BinaryCrossEntropyWithLogits(b.net.Forward(b.x).Reshape(-1), b.y.Reshape(-1))
			}))
		}
	}},
	{code: "double-softmax", step: func(b *bench, bad bool, _ int) func() {
		if bad {
			b.net.Append(nn.NewSoftmax(1))
		}
		return func() {
			b.learn(b.cast(func() *tensor.Tensor { return nn.CrossEntropy(b.net.Forward(b.x), b.class) }))
		}
	}},
	{code: "float64-inside", placed: true, step: func(b *bench, bad bool, layer int) func() {
		if bad {
			l := b.net.Modules[2*layer].(*nn.Linear)
			nn.ToDType(l, tensor.Float64)
			b.net.Modules[2*layer] = &wide{l}
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "forward-outside", placed: true, step: func(b *bench, bad bool, layer int) func() {
		return func() {
			x := b.x
			for i, m := range b.net.Modules {
				run := func() { tensor.InModule(fmt.Sprint(i), func() { x = m.Forward(x) }) }
				if _, linear := m.(*nn.Linear); linear && bad && i == 2*layer {
					x = x.Float()
					run()
				} else {
					amp.Autocast(b.policy, run)
				}
			}
			b.learn(b.cast(func() *tensor.Tensor { return nn.MSELoss(x, b.y) }))
		}
	}},
	{code: "half-input", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			x := b.x
			if bad {
				x = x.Half()
			}
			b.learn(b.cast(func() *tensor.Tensor { return nn.MSELoss(b.net.Forward(x), b.y) }))
		}
	}},
	{code: "half-parameters", step: func(b *bench, bad bool, _ int) func() {
		if bad {
			nn.Half(b.net)
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "half-reduction", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			out := b.cast(func() *tensor.Tensor { return b.net.Forward(b.x) })
			if !bad {
				out = out.Float()
			}
			norm := out.Detach().Norm().Float()
			b.learn(b.cast(func() *tensor.Tensor { return nn.MSELoss(out.Div(norm), b.y) }))
		}
	}},
	{code: "log-by-hand", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				out := b.net.Forward(b.x)
				if bad {
					return out.Softmax(1).Log().Mean().Neg()
				}
				return out.LogSoftmax(1).Mean().Neg()
			}))
		}
	}},
	{code: "loss-in-half", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				d := b.net.Forward(b.x)
				if !bad {
					d = d.Float()
				}
				return d.Mul(d).Mean()
			}))
		}
	}},
	{code: "loss-not-finite", step: func(b *bench, bad bool, layer int) func() {
		if bad {
			b.inserted(layer, module(func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(1e6).MulScalar(1e6) }))
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "lost-addition", placed: true, step: func(b *bench, bad bool, layer int) func() {
		b.inserted(layer, module(func(x *tensor.Tensor) *tensor.Tensor {
			one := x.Detach().MulScalar(0).AddScalar(1)
			if !bad {
				one = one.Float()
			}
			return x.Mul(one.AddScalar(1e-4))
		}))
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "mask-overflow", step: func(b *bench, bad bool, layer int) func() {
		mask := tensor.Eye(width).To(tensor.Bool)
		value := -6e4
		if bad {
			value = -1e9
		}
		b.inserted(layer, module(func(x *tensor.Tensor) *tensor.Tensor { return x.MaskedFill(mask, value).Softmax(1) }))
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "nll-of-softmax", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				out := b.net.Forward(b.x)
				if bad {
					return nn.NLLLoss(out.Softmax(1), b.class)
				}
				return nn.NLLLoss(out.LogSoftmax(1), b.class)
			}))
		}
	}},
	{code: "odd-sizes", placed: true, step: func(b *bench, bad bool, layer int) func() {
		n := width + 8
		if bad {
			n = width + 1
		}
		b.net.Modules[2*layer] = nn.NewSequential(nn.NewLinear(width, n), nn.NewLinear(n, width))
		b.opt = optim.NewSGD(nn.Parameters(b.net), 0.01)
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "penalty-of-scaled", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			loss := b.cast(b.mse)
			grads := tensor.GradGraph(b.scaler.Scale(loss), nn.Parameters(b.net)...)
			b.learn(b.cast(func() *tensor.Tensor {
				total := tensor.Scalar(0)
				for _, g := range grads {
					if !bad {
						g = g.MulScalar(1 / b.scaler.CurrentScale())
					}
					total = total.Add(g.Pow(2).Sum())
				}
				return loss.Add(total.Sqrt().MulScalar(1e-3))
			}))
		}
	}},
	{code: "repeated-cast", placed: true, step: func(b *bench, bad bool, layer int) func() {
		b.net.Modules[2*layer] = &tied{b.net.Modules[2*layer].(*nn.Linear), bad}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "small-products", step: func(b *bench, bad bool, _ int) func() {
		n := width
		if bad {
			n = 16
		}
		b.net = nn.NewSequential(nn.NewLinear(n, n), nn.NewReLU(), nn.NewLinear(n, n))
		b.opt = optim.NewSGD(nn.Parameters(b.net), 0.01)
		b.x, b.y = tensor.Randn(512, n), tensor.Randn(512, n)
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "sync-often", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			out := b.cast(func() *tensor.Tensor { return b.net.Forward(b.x) })
			if bad {
				for i := range 10 {
					out.Detach().Select(0, i).Amax().Item()
				}
			}
			loss := b.cast(func() *tensor.Tensor { return nn.MSELoss(out, b.y) })
			b.learn(loss)
			loss.Item()
		}
	}},
	{code: "update-inside", placed: true, step: func(b *bench, bad bool, layer int) func() {
		decay := func() {
			tensor.NoGrad(func() { b.net.Modules[2*layer].(*nn.Linear).Weight.MulScalarAssign(0.999) })
		}
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				if bad {
					decay()
				}
				return b.mse()
			}))
			if !bad {
				decay()
			}
		}
	}},
}
