package driver

// Kernel is one computation as data: a code and its parameters.
type Kernel struct {
	Code Code
	// Alpha and Beta are the scalars in a code's comment.
	Alpha, Beta float64
	// Axis is the axis in a code's comment, counted from 0.
	Axis int
	// High allows less precision in products of float32 ([Matmul] and [Contract]): a backend may represent each number by the
	// sum of two bfloat16 numbers, with 16 significant bits, or round it to TF32, with 11.
	High bool
	// Params are the parameters of a code whose comment names their type, else nil.
	Params Params
}

// Code names a computation.
//
// Arithmetic is CUDA's: operands of float16 and bfloat16 are widened to float32, and the result is
// rounded once, to nearest even; float64 stays float64. Alpha and Beta are rounded to the type of
// the arithmetic, so a plain number is not rounded to float16 first. Where a comment writes a product
// and a sum, they round separately (no fused multiply-add). Arithmetic on integers and bool is done
// in int64 and wraps around; nonzero is true. The floating-point types of 8 bits are only filled and
// copied.
//
// All operands have dst's dtype, except for [Copy], comparisons, [Where], reductions, [Matmul],
// [Contract], positions and [Unscale], whose comments state theirs. Integers and bool are offered
// where a comment says "integers too". Elementwise kernels read operands broadcast to dst's shape by
// strides of 0, and dst may be one of them: the same window, not an overlapping one. NaN propagates
// through every kernel unless its comment states otherwise.
type Code uint8

