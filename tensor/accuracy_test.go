package tensor

import (
	"math"
	"testing"

	"halfnote/internal/testenv"
)

// longResult bounds the relative error of a result over 10 million float32 numbers. The
// trailing comment is the error of PyTorch 2.15 on a CPU for the same numbers, compared with
// its float64 result.
type longResult struct {
	name  string
	bound float64
	f     func(x *Tensor) *Tensor
	want  func(x []float32) float64 // the last element of the result
}

// longResults are scans and reductions of x, uniform on [0, 1).
var longResults = []longResult{
	{"cumsum", 6e-8, func(x *Tensor) *Tensor { return x.Cumsum(0) }, sumOf(identity)},                                                                                             // 6.0e-08
	{"cumsum of columns", 6e-8, func(x *Tensor) *Tensor { return x.Unsqueeze(1).Expand(len10M, 2).Cumsum(0) }, sumOf(identity)},                                                   // 6.0e-08
	{"logcumsumexp", 1.2e-7, func(x *Tensor) *Tensor { return x.LogCumsumExp(0) }, logSumExpOf},                                                                                   // 6.0e-08
	{"sum", 6e-8, func(x *Tensor) *Tensor { return x.Sum() }, sumOf(identity)},                                                                                                    // 1.2e-08
	{"sum of columns", 1.2e-7, func(x *Tensor) *Tensor { return x.Unsqueeze(1).Expand(len10M, 2).Sum(0) }, sumOf(identity)},                                                       // 8.9e-08
	{"nansum", 6e-8, func(x *Tensor) *Tensor { return x.NanSum() }, sumOf(identity)},                                                                                              // 1.2e-08
	{"mean", 6e-8, func(x *Tensor) *Tensor { return x.Mean() }, meanOf},                                                                                                           // 2.0e-08
	{"var", 1.2e-7, func(x *Tensor) *Tensor { return x.Var() }, varOf},                                                                                                            // 3.8e-08
	{"var far from 0", 2e-5, func(x *Tensor) *Tensor { return x.AddScalar(100).Var() }, varOf},                                                                                    // 1.0e-05, from the rounding of the operand
	{"std", 6e-8, func(x *Tensor) *Tensor { return x.Std() }, func(x []float32) float64 { return math.Sqrt(varOf(x)) }},                                                           // 6.2e-09
	{"norm", 6e-8, func(x *Tensor) *Tensor { return x.Norm() }, func(x []float32) float64 { return math.Sqrt(sumOf(squared)(x)) }},                                                // 2.4e-04
	{"norm of order 1", 6e-8, func(x *Tensor) *Tensor { return x.NormWith(1, PNormOptions{}) }, sumOf(identity)},                                                                  // 2.1e-05
	{"norm of order 3", 2.4e-7, func(x *Tensor) *Tensor { return x.NormWith(3, PNormOptions{}) }, func(x []float32) float64 { return math.Cbrt(sumOf(cube)(x)) }},                 // 4.1e-03
	{"logsumexp", 6e-8, func(x *Tensor) *Tensor { return x.LogSumExp() }, logSumExpOf},                                                                                            // 4.4e-08
	{"trapezoid", 1.2e-7, func(x *Tensor) *Tensor { return x.Trapezoid(1, 0) }, func(x []float32) float64 { return sumOf(identity)(x) - (float64(x[0])+float64(x[len(x)-1]))/2 }}, // 5.8e-08
	{"dot", 1e-5, func(x *Tensor) *Tensor { return x.Dot(x) }, sumOf(squared)},                                                                                                    // 1.8e-04
	{"matmul", 1e-5, func(x *Tensor) *Tensor { return x.Reshape(1, -1).MatMul(x.Reshape(-1, 1)) }, sumOf(squared)},                                                                // 5.6e-05
	{"mse_loss", 1.2e-7, func(x *Tensor) *Tensor { return functional{}.MSELoss(x, x.Neg(), lossOptions{}) }, func(x []float32) float64 { return 4 * sumOf(squared)(x) / len10M }}, // 5.2e-08
	{"softmax", 2.4e-7, func(x *Tensor) *Tensor { return x.Softmax(0) }, func(x []float32) float64 { return math.Exp(float64(x[len(x)-1]) - logSumExpOf(x)) }},                    // 3.2e-05
	{"log_softmax", 1.2e-7, func(x *Tensor) *Tensor { return x.LogSoftmax(0) }, func(x []float32) float64 { return float64(x[len(x)-1]) - logSumExpOf(x) }},                       // 2.0e-06
	{"cosine_similarity", 1.2e-7, func(x *Tensor) *Tensor { return x.CosineSimilarity(x, 0, 1e-8) }, func(x []float32) float64 { return 1 }},                                      // 2.9e-04
	{"running_mean", 1.2e-7, runningStatistic(0), meanOf},                                                                                                                         // 3.3e-05
	{"running_var", 1.2e-7, runningStatistic(1), varOf},                                                                                                                           // 1.4e-03
	{"cumprod", 1.2e-7, func(x *Tensor) *Tensor { return nearOne(x).Cumprod(0) }, prodNearOne},                                                                                    // 6.0e-08
	{"prod", 1.2e-7, func(x *Tensor) *Tensor { return nearOne(x).Prod() }, prodNearOne},                                                                                           // 1.7e-02
	{"histc", 0, func(x *Tensor) *Tensor { return x.Histc(1, 0, 1) }, func(x []float32) float64 { return len10M }},                                                                // 0
	{"scatter_add", 1e-4, func(x *Tensor) *Tensor { return Zeros(1).ScatterAdd(0, ZerosAs(Int64, len10M), x) }, sumOf(identity)},                                                  // 2.1e-05
}

