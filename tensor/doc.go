// Package tensor has tensors with automatic differentiation: torch for Go.
//
// A [Tensor] has a shape, a [DType] and a [Device]. Make one, compute, ask for
// gradients:
//
//	w := tensor.Randn(3, 2).RequireGrad()
//	x := tensor.New([]float64{1, 2, 3}, 1, 3)
//	loss := x.MatMul(w).Pow(2).Mean()
//	loss.Backward()
//	fmt.Println(w.Grad())
//
// Tensors are float32 unless asked otherwise; [Tensor.To] changes the dtype:
//
//	tensor.Ones(65536).To(tensor.Float16).Sum() // +Inf: float16 ends at 65504
//
// # Numerics
//
// Arithmetic is that of CUDA on every backend: operands of float16 and bfloat16
// are widened to float32, computed on there, and the result is rounded once, to
// nearest even. Subnormal numbers are kept. Plain numbers, as in Scale, are not
// rounded to float16 first. Sums are in float32, in an order that depends on
// shapes alone. OPS.md lists every operation.
//
// So a program gives the same bits from run to run, for any number of workers, and
// on amd64 and arm64. A seed gives the numbers of PyTorch on the CPU: the same bits
// for [Rand], [Bernoulli], [Randint] and [Randperm], and for 16 or more normal
// numbers those of its builds for AVX2 and AVX-512. Package torchtest holds every
// operation and its first and second derivatives against PyTorch. A NaN that [Tensor.Maximum],
// [Tensor.Amax], [Tensor.Clamp] and their kin give is always 0x7fc00000, and what picks elements
// keeps their bits; the sign and payload of a NaN that arithmetic makes are the processor's.
//
// Operands of two dtypes are promoted by torch's rules: floating point beats
// integers, which beat bool; within a kind a tensor with dimensions beats one
// without, a wider dtype beats a narrower one, float16 with bfloat16 gives float32, and
// uint8 with int8 gives int16. Integers wrap around at the ends of their ranges. Products want operands of one dtype. Comparisons give bool, positions
// are int64, and the two floating-point dtypes of 8 bits are only kept and converted.
//
// # Derivatives
//
// Every operation goes through one function, which records it when an operand
// requires a gradient. Derivatives are themselves written in operations, so
// [GradGraph] gives gradients that can be differentiated again. [NoGrad]
// switches recording off. Leaf gradients have the leaf's dtype; all others have
// the dtype of the forward operation.
//
// # Indexing
//
// [Tensor.Index] reads what torch writes in brackets, [Tensor.Set] assigns to it:
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
// Numbers, ranges and the like give views, tensors and slices of Go copies.
// [Tensor.Gather], [Tensor.Scatter], [Tensor.IndexSelect] and their kin take
// positions along one dimension, as torch's do. Positions are int64 or int32, masks
// bool; a derivative keeps those alone.
//
// # Autocast
//
// A [Caster] may change the dtypes of operands before an operation runs; package
// amp has those of torch.autocast. It belongs to the goroutine that called
// [WithCaster]. Backward runs without it.
//
// # In place
//
// AddAssign and the other methods whose name ends in Assign change a tensor, and all
// views of its memory, and count its Version up; a result of a higher kind, as a real
// number in a tensor of integers, is a mistake. They are not recorded: outside [NoGrad]
// neither the tensor nor an operand may require a gradient. A derivative that needs
// values which have changed since says so.
//
// # Mistakes
//
// Wrong shapes and dtypes panic with an [*Error], which names them and what was
// expected; [Try] turns such a panic into an error.
//
// The package knows nothing of modules, autocast policies or charts. What it
// computes on is behind package tensor/driver.
package tensor
