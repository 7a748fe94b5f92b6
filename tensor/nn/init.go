package nn

import (
	"fmt"
	"math"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// The functions InitX fill a tensor in place with the values of torch.nn.init's x_ for the same seed. They draw
// in float32 for every dtype of the tensor.

// InitUniform fills t with uniform numbers in [low, high). It is
// torch.nn.init.uniform_.
func InitUniform(t *tensor.Tensor, low, high float64) {
	tensor.NoGrad(func() { t.UniformAssign(low, high) })
}

// InitNormal fills t with normal numbers. It is torch.nn.init.normal_.
func InitNormal(t *tensor.Tensor, mean, std float64) {
	tensor.NoGrad(func() { t.NormalAssign(mean, std) })
}

// InitTruncNormal fills t with normal numbers from low to high; those outside are redrawn.
// It is torch.nn.init.trunc_normal_, whose bounds are -2 and 2 by default.
func InitTruncNormal(t *tensor.Tensor, mean, std, low, high float64) {
	if !(low < high && std > 0) {
		panic(&tensor.Error{Op: "init_trunc_normal", Why: fmt.Sprintf("low %v, high %v, std %v; want low below high and std above 0", low, high, std)})
	}
	below := func(x float64) float64 { return (1 + math.Erf((x-mean)/std/math.Sqrt2)) / 2 }
	// torch draws into the tensor itself first, then into temporaries like it.
	into := t
	if t.DType() != tensor.Float32 {
		into = tensor.ZerosLike(t).Float()
	}
	like := tensor.ZerosLike(into)
	drawn := func(f func(x *tensor.Tensor) *tensor.Tensor) (x []float32) {
		tensor.NoGrad(func() { x = f(into).Float32s() })
		into = like
		return x
	}
	// If most normal numbers fall inside, draw those; otherwise draw uniform numbers and keep
	// each with the probability of its density relative to the highest.
	draw := func() (x []float32, keep func(i int) bool) {
		x = drawn(func(x *tensor.Tensor) *tensor.Tensor { return x.NormalAssign(mean, std) })
		return x, func(i int) bool { return x[i] >= float32(low) && x[i] <= float32(high) }
	}
	if below(high)-below(low) <= 0.3 {
		density := func(x float64) float64 { return -0.5 * (x - mean) / std * (x - mean) / std }
		most := density(max(low, min(mean, high)))
		draw = func() (x []float32, keep func(i int) bool) {
			x = drawn(func(x *tensor.Tensor) *tensor.Tensor { return x.UniformAssign(low, high) })
			u := drawn(func(x *tensor.Tensor) *tensor.Tensor { return x.UniformAssign(0, 1) })
			return x, func(i int) bool { return math.Log(float64(u[i])) <= density(float64(x[i]))-most }
		}
	}
	out := make([]float32, t.Numel())
	kept := make([]bool, len(out))
	for left := len(out); left > 0; {
		x, keep := draw()
		for i := range out {
			if i&(1<<16-1) == 0 {
				driver.Poll()
			}
			if !kept[i] && keep(i) {
				out[i], kept[i] = x[i], true
				left--
			}
		}
	}
	fill(t, tensor.FromFloat32s(out, len(out)).Reshape(t.Shape()...))
}

// InitConstant fills t with value. It is torch.nn.init.constant_.
func InitConstant(t *tensor.Tensor, value float64) { tensor.NoGrad(func() { t.Fill(value) }) }

// InitOnes fills t with ones. It is torch.nn.init.ones_.
func InitOnes(t *tensor.Tensor) { InitConstant(t, 1) }

// InitZeros fills t with zeros. It is torch.nn.init.zeros_.
func InitZeros(t *tensor.Tensor) { InitConstant(t, 0) }

// InitEye makes the matrix t the identity. It is torch.nn.init.eye_.
func InitEye(t *tensor.Tensor) {
	dimensions("init_eye", t, 2, 2)
	InitZeros(t)
	for i := range min(t.Size(0), t.Size(1)) {
		setOne(t, i, i)
	}
}

// InitDirac makes the kernel t, (out, in, …), of a convolution with groups one that
// preserves its input, for as many channels as possible. It panics unless t has three to
// five dimensions and groups divides out. It is torch.nn.init.dirac_.
func InitDirac(t *tensor.Tensor, groups int) {
	dimensions("init_dirac", t, 3, 5)
	if groups < 1 || t.Size(0)%groups != 0 {
		panic(&tensor.Error{Op: "init_dirac", Shapes: [][]int{t.Shape()}, Why: fmt.Sprintf("groups %d, output channels %d; want groups to divide the channels", groups, t.Size(0))})
	}
	InitZeros(t)
	out := t.Size(0) / groups
	for g := range groups {
		for d := range min(out, t.Size(1)) {
			at := []int{g*out + d, d}
			for _, n := range t.Shape()[2:] {
				at = append(at, n/2)
			}
			setOne(t, at...)
		}
	}
}

func setOne(t *tensor.Tensor, at ...int) {
	tensor.NoGrad(func() {
		x := t
		for _, i := range at {
			x = x.Select(0, i)
		}
		x.Fill(1)
	})
}

// InitXavierUniform fills t, a weight (out, in, …), with uniform numbers in
// ±gain √(6/(fan in + fan out)): X. Glorot and Y. Bengio, "Understanding the difficulty
// of training deep feedforward neural networks" (2010). It is
// torch.nn.init.xavier_uniform_, whose gain is 1 by default.
func InitXavierUniform(t *tensor.Tensor, gain float64) {
	bound := math.Sqrt(3) * xavier("init_xavier_uniform", t, gain)
	InitUniform(t, -bound, bound)
}

// InitXavierNormal is InitXavierUniform with normal numbers of the deviation
// gain √(2/(fan in + fan out)). It is torch.nn.init.xavier_normal_.
func InitXavierNormal(t *tensor.Tensor, gain float64) {
	InitNormal(t, 0, xavier("init_xavier_normal", t, gain))
}

func xavier(op string, t *tensor.Tensor, gain float64) float64 {
	in, out := fans(op, t)
	return gain * math.Sqrt(2/float64(in+out))
}

// NegativeSlope is the slope of the leaky ReLU that follows a weight initialised by Kaiming's
// rule; 0 by default. It is a.
func NegativeSlope(a float64) Option {
	return Option{"NegativeSlope", func(c *config) { c.slope = a }}
}

// InitKaimingUniform fills t, a weight (out, in, …), with uniform numbers in
// ±gain √(3/fan): K. He and others, "Delving Deep into Rectifiers" (2015). It takes Mode,
// "fan_in" by default, which preserves the variance of values, or "fan_out", which preserves
// that of gradients; Nonlinearity, the function that follows, by CalculateGain's names,
// "leaky_relu" by default; and NegativeSlope. It is torch.nn.init.kaiming_uniform_.
func InitKaimingUniform(t *tensor.Tensor, options ...Option) {
	bound := math.Sqrt(3) * kaimingDeviation("init_kaiming_uniform", t, options)
	InitUniform(t, -bound, bound)
}

// InitKaimingNormal is InitKaimingUniform with normal numbers of the deviation
// gain/√fan. It is torch.nn.init.kaiming_normal_.
func InitKaimingNormal(t *tensor.Tensor, options ...Option) {
	InitNormal(t, 0, kaimingDeviation("init_kaiming_normal", t, options))
}

func kaimingDeviation(op string, t *tensor.Tensor, options []Option) float64 {
	start := config{mode: "fan_in"}
	start.nonlinearity = "leaky_relu"
	c := configure(op, start, options, "Mode", "Nonlinearity", "NegativeSlope")
	fan, out := fans(op, t)
	if choose("mode", c.mode, "fan_in", "fan_out") {
		fan = out
	}
	return CalculateGain(c.nonlinearity, c.slope) / math.Sqrt(float64(fan))
}

// CalculateGain returns the recommended gain of a nonlinearity: "linear", "conv1d" and the
// like, "sigmoid", "tanh", "relu", "leaky_relu" with its slope (0.01 in torch by default)
// or "selu". It panics for other names. It is torch.nn.init.calculate_gain.
func CalculateGain(nonlinearity string, slope float64) float64 {
	switch nonlinearity {
	case "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid":
		return 1
	case "tanh":
		return 5.0 / 3
	case "relu":
		return math.Sqrt2
	case "leaky_relu":
		return math.Sqrt(2 / (1 + float64(slope*slope)))
	case "selu":
		return 3.0 / 4
	}
	panic(&tensor.Error{Op: "calculate_gain", Why: fmt.Sprintf("nonlinearity %q is unknown; want linear, sigmoid, tanh, relu, leaky_relu, selu or a convolution such as conv2d", nonlinearity)})
}

// InitOrthogonal makes t, flattened to a matrix after its first dimension, gain times a
// matrix of orthogonal rows or columns: A. Saxe and others, "Exact solutions to the
// nonlinear dynamics of learning in deep linear neural networks" (2013). It is
// torch.nn.init.orthogonal_, whose gain is 1 by default.
func InitOrthogonal(t *tensor.Tensor, gain float64) {
	dimensions("init_orthogonal", t, 2, math.MaxInt)
	if t.Numel() == 0 {
		return
	}
	rows := t.Size(0)
	columns := t.Numel() / rows
	x := tensor.Normal(0, 1, rows, columns)
	if rows < columns {
		x = x.T()
	}
	q := tensor.NewAs(tensor.Float64, orthonormal(x.Float64s(), x.Size(0), x.Size(1)), x.Shape()...)
	if rows < columns {
		q = q.T()
	}
	fill(t, q.Float().Reshape(t.Shape()...).MulScalar(gain))
}

// orthonormal returns Q of the QR decomposition of a, m by n with m >= n, with a positive
// diagonal of R, by Householder reflections.
func orthonormal(a []float64, m, n int) []float64 {
	vs := make([][]float64, n)
	sign := make([]float64, n)
	// reflect reflects the columns of x from k on at the hyperplane orthogonal to v.
	reflect := func(x, v []float64, k int) {
		for j := range n {
			driver.Poll()
			dot := 0.0
			for i := k; i < m; i++ {
				dot += float64(v[i] * x[i*n+j])
			}
			for i := k; i < m; i++ {
				x[i*n+j] -= float64(2 * dot * v[i])
			}
		}
	}
	for k := range n {
		v := make([]float64, m)
		norm := 0.0
		for i := k; i < m; i++ {
			v[i] = a[i*n+k]
			norm = math.Hypot(norm, v[i])
		}
		// The sign of R's diagonal avoids cancellation.
		sign[k] = -math.Copysign(1, v[k])
		v[k] -= sign[k] * norm
		length := 0.0
		for i := k; i < m; i++ {
			length = math.Hypot(length, v[i])
		}
		if length > 0 {
			for i := k; i < m; i++ {
				v[i] /= length
			}
		}
		reflect(a, v, k)
		vs[k] = v
	}
	q := make([]float64, m*n)
	for k := range n {
		q[k*n+k] = sign[k]
	}
	for k := n - 1; k >= 0; k-- {
		reflect(q, vs[k], k)
	}
	return q
}

// InitSparse fills the matrix t with normal numbers of mean 0, then sets the fraction
// sparsity of each column, rounded up, to 0. It is torch.nn.init.sparse_, whose std
// is 0.01 by default.
func InitSparse(t *tensor.Tensor, sparsity, std float64) {
	dimensions("init_sparse", t, 2, 2)
	if !(sparsity >= 0 && sparsity <= 1) {
		panic(&tensor.Error{Op: "init_sparse", Why: fmt.Sprintf("sparsity is %v; want a fraction from 0 to 1", sparsity)})
	}
	rows, columns := t.Size(0), t.Size(1)
	zeros := int(math.Ceil(sparsity * float64(rows)))
	InitNormal(t, 0, std)
	x := t.Float32s()
	for j := range columns {
		for _, i := range tensor.Randperm(rows).Ints()[:zeros] {
			x[i*columns+j] = 0
		}
	}
	fill(t, tensor.FromFloat32s(x, rows, columns))
}

// fill copies x to t, which may require a gradient.
func fill(t, x *tensor.Tensor) { tensor.NoGrad(func() { t.Assign(x) }) }

// fans returns the number of inputs of each output of the weight t, and the number of
// outputs of each input.
func fans(op string, t *tensor.Tensor) (in, out int) {
	dimensions(op, t, 2, math.MaxInt)
	field := 1
	for _, n := range t.Shape()[2:] {
		field *= n
	}
	return t.Size(1) * field, t.Size(0) * field
}

// dimensions panics unless t has low to high dimensions.
func dimensions(op string, t *tensor.Tensor, low, high int) {
	if n := t.Dim(); n < low || n > high {
		want := fmt.Sprintf("%d-D to %d-D", low, high)
		switch high {
		case low:
			want = fmt.Sprintf("%d-D", low)
		case math.MaxInt:
			want = fmt.Sprintf("at least %d-D", low)
		}
		panic(&tensor.Error{Op: op, Shapes: [][]int{t.Shape()}, Why: fmt.Sprintf("tensor is %d-D; want %s", n, want)})
	}
}
