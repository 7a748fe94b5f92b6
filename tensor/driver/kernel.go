package driver

// Kernel is one computation as data: a code and its scalar parameters.
type Kernel struct {
	Code Code
	// Alpha and Beta are the parameters that a code's comment names.
	Alpha, Beta float64
}

// Code names a computation.
//
// Arithmetic is CUDA's: operands of float16 and bfloat16 are widened to
// float32, computed on in float32, and the result is rounded once, to nearest
// even; float64 stays float64. Elementwise kernels read operands broadcast by
// strides of 0 to dst's shape, and dst may be one of them.
type Code uint8

// The computations. Those below Optional must be offered by every backend.
const (
	Fill   Code = iota // dst = Alpha
	Copy               // dst = src, strided, converted to dst's dtype with one rounding
	Affine             // dst = Alpha*x + Beta

	// One operand, elementwise.
	Neg
	Abs
	Exp
	Log
	Sqrt
	Tanh
	Sigmoid
	Relu
	Step       // 1 where x > 0, else 0
	Reciprocal // 1/x
	Pow        // x to the power Alpha

	// Two operands, elementwise.
	Add
	Sub
	Mul
	Div
	Max
	Min

	// Reductions: dst has src's rank, and size 1 along each reduced axis. Sums
	// are in float32 (float64 for float64) in an order that depends on shapes
	// alone.
	Sum
	ReduceMax

	// Matmul is dst (…,m,n) = x (…,m,k) times y (…,k,n), plus the optional third
	// operand, broadcast to (…,m,n), added to the float32 sum before it is rounded.
	Matmul

	Optional

	// Unscale multiplies each element of dst in place by Alpha and sets the
	// float32 scalar src[0] to 1 if one was not finite before the product. It
	// leaves src[0] alone otherwise. With Alpha 1 elements stay as they are.
	Unscale
	// SGD is a step of torch.optim.SGD on dst, in place: src holds the gradient
	// and, if there is momentum, its buffer, which is updated too. Alpha is the
	// learning rate, Beta the momentum.
	SGD
)
