// Package tensor provides tensors with automatic differentiation, modelled on torch.
//
// A [Tensor] has a shape, a [DType] and a [Device]. Create tensors, compute, and ask for
// gradients:
//
//	w := tensor.Randn(3, 2).RequireGrad()
//	x := tensor.New([]float64{1, 2, 3}, 1, 3)
//	loss := x.MatMul(w).Pow(2).Mean()
//	loss.Backward()
//	fmt.Println(w.Grad())
//
// Tensors are float32 by default; [Tensor.To] changes the dtype:
//
//	tensor.Ones(65536).To(tensor.Float16).Sum() // +Inf: float16's maximum is 65504
//
// # Numerics
//
// Arithmetic follows CUDA on every backend: float16 and bfloat16 operands are widened to
// float32, and the result is rounded once, to nearest even. Subnormal numbers are kept. Go
// numbers, for example the argument of MulScalar, are not rounded to float16 first. Sums are in
// float32, in an order that depends only on shapes. OPS.md lists every operation.
//
// A program therefore gives the same bits in every run, for any number of workers, and on amd64
// and arm64. A seed gives PyTorch's CPU numbers: identical bits for [Rand], [Bernoulli],
// [Randint] and [Randperm], and for 16 or more normal numbers those of its AVX2 and AVX-512
// builds. Package torchtest compares every operation and its first and second derivatives with
// PyTorch. [Tensor.Maximum], [Tensor.Amax], [Tensor.Clamp] and similar operations always return
// the NaN 0x7fc00000. Operations that select elements preserve a NaN's bits; the sign and
// payload of a NaN from arithmetic depend on the processor.
//
// Operands of different dtypes are promoted by torch's rules: floating point wins over
// integers, which win over bool. Within a kind, a tensor with dimensions wins over a scalar,
// and a wider dtype over a narrower one; float16 with bfloat16 gives float32, and uint8 with
// int8 gives int16. Integers wrap around on overflow. Matrix products need operands of one
// dtype. Comparisons return bool, and positions are int64. The two 8-bit floating-point dtypes
// can be stored and converted, but not computed with.
//
// # Derivatives
//
// Every operation goes through one function, which records it if an operand requires a
// gradient. Derivatives are themselves written in operations, so [GradGraph] returns gradients
// that can be differentiated again. [NoGrad] disables recording. A leaf's gradient has the
// leaf's dtype; other gradients have the dtype of the forward operation.
//
// # Names
//
// Names are torch's:
//
//	torch                                      here
//	a method of torch.Tensor, an activation    a method: x.Sum(), x.GELU()
//	a function of weights or several tensors   a function: tensor.Cat(0, x, y), tensor.Linear(x, w, b)
//	torch.nn.functional without weights        package nn: nn.MSELoss(x, y), nn.MaxPool2d(x, 2)
//	a class of torch.nn                        package nn, made by New: nn.NewLinear(4, 2)
//
// The endings of names distinguish variants:
//
//	Assign    in place, as x.add_(y): x.AddAssign(y)
//	Scalar    a number as operand: x.MulScalar(2)
//	As        computes or returns a given dtype: x.SumAs(tensor.Float64)
//	With      takes further settings: x.StdWith(0)
//	Tensor    a tensor where the plain form takes a number: x.PowTensor(y)
//
// Many settings are an Options struct, the last parameter; its zero value is torch's default.
//
// # Indexing
//
// [Tensor.Index] reads, and [Tensor.Set] assigns, what torch writes in brackets:
//
//	torch                     tensor
//	x[1]  x[-1, 2]            x.Index(1)  x.Index(-1, 2)
//	x[:, 0]  x[..., 0]        x.Index(tensor.All, 0)  x.Index(tensor.Ellipsis, 0)
//	x[1:3]  x[1:]  x[:-1]     x.Index(tensor.R(1, 3))  …R(1)  …R(0, -1)
//	x[::2]  x[1::2]           x.Index(tensor.R(0, tensor.End, 2))  …R(1, tensor.End, 2)
//	x[None]  x[:, None]       x.Index(tensor.NewAxis)  x.Index(tensor.All, tensor.NewAxis)
//	x[[0, 2]]  x[i, j]        x.Index([]int{0, 2})  x.Index(i, j)
//	x[x > 0]  x[mask, 1:]     x.Index(x.Gt(tensor.Scalar(0)))  x.Index(mask, tensor.R(1))
//	x[0] = 1  x[mask] = y     x.Set(1, 0)  x.Set(y, mask)
//	x.index_put((i,), y)      x.IndexPut(y, i), with gradients
//	x.index_put(…, True)      x.IndexPutAdd(y, i)
//	x[1, 2].item()            x.At(1, 2)
//	torch.where(c)            c.Nonzero()
//
// Numbers, ranges, All, Ellipsis and NewAxis give views; tensors and Go slices give copies.
// [Tensor.Gather], [Tensor.Scatter], [Tensor.IndexSelect] and similar methods take positions
// along one dimension, as in torch. Positions are int64 or int32, and masks are bool;
// derivatives keep only those.
//
// # Autocast
//
// A caster may change the dtypes of operands before an operation runs; package amp provides
// those of torch.autocast. It applies to the goroutine that called amp.Autocast. Backward runs
// without it.
//
// # In place
//
// AddAssign and the other methods whose names end in Assign change a tensor, and all views of
// its memory, and increment its Version. They panic if the result's kind is higher than the
// tensor's, for example a floating-point result for a tensor of integers. They are not
// recorded: outside [NoGrad] neither the tensor nor an operand may require a gradient. A
// derivative that needs values that have changed since panics.
//
// # Errors
//
// Wrong shapes and dtypes panic with an [*Error], which names the values given and those
// expected; [Try] turns the panic into an error.
//
// The package does not depend on modules, autocast policies or charts. Its backends
// implement package tensor/driver.
package tensor
