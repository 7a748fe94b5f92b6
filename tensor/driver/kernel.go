package driver

// Kernel is one computation as data: a code and its scalar parameters.
type Kernel struct {
	Code Code
	// Alpha and Beta are the scalars in a code's comment.
	Alpha, Beta float64
	// Axis is the axis in a code's comment, counted from 0.
	Axis int
	// More holds further scalars, listed in a code's comment.
	More [5]float64
}

// Code names a computation.
//
// Arithmetic is CUDA's: operands of float16 and bfloat16 are widened to
// float32, computed on in float32, and the result is rounded once, to nearest
// even; float64 stays float64. Alpha and Beta are rounded to the type that is
// computed in, so a plain number is not first rounded to float16. Products and
// sums round apart (no fused multiply-add) where a comment writes both. Integers
// and bool are computed on in int64 and wrap around; what is not 0 is true. The
// floating-point types of 8 bits are only filled and copied.
//
// All operands have dst's dtype, except for [Copy], comparisons, [Where], reductions,
// [Matmul], [Contract], positions and [Unscale], whose comments state theirs. Integers and
// bool are offered where a comment says "integers too". Elementwise kernels read operands
// broadcast to dst's shape by strides of 0, and dst may be one of them: the same window, not
// an overlapping one. NaN propagates through every kernel unless its comment says otherwise.
type Code uint8