// The computations. Those before Optional must be offered by every backend.
const (
	// Fill is dst = Alpha.
	Fill Code = iota
	// Copy is dst = src, converted to dst's dtype. Float64 and integers become 8- and 16-bit floats
	// by way of float32, else there is one rounding. Floats become integers by truncation, then modulo
	// 2^bits; NaN and values outside int64 become the least int64. Nonzero becomes true.
	Copy
	// Affine is dst = Alpha*x + Beta. With Beta 0 nothing is added, so the sign of zero stays.
	// Integers too.
	Affine

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
	Step       // 1 where x > 0, else 0, also for NaN; integers too
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
	Erfinv // inverse of Erf
	Floor
	Ceil
	Trunc
	Round // to the nearest integer, ties to even
	Sign  // 1, 0 or -1, and 0 for NaN; integers too

	// Two operands, elementwise. Those up to SigmoidGrad, except Div and the derivatives, are for
	// integers too.
	Add
	AddScaled // dst = x + Alpha*y
	Sub       // where offered, dst of halves may be float32
	Mul
	Div
	Max
	Min
	Equal       // 1 where x == y, else 0, also for NaN; dst has x's dtype or bool, also in the next two
	Less        // x < y
	LessEqual   // x <= y
	ReluGrad    // dst = 0 where x <= 0, else y: x is Relu's operand or result, y the gradient
	TanhGrad    // dst = y*(1 - x*x): x is Tanh's result
	SigmoidGrad // dst = y*((1 - x)*x): x is Sigmoid's result
	Power       // x to the power y; integers too: 0 for y < 0, except for x = 1 and -1
	Atan2       // angle of the point (y, x), where x is the first operand
	Hypot       // sqrt(x*x + y*y) without overflow; +Inf if either is infinite
	Copysign    // x with y's sign
	Fmod        // x - y*trunc(x/y), exact, with x's sign; integers too: 0 for y = 0
	Remainder   // x - y*floor(x/y), rounded once, with y's sign; integers too: 0 for y = 0
	FloorDiv    // floor(x/y) of the exact quotient, x/y for y = 0; integers too: 0 for y = 0
	TruncDiv    // trunc(x/y); integers too: 0 for y = 0

	// Two operands, elementwise, only for integers.
	And
	Or
	Xor
	ShiftLeft  // x << y; 0 for y below 0 or above 63
	ShiftRight // x >> y; all sign bits for y below 0 or above 63

	// Where is dst = y where x != 0, else z, elementwise. x has dst's dtype or bool. Integers too.
	Where

	// Reductions: dst has src's rank, and size 1 along each reduced axis. It has src's dtype or the
	// wider one of the arithmetic. Sums are in float32 (float64 for float64), in an order that depends
	// only on shapes, and are rounded once. Over no elements, sums are 0, Mean NaN, ReduceMax and
	// ReduceMin -Inf and +Inf, Prod 1. All but Mean are for integers too.
	Sum
	Mean       // the sum divided by the number of its elements
	SumSquares // sum of x*x
	ReduceMax
	ReduceMin
	Prod // product, in an order like that of sums, rounded once

	// Recurrence is dst[0] = x[0], dst[i] = x[i] + y[i]*dst[i-1] along Axis, in this order; product and
	// sum round separately. Without the optional second operand y it is a running sum. The value
	// carried to the next element is not rounded to dst's dtype: it is float64 for float32, and float32
	// for halves. Operands have dst's dtype and shape; dst is not one of them. Integers too.
	Recurrence
	// CumArgMax is dst[i] = the largest j <= i with x[j] = the maximum of x[0] … x[i] along Axis, where
	// NaN is the largest number. dst is int64, x has any dtype. Integers too.
	CumArgMax
	// CumArgMin is CumArgMax of the minimum, where NaN is the smallest number.
	CumArgMin

	// Matmul is dst (…, m, n) = x (…, m, k) times y (…, k, n), plus the optional third operand,
	// broadcast to (…, m, n), which is added to the float32 sum before it is rounded. All views have
	// dst's rank, at least 2. The axes "…" are equal, with strides of 0 where an operand repeats. x
	// and y have one dtype; dst has it too or, if they are float16 or bfloat16, float32. The third
	// operand has x's dtype or dst's. dst overlaps no operand. Integers too, but not bool.
	Matmul

	// Positions. index is int64 and holds positions along Axis, which the caller has checked to be in
	// range. All views have dst's rank. index has the shape of dst in Gather, and of x in the others;
	// the other view has at least its sizes along all axes but Axis. x has dst's dtype. i[j] is i with
	// j as its component along Axis. Gather, Scatter, ArgMax, ArgMin and ArgSort are for integers too.
	Gather  // dst[i] = x[i[index[i]]]; src is x, index
	Scatter // dst[i[index[i]]] = x[i], in row-major order of i, so the last one stays; src is x, index
	// ScatterAdd is dst[i[index[i]]] += x[i], in row-major order of i. This and the next three are for
	// float32, float64 and int64. A backend may offer ScatterAdd for float16 and bfloat16 too: each sum
	// is computed in float32 and rounded once.
	ScatterAdd
	ScatterMul
	ScatterMax
	ScatterMin
	// ArgMax is the position of the largest element among the reduced ones, counted in row-major
	// order, as int64: the first of equal ones, and the first NaN if there is one. Shapes are as in
	// reductions; there is at least one element.
	ArgMax
	ArgMin // position of the smallest element
	// ArgSort is the order of src along Axis, as int64: dst[i] is the position of the element that
	// comes i-th. Equal elements keep their order; NaN is greater than all. Its parameters are
	// [SortParams].
	ArgSort

	Optional

	// Contract is Matmul of views whose rows, columns and inner index consist of several axes each, in
	// row-major order. dst (…, m…, n…) is x (…, m…, k…) times y (…, k…, n…), plus the optional third
	// operand, broadcast to dst's shape. The windows of a convolution are such a view. Its parameters
	// are [ContractParams].
	Contract
	// Unscale multiplies each element of dst in place by Alpha and sets the float32 scalar src[0] to 1
	// if one was non-finite before; otherwise it does not change src[0]. With Alpha 1 the elements do
	// not change. The optional float32 scalar src[1] replaces Alpha.
	Unscale
	// Gelu is x Φ(x), where Φ is the normal distribution function, rounded once. Elementwise.
	Gelu
	// GeluGrad is y times the derivative of x Φ(x), rounded once. Elementwise.
	GeluGrad
	// Silu is x*Sigmoid(x), where each operation rounds. Elementwise.
	Silu
	// SiluGrad is y times the derivative of Silu at x: with s = Sigmoid(x), y*s + SigmoidGrad(s, y*x),
	// where each operation rounds. Elementwise.
	SiluGrad
	// GeluTanh is x*Sigmoid(c*(x + a*x*x*x)) for a = 0.044715 and c = 2√(2/π), where products from the
	// left and all other operations round. Elementwise.
	GeluTanh
	// GeluTanhGrad is y times the derivative of GeluTanh at x: with s = that sigmoid, y*s +
	// SigmoidGrad(s, y*x)*(3ac*(x*x) + c), where each operation rounds. Elementwise.
	GeluTanhGrad
	// Dropout is Alpha*x where the bool y is true, else 0*x. Elementwise.
	Dropout
	// Softmax is exp(x - max) divided by its sum along Axis. The difference, the exponential, the sum,
	// in the order of [Sum], and the quotient round as in [ReduceMax], Sub, Exp, Sum and Div. dst may be
	// x. One of the two may be float32, the dtype of the arithmetic, where the other is a half.
	Softmax
	// LogSoftmax is (x - max) - log Σ exp(x - max) along Axis, where each operation rounds; else it is
	// like Softmax.
	LogSoftmax
	// SoftmaxGrad is (x - Σ x*y)*y along Axis, where each operation rounds: y is Softmax's result, x
	// the gradient, which dst may be.
	SoftmaxGrad
	// LogSoftmaxGrad is x - exp(y)*Σ x along Axis, where each operation rounds: y is LogSoftmax's
	// result, x the gradient, which dst may be.
	LogSoftmaxGrad
	// SGD is a step of torch.optim.SGD on dst, in place. src is the gradient g and, with momentum, the
	// velocity v, which is updated too. h = g + Decay*dst; v = Momentum*v + (1-Dampening)*h, or h if
	// First; dst = dst - Rate*v, or Rate*(h + Momentum*v) if Nesterov, or Rate*h without v. In float16
	// and bfloat16 each of h, Momentum*v and the sums is rounded, as by torch's separate kernels. The
	// last operand may be a copy of a float32 dst in float16 or bfloat16, which is set to dst after the
	// step. Its parameters are [SGDParams].
	SGD
	// Adam is a step of torch.optim.Adam on dst, in place, in float32 or float64. src is the gradient
	// g and the running means m of it and v of its square, which are updated too: m = m +
	// (1-Beta1)*(g - m), v = Beta2*v + (1-Beta2)*(g*g), dst = (1-Decay)*dst - Rate*(m/(Scale*sqrt(v) +
	// Eps)), where each product, sum and quotient is rounded. The last operand may be a copy as in SGD.
	// Its parameters are [AdamParams].
	Adam

	// Parts of normalisations, in the wider dtype of the arithmetic on x, which statistics and weights
	// have. Each operation rounds. Operands have dst's shape, with strides of 0 where they repeat,
	// unless a comment says otherwise.

	// Moments is dst = the mean of (x - mean)*(x - mean) along the axes where dst has size 1. src is x
	// and mean, which is set to the means of x, as in [Mean].
	Moments
	// Normalize is dst = ((x - mean)*scale)*w + b. src is x, of dst's dtype, mean, scale, and
	// optionally w and b.
	Normalize
	// NormalizeGrad is dst = ((dy*w - first) - ((x - mean)*scale)*second)*scale. src is dy, of dst's
	// dtype, x, mean, scale, first, second, and optionally w. A backend may offer it without first and
	// second: they are then the results of [NormalizeSums] along the axes where mean has a stride of 0,
	// for the same Alpha.
	NormalizeGrad
	// NormalizeSums sets dst to the sums of g = dy*w along the axes where it has size 1, and second, of
	// its shape, to those of g*((x - mean)*scale), in the order of [Sum], divided by Alpha. src is
	// second, dy, x, mean, scale, and optionally w, all but second of one shape.
	NormalizeSums

	// Bernoulli sets the bool dst, which is contiguous, to true with probability P. Element i is true
	// if the (i mod 4)-th number of Philox4x32-10, for the counter i/4 in its low 64 bits and for Key,
	// is below P times 2^32 (J. Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3",
	// 2011). It has no operands. Its parameters are [BernoulliParams].
	Bernoulli

	// Attention is dst = softmax(Scale q kᵀ + mask) v, for queries q (…, L, E), keys k (…, S, E),
	// values v (…, S, V) and dst (…, L, V), in float16 or bfloat16. E and V are at most [MaxHead], and
	// the last axis has stride 1. All views have one rank and dst's axes "…", with strides of 0 where
	// operands repeat. src is sums, q, k, v, then the mask (…, L, S) if Masked, then the bits of
	// [BernoulliBits] (…, L, ⌈S/32⌉) if Dropout. A bool mask excludes keys where it is false; a mask of
	// float32 or of q's dtype is added. Where the bit of a key is 0 the softmax is replaced by 0,
	// elsewhere it is multiplied by Kept. Scores and sums are float32. The exponentials of the scores
	// less the largest so far are rounded to q's dtype before they are multiplied by v (T. Dao,
	// "FlashAttention-2", 2023), and dst is rounded once. Rows without a key are 0. sums, float32 (…,
	// L, 1), is set to values that AttentionGrad needs. Its parameters are [AttentionParams].
	Attention
	// AttentionGrad sets dst, of q's shape, dk, of k's, and dv, of v's, to the gradients of Attention
	// for the gradient dy of its result y, both of v's dtype. The results have that dtype or float32,
	// and do not repeat where operands do: gradients are of each use. Weights and the gradients of
	// scores are rounded to q's dtype before they are multiplied. src is dk, dv, dy, y, sums, q, k, v
	// and Attention's mask and bits. Its parameters are those of Attention.
	AttentionGrad
	// BernoulliBits is Bernoulli with 32 elements in each int32 of dst, lowest bit first. Row r of dst,
	// which is all but its last axis in row-major order, holds the elements Row*r to Row*(r+1)-1, then
	// zeros. dst is contiguous.
	BernoulliBits

	// Steps of optimizers that the device takes or skips itself, so that the host need not wait to learn
	// whether a gradient was finite.

	// Advance counts steps. dst is a contiguous float64 matrix with a row of 4 for each tensor: the
	// number n of its steps, whether to take this one, its rate and its scale. If all elements of the
	// float32 vector src[0] are 0, n goes up by 1, the second column becomes 1, the rate Rate/(1 -
	// Beta1^n) and the scale 1/sqrt(1 - Beta2^n), where each operation rounds, with the power of package
	// elementary. Else the second column becomes 0 and the rest stays. Its parameters are
	// [AdvanceParams].
	Advance
	// GuardedSGD is SGD of dst if the second column of its row of Advance is 1, else only the copy. src is
	// the row, then the operands of SGD. The row's rate replaces Rate, and First counts only in the
	// row's first step. Its parameters are [SGDParams].
	GuardedSGD
	// GuardedAdam is Adam in the same way: the row's rate and scale replace Rate and Scale. Its
	// parameters are [AdamParams].
	GuardedAdam
	// UpdateScale updates the loss scale of a GradScaler. dst is float32: the scale, its inverse, the
	// consecutive clean steps, and the overflows since the scale grew. If an element of the float32
	// vector src[0] is nonzero, the clean steps become 0 and the overflows go up by 1; if they are at
	// least Hysteresis then, the scale becomes max(Backoff*scale, min(scale, Min)). Else the clean steps
	// go up by 1; if they equal Interval then, they and the overflows become 0 and the scale becomes
	// min(Growth*scale, max(scale, Max)), unless that is infinite. Products and 1/scale are rounded to
	// float64, then float32. Its parameters are [ScaleParams].
	UpdateScale
)

// MaxHead is the largest head size of [Attention].
const MaxHead = 128