const len10M = 10_000_000

// TestLongSums compares scans and reductions of 10 million float32 with float64.
func TestLongSums(t *testing.T) {
	if testing.Short() {
		t.Skip("10 million elements each")
	}
	x := NewGenerator(1).Rand(len10M)
	data := x.Float32s()
	share := testenv.Share(t, 4)
	for i := 0; i < len(longResults); i += share {
		c := longResults[i]
		got := c.f(x).Ravel()
		last, want := got.Select(0, got.Numel()-1).Item(), c.want(data)
		if e := math.Abs(last-want) / math.Abs(want); !(e <= c.bound) {
			t.Errorf("%s of %d elements is %v, want %v: off by %.2g, want %.2g or less", c.name, len10M, last, want, e, c.bound)
		}
	}
	if got := Full(.1, len10M).Cumsum(0).Select(0, len10M-1).Item(); got != 1000000 {
		t.Errorf("the last running sum of %d times 0.1 is %v, want 1000000", len10M, got)
	}
}

// TestLongScans compares each element of a running sum and product.
func TestLongScans(t *testing.T) {
	x := NewGenerator(2).Rand(1_000_000)
	near := nearOne(x)
	sum, product := 0.0, 1.0
	sums, products, factors := x.Cumsum(0).Float32s(), near.Cumprod(0).Float32s(), near.Float32s()
	for i, v := range x.Float32s() {
		sum += float64(v)
		product *= float64(factors[i])
		if sums[i] != float32(sum) || products[i] != float32(product) {
			t.Fatalf("element %d: the sum is %v, the product %v; want %v and %v", i, sums[i], products[i], float32(sum), float32(product))
		}
	}
}

func identity(x float64) float64 { return x }
func squared(x float64) float64  { return x * x }
func cube(x float64) float64     { return x * x * x }

func sumOf(f func(x float64) float64) func(x []float32) float64 {
	return func(x []float32) (sum float64) {
		for _, v := range x {
			sum += f(float64(v))
		}
		return sum
	}
}

func meanOf(x []float32) float64 { return sumOf(identity)(x) / len10M }

func varOf(x []float32) float64 {
	m := meanOf(x)
	return sumOf(func(x float64) float64 { return (x - m) * (x - m) })(x) / (len10M - 1)
}

func logSumExpOf(x []float32) float64 { return math.Log(sumOf(math.Exp)(x)) }

// nearOne returns numbers near 1, whose long product is finite.
func nearOne(x *Tensor) *Tensor { return x.AddScalar(-.5).MulScalar(1e-4).AddScalar(1) }

func prodNearOne(x []float32) float64 {
	y := 1.0
	for _, v := range nearOne(FromFloat32s(x)).Float32s() {
		y *= float64(v)
	}
	return y
}

// runningStatistic returns a running statistic of batch normalisation with one channel.
func runningStatistic(which int) func(x *Tensor) *Tensor {
	return func(x *Tensor) *Tensor {
		mean, variance := Zeros(1), Ones(1)
		BatchNorm(x.Reshape(-1, 1), mean, variance, nil, nil, BatchNormOptions{Training: true, Momentum: 1})
		return []*Tensor{mean, variance}[which]
	}
}