// The computations. Those below Optional must be offered by every backend.
const (
	Fill   Code = iota // dst = Alpha
	Copy               // dst = src, strided, converted to dst's dtype: float64 and integers to 8 and 16 bits by way of float32, else with one rounding; real numbers to integers without their fraction, then modulo 2^bits, NaN and what int64 cannot hold as its least number; to bool by not being 0
	Affine             // dst = Alpha*x + Beta; with Beta 0 nothing is added, so the sign of zero stays; integers too

	// One operand, elementwise.
	Neg // integers too
	Abs // integers too
	Exp
	Log
	Log1p // log(1+x)
	Sqrt
	Tanh
	Erf
	Sigmoid
	Relu       // 0 where x <= 0, else x; integers too
	Step       // 1 where x > 0, else 0, for NaN too; integers too
	Reciprocal // 1/x
	Pow        // x to the power Alpha; products for 2 and 3, Sqrt for 0.5, Reciprocal for -1
	Rsqrt      // 1/sqrt(x)
	Exp2       // 2 to the power x
	Expm1      // exp(x) - 1
	Log2
	Log10
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Asinh
	Acosh
	Atanh
	Erfc   // 1 - Erf(x)
	Erfinv // Erf's inverse
	Floor
	Ceil
	Trunc
	Round // to the nearest whole number, of two the even one
	Sign  // 1, 0 or -1, 0 for NaN too; integers too

	// Two operands, elementwise; those up to SigmoidGrad but Div and the derivatives
	// for integers too.
	Add
	AddScaled // dst = x + Alpha*y
	Sub
	Mul
	Div
	Max
	Min
	Equal       // 1 where x == y, else 0, for NaN too; likewise the next two. dst is of x's dtype or bool
	Less        // x < y
	LessEqual   // x <= y
	ReluGrad    // dst = 0 where x <= 0, else y: x went into Relu or came out of it, y is the gradient
	TanhGrad    // dst = y*(1 - x*x): x came out of Tanh
	SigmoidGrad // dst = y*((1 - x)*x): x came out of Sigmoid
	Power       // x to the power y; integers too: 0 for y < 0, but 1 of 1, and 1 or -1 of -1
	Atan2       // the angle of the point (y, x), x being the first operand
	Hypot       // sqrt(x*x + y*y) without overflow, +Inf if either is infinite
	Copysign    // x with y's sign
	Fmod        // x - y*trunc(x/y), exactly: it has x's sign; integers too: 0 for y = 0
	Remainder   // x - y*floor(x/y), exactly but for one rounding: it has y's sign; integers too: 0 for y = 0
	FloorDiv    // floor(x/y) of the exact quotient, x/y for y = 0; integers too: 0 for y = 0
	TruncDiv    // trunc of x/y; integers too: 0 for y = 0

	// Two operands, elementwise, for integers alone.
	And
	Or
	Xor
	ShiftLeft  // x << y, 0 for y beyond 63 or below 0
	ShiftRight // x >> y, all sign for y beyond 63 or below 0

	// Three operands, elementwise.
	Where // dst = y where x != 0, else z; x is of dst's dtype or bool; integers too

	// Reductions: dst has src's rank, and size 1 along each reduced axis. dst has
	// src's dtype or the wider one that it is computed in. Sums are in float32
	// (float64 for float64) in an order that depends on shapes alone, rounded
	// once. Over no element, sums are 0, Mean NaN, ReduceMax and ReduceMin -Inf
	// and +Inf, Prod 1. All but Mean for integers too.
	Sum
	Mean       // the sum divided by the number of elements summed
	SumSquares // the sum of x*x
	ReduceMax
	ReduceMin
	Prod // the product, in an order as that of sums, rounded once

	// Recurrence is dst[0] = x[0], dst[i] = x[i] + y[i]*dst[i-1] along Axis, in this
	// order, the product and the sum rounding apart: a running sum where y, the
	// optional second operand is absent. What goes on to the next element is
	// not rounded to dst's dtype: it is float64 for float32, and float32 for halves.
	// Operands have dst's dtype and shape; dst is not one of
	// them. Integers too.
	Recurrence
	// CumArgMax is dst[i] = the largest j <= i with x[j] = the maximum of x[0] … x[i]
	// along Axis; NaN counts as the largest number. dst is of int64, x of any dtype;
	// integers too. CumArgMin likewise.
	CumArgMax
	CumArgMin

	// Matmul is dst (…,m,n) = x (…,m,k) times y (…,k,n), plus the optional third
	// operand, broadcast to (…,m,n), added to the float32 sum before it is
	// rounded. All views have dst's rank, at least 2; the axes "…" are equal, by
	// strides of 0 where an operand repeats. x and y have one dtype, dst has it
	// too or, where they are float16 or bfloat16, float32; the third has x's dtype
	// or dst's. dst overlaps no operand. Integers too, but not bool.
	Matmul

	// Positions. index is int64 and holds positions along Axis, which the caller
	// has found to be in range. All views have dst's rank; index and x or dst, as
	// written, have one shape, and the other view has at least its sizes along
	// all axes but Axis. x has dst's dtype; i[j] is i with j in place of the
	// number along Axis. The first two and ArgMax, ArgMin and ArgSort are for
	// integers too.
	Gather     // dst[i] = x[i[index[i]]]; src is x, index
	Scatter    // dst[i[index[i]]] = x[i], in row-major order of i, so that the last stays; src is x, index
	ScatterAdd // dst[i[index[i]]] += x[i], in row-major order of i, likewise the next three; float32, float64 and int64 alone
	ScatterMul
	ScatterMax
	ScatterMin
	// ArgMax is the position of the largest element among those that are reduced,
	// counted in row-major order, as int64: the first of equal ones, of NaN if
	// there is one. Shapes are as in reductions; there is at least one element.
	ArgMax
	ArgMin // of the smallest
	// ArgSort is the order of src along Axis, as int64: dst[i] is the position of
	// what comes i-th. Equal elements keep their order; NaN is greater than all.
	// With Alpha 1 the largest comes first.
	ArgSort

	Optional

	// Contract is Matmul of views in which rows, columns and what is summed over are
	// several axes each, taken in row-major order: More[0], More[1] and More[2] of them,
	// at least one. dst (…,m…,n…) is x (…,m…,k…) times y (…,k…,n…), plus the optional
	// third operand, broadcast to dst's shape; views have the rank that this makes. The
	// columns that a convolution sees are such a view.
	Contract
	// Unscale multiplies each element of dst in place by Alpha and sets the
	// float32 scalar src[0] to 1 if one was not finite before the product. It
	// leaves src[0] alone otherwise. With Alpha 1 elements stay as they are. The
	// float32 scalar src[1], if there is one, stands for Alpha.
	Unscale
	// Gelu is x Φ(x), Φ being the normal distribution function, rounded once.
	// Elementwise.
	Gelu
	// GeluGrad is y times the derivative of x Φ(x), rounded once. Elementwise.
	GeluGrad
	// Silu is x*Sigmoid(x), where each rounds. Elementwise.
	Silu
	// SiluGrad is y times the derivative of Silu at x: with s = Sigmoid(x), y*s +
	// SigmoidGrad(s, y*x), where each operation rounds. Elementwise.
	SiluGrad
	// GeluTanh is x*Sigmoid(c*(x + a*x*x*x)) for a = 0.044715 and c = 2√(2/π), where
	// products from the left and all other operations round. Elementwise.
	GeluTanh
	// GeluTanhGrad is y times the derivative of GeluTanh at x: with s = that sigmoid, y*s +
	// SigmoidGrad(s, y*x)*(3ac*(x*x) + c), where each operation rounds. Elementwise.
	GeluTanhGrad
	// Dropout is Alpha*x where the bool y is true, else 0*x. Elementwise.
	Dropout
	// Softmax is exp(x - max) divided by its sum along Axis, where the difference, the
	// exponential, the sum, in the order of [Sum], and the quotient round each: what
	// [ReduceMax], Sub, Exp, Sum and Div give. dst may be x; it may be in the float32
	// that x is computed in.
	Softmax
	// LogSoftmax is (x - max) - log Σ exp(x - max) along Axis, where each operation
	// rounds; else as Softmax.
	LogSoftmax
	// SoftmaxGrad is (x - Σ x*y)*y along Axis, where each operation rounds: y came out
	// of Softmax, x is the gradient, which dst may be.
	SoftmaxGrad
	// LogSoftmaxGrad is x - exp(y)*Σ x along Axis, where each operation rounds: y came
	// out of LogSoftmax, x is the gradient, which dst may be.
	LogSoftmaxGrad
	// SGD is a step of torch.optim.SGD on dst, in place: src holds the gradient g
	// and, if there is momentum, its buffer v, which is updated too. Alpha is the
	// learning rate, Beta the momentum, More = weight decay, dampening, whether
	// momentum is Nesterov's, and whether v is nothing yet: h = g + decay*dst,
	// v = Beta*v + (1-dampening)*h, or h if it is nothing yet, and dst = dst - Alpha*v,
	// or Alpha*(h + Beta*v) if it is Nesterov's, or Alpha*h where there is no v. In
	// float16 and bfloat16 each of h, Beta*v and the sums is rounded, as by torch's
	// separate kernels. The last of src may be a copy of dst in float16 or bfloat16 if
	// dst is float32: it is set to what dst is after the step.
	SGD
	// Adam is a step of torch.optim.Adam on dst, in place, in float32 or float64:
	// src holds the gradient g and the running means m and v of it and its square,
	// which are updated too. With More = a, b, c, d, e: m = m + a*(g - m),
	// v = b*v + c*(g*g), dst = d*dst - Alpha*(m/(e*sqrt(v) + Beta)), where each
	// product, sum and quotient is rounded. The last of src may be a copy as SGD's.
	Adam

	// What normalisations are made of, in the wider dtype that x is computed in, which
	// statistics and weights have. Each operation rounds. Operands have dst's shape, by
	// strides of 0 where they repeat, unless said otherwise.

	// Moments is dst = the mean of (x - mean)*(x - mean) along the axes where dst has
	// size 1, src being x and mean, which is set to the means of x likewise, as [Mean]
	// has them.
	Moments
	// Normalize is dst = ((x - mean)*scale)*w + b; src is x, of dst's dtype, mean, scale
	// and perhaps w and b.
	Normalize
	// NormalizeGrad is dst = ((dy*w - first) - ((x - mean)*scale)*second)*scale; src is
	// dy, of dst's dtype, x, mean, scale, first, second and perhaps w.
	NormalizeGrad
	// NormalizeSums sets dst to the sums of g = dy*w along the axes where it has size 1,
	// and second, of its shape, to those of g*((x - mean)*scale), as [Sum] has them,
	// divided by Alpha. src is second, dy, x, mean, scale and perhaps w, all but second
	// with one shape.
	NormalizeSums

	// Bernoulli sets the bool dst, which has no gaps, to true with the probability Alpha:
	// element i where the (i mod 4)-th of the numbers that Philox4x32-10 makes of the
	// counter i/4, in its low 64 bits, and of the key More[0], More[1] is below Alpha
	// times 2^32 (J. Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3",
	// 2011). It has no operand.
	Bernoulli

	// Attention is dst = softmax(Alpha q kᵀ + mask) v, for queries q (…, L, E), keys k (…,
	// S, E), values v (…, S, V) and dst (…, L, V), in float16 or bfloat16; no E or V is
	// larger than [MaxHead], and along the last axis elements are neighbours. All views
	// have one rank and the axes "…" of dst, by strides of 0 where operands repeat. src is
	// sums, q, k, v, the mask (…, L, S) if More[1] is not 0, and what dropout keeps, bits as
	// [BernoulliBits] sets them, (…, L, ⌈S/32⌉), if More[2] is not 0. Where a bool mask is
	// false a key takes no part; one of float32 or of q's dtype is added. With More[0] not
	// 0, which excludes a mask, query i sees keys 0 to i. Where the bit of a key is 0 the
	// softmax is replaced by 0, elsewhere it is multiplied by Beta. Scores and sums are
	// float32; the exponentials of the scores less the largest so far are rounded to q's
	// dtype before they are multiplied by v (T. Dao, "FlashAttention-2", 2023), and dst is
	// rounded once. Rows without a key that takes part are 0. sums, float32 (…, L, 1), is set to something that AttentionGrad needs.
	Attention
	// AttentionGrad sets dst, of q's shape, dk, of k's, and dv, of v's, to the gradients of
	// Attention for that of its result, dy, of v's dtype as y, the result. They are of
	// that dtype or float32, and where operands repeat they do not: gradients are of each
	// use. Weights and the gradients of scores are rounded to the dtype of q before they
	// are multiplied. src is dk, dv, dy, y, sums, q, k, v and what Attention takes besides;
	// Alpha, Beta and More are those of Attention.
	AttentionGrad
	// BernoulliBits is Bernoulli with 32 elements in each int32 of dst, lowest bit first: row
	// r of dst, all but its last axis in row-major order, holds the elements from
	// More[2]*r on, as many as More[2] says, and then zeros. dst has no gaps.
	BernoulliBits

	// Steps of optimizers that the device itself decides on, which avoids a host
	// synchronisation to learn whether a gradient was finite.

	// Advance counts steps. dst is a float64 matrix without gaps, of a row of 4 a tensor:
	// the steps that it has taken, whether it takes this one, its rate and its scale. If no
	// element of the float32 vector src[0] is other than 0, steps goes up by 1 to n, whether
	// becomes 1, rate Alpha/(1 - Beta^n) and scale 1/sqrt(1 - More[0]^n), each operation
	// rounding, with the power of package elementary; else whether becomes 0 and the rest
	// stays.
	Advance
	// GuardedSGD is SGD of dst if its row says so, else nothing but the copy. src is the
	// row of Advance, then that of SGD. The row's rate stands for Alpha, and v is nothing
	// yet if More[3] says that it may be and this is the row's first step.
	GuardedSGD
	// GuardedAdam is Adam likewise: the row's rate and scale stand for Alpha and e.
	GuardedAdam
	// UpdateScale moves the loss scale of a GradScaler. dst is float32: scale, its inverse,
	// clean steps in a row, and overflows since the scale grew. If an element of the float32
	// vector src[0] is other than 0, clean steps become 0 and overflows go up by 1, and if
	// they are More[1] or more then, the scale becomes the larger of Beta*scale and of the
	// lesser of itself and More[2]. Else clean steps go up by 1, and if they are More[0]
	// then, they and overflows become 0 and the scale the lesser of Alpha*scale and of the
	// larger of itself and More[3], unless that is infinite. Products and 1/scale are
	// rounded to float64, then float32.
	UpdateScale
)

// MaxHead is the largest size of a head of [Attention].
const MaxHead = 128
