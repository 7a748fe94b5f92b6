package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

var dtypes = []DType{Float16, BFloat16, Float32, Float64}

// tolerance is the permitted relative error: one rounding to d of float32 arithmetic on a few
// hundred elements.
func tolerance(d DType) float64 {
	if d == Float64 {
		return 1e-13
	}
	return FInfo(d).Eps*0.51 + 2e-6
}

// sample returns n numbers of several magnitudes, positive and negative.
func sample(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Sin(float64(i)*1.7+0.3) * math.Ldexp(1, i%5-2)
	}
	return out
}

func compare(t *testing.T, name string, got *Tensor, shape []int, want []float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), shape) {
		t.Errorf("%s: shape %v, want %v", name, got.Shape(), shape)
		return
	}
	scale := 0.0
	for _, x := range want {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			scale = max(scale, math.Abs(x))
		}
	}
	for i, g := range got.Float64s() {
		w := want[i]
		if g == w || g != g && w != w {
			continue
		}
		if !(math.Abs(g-w) <= tolerance(got.DType())*max(math.Abs(w), scale/8)) {
			t.Errorf("%s, %v: element %d: got %v, want %v", name, got.DType(), i, g, w)
			return
		}
	}
}

// layouts returns tensors of the same elements, (3, 5): contiguous, transposed, cut out of a
// larger tensor, and repeated.
func layouts(d DType, data []float64) map[string]*Tensor {
	base := NewAs(d, data, 3, 5)
	large := ZerosLike(NewAs(d, make([]float64, 5*9), 5, 9))
	cut := large.Slice(0, 1, 4).Slice(1, 2, 7)
	cut.Assign(base)
	return map[string]*Tensor{
		"contiguous": base,
		"transposed": base.T().Clone().T(),
		"cut out":    cut,
	}
}

func TestUnary(t *testing.T) {
	inf := math.Inf(1)
	data := append(sample(9), 0, math.Copysign(0, -1), inf, -inf, math.NaN(), 0.5)
	relu := func(x float64) float64 {
		if x <= 0 {
			return 0
		}
		return x
	}
	for _, c := range []struct {
		name string
		f    func(*Tensor) *Tensor
		want func(float64) float64
	}{
		{"abs", (*Tensor).Abs, math.Abs},
		{"add scalar", func(x *Tensor) *Tensor { return x.AddScalar(0.3) }, func(x float64) float64 { return x + 0.3 }},
		{"erf", (*Tensor).Erf, math.Erf},
		{"exp", (*Tensor).Exp, math.Exp},
		{"gelu", (*Tensor).GELU, func(x float64) float64 { return x * (0.5 + 0.5*math.Erf(x*math.Sqrt2/2)) }},
		{"log", (*Tensor).Log, math.Log},
		{"log1p", (*Tensor).Log1p, math.Log1p},
		{"neg", (*Tensor).Neg, func(x float64) float64 { return -x }},
		{"pow 0.5", func(x *Tensor) *Tensor { return x.Pow(0.5) }, math.Sqrt},
		{"pow 2", func(x *Tensor) *Tensor { return x.Pow(2) }, func(x float64) float64 { return x * x }},
		{"pow -1.5", func(x *Tensor) *Tensor { return x.Pow(-1.5) }, func(x float64) float64 { return math.Pow(x, -1.5) }},
		{"reciprocal", (*Tensor).Reciprocal, func(x float64) float64 { return 1 / x }},
		{"relu", (*Tensor).ReLU, relu},
		{"scale", func(x *Tensor) *Tensor { return x.MulScalar(-1.7) }, func(x float64) float64 { return -1.7 * x }},
		{"sigmoid", (*Tensor).Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{"sqrt", (*Tensor).Sqrt, math.Sqrt},
		{"step", (*Tensor).Step, func(x float64) float64 {
			if x > 0 {
				return 1
			}
			return 0
		}},
		{"tanh", (*Tensor).Tanh, math.Tanh},
	} {
		for _, d := range dtypes {
			for layout, x := range layouts(d, data) {
				var want []float64
				for _, v := range x.Float64s() {
					want = append(want, c.want(v))
				}
				compare(t, c.name+", "+layout, c.f(x), []int{3, 5}, want)
			}
		}
	}
}

func TestBinary(t *testing.T) {
	a, b := sample(15), append(sample(20)[6:], 0)
	for _, c := range []struct {
		name string
		f    func(x, y *Tensor) *Tensor
		want func(x, y float64) float64
	}{
		{"add", (*Tensor).Add, func(x, y float64) float64 { return x + y }},
		{"div", (*Tensor).Div, func(x, y float64) float64 { return x / y }},
		{"maximum", (*Tensor).Maximum, func(x, y float64) float64 { return max(x, y) }},
		{"minimum", (*Tensor).Minimum, func(x, y float64) float64 { return min(x, y) }},
		{"mul", (*Tensor).Mul, func(x, y float64) float64 { return x * y }},
		{"sub", (*Tensor).Sub, func(x, y float64) float64 { return x - y }},
		{"where", func(x, y *Tensor) *Tensor { return x.Step().Where(x, y) }, func(x, y float64) float64 {
			if x > 0 {
				return x
			}
			return y
		}},
	} {
		for _, d := range dtypes {
			for lx, x := range layouts(d, a) {
				for ly, y := range layouts(d, b) {
					var want, row, column []float64
					xs, ys := x.Float64s(), y.Float64s()
					for i := range xs {
						want = append(want, c.want(xs[i], ys[i]))
						row = append(row, c.want(xs[i], ys[5+i%5]))
						column = append(column, c.want(xs[i], ys[i/5*5+2]))
					}
					name := fmt.Sprintf("%s, %s with %s", c.name, lx, ly)
					compare(t, name, c.f(x, y), []int{3, 5}, want)
					compare(t, name+" row", c.f(x, y.Select(0, 1)), []int{3, 5}, row)
					compare(t, name+" column", c.f(x, y.Slice(1, 2, 3)), []int{3, 5}, column)
				}
			}
		}
	}
	h := NewAs(Float16, []float64{1, 2})
	if got := New([]float64{1e-30, 0}).Where(h, h.Neg()); got.DType() != Float16 || !equalFloats(got.Float64s(), []float64{1, -2}) {
		t.Errorf("Where with a condition of another dtype: got %v", got)
	}
	if got := Zeros(0, 3).Add(Ones(1)).Shape(); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("sum without elements: got shape %v", got)
	}
	if x := Full(math.NaN(), 1); !math.IsNaN(x.Maximum(Ones(1)).Item()) || !math.IsNaN(Ones(1).Minimum(x).Item()) {
		t.Error("maximum or minimum lost a NaN")
	}
}

func TestReductions(t *testing.T) {
	type reduction struct {
		name string
		f    func(x *Tensor, dims ...int) *Tensor
		want func(v []float64) float64
	}
	total := func(v []float64) (s float64) {
		for _, x := range v {
			s += x
		}
		return s
	}
	for _, c := range []reduction{
		{"amax", (*Tensor).Amax, slices.Max[[]float64]},
		{"amin", (*Tensor).Amin, slices.Min[[]float64]},
		{"mean", (*Tensor).Mean, func(v []float64) float64 { return total(v) / float64(len(v)) }},
		{"norm", (*Tensor).Norm, func(v []float64) float64 {
			s := 0.0
			for _, x := range v {
				s += x * x
			}
			return math.Sqrt(s)
		}},
		{"sum", (*Tensor).Sum, total},
	} {
		for _, d := range dtypes {
			for layout, x := range layouts(d, sample(15)) {
				v := x.Float64s()
				var rows, columns []float64
				for i := range 3 {
					rows = append(rows, c.want(v[5*i:5*i+5]))
				}
				for j := range 5 {
					columns = append(columns, c.want([]float64{v[j], v[5+j], v[10+j]}))
				}
				name := c.name + ", " + layout
				compare(t, name, c.f(x), []int{}, []float64{c.want(v)})
				compare(t, name+" over rows", c.f(x, 0), []int{5}, columns)
				compare(t, name+" over columns", c.f(x, -1), []int{3}, rows)
				compare(t, name+" over both", c.f(x, 1, 0), []int{}, []float64{c.want(v)})
			}
		}
		if c.name == "amax" || c.name == "amin" {
			if err := Try(func() { c.f(Zeros(0, 2)) }); err == nil {
				t.Errorf("%s without elements: got no error", c.name)
			}
		}
	}
	compare(t, "sum of a scalar", Full(3).Sum(), []int{}, []float64{3})
	compare(t, "sum of nothing", Zeros(0, 2).Sum(0), []int{2}, []float64{0, 0})
	compare(t, "sum, kept", Ones(2, 3).KeepDim().Sum(1), []int{2, 1}, []float64{3, 3})
	compare(t, "mean, kept", Ones(2, 3).KeepDim().Mean(-1), []int{2, 1}, []float64{1, 1})
	if got := New([]float64{1, 5, 5, 2, -1, -3}, 2, 3).Argmax(1).Ints(); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("argmax over columns: got %v, want [1 0]", got)
	}
	if got := New([]float64{1, 5, math.NaN(), 2, 7, -3}, 2, 3).Argmax(0).Ints(); !slices.Equal(got, []int{1, 1, 0}) {
		t.Errorf("argmax over rows: got %v, want [1 1 0]", got)
	}
}

func TestSoftmax(t *testing.T) {
	for _, d := range dtypes {
		for layout, x := range layouts(d, append(sample(13), math.Inf(-1), 90)) {
			for _, dim := range []int{0, 1} {
				v := x.Float64s()
				want, wantLog := make([]float64, 15), make([]float64, 15)
				for i := range v {
					s, row := 0.0, i/5
					most := math.Inf(-1)
					each := func(f func(float64)) {
						if dim == 1 {
							for j := range 5 {
								f(v[5*row+j])
							}
						} else {
							for j := range 3 {
								f(v[5*j+i%5])
							}
						}
					}
					each(func(x float64) { most = max(most, x) })
					each(func(x float64) { s += math.Exp(x - most) })
					want[i] = math.Exp(v[i]-most) / s
					wantLog[i] = v[i] - most - math.Log(s)
				}
				compare(t, fmt.Sprintf("softmax %d, %s", dim, layout), x.Softmax(dim), []int{3, 5}, want)
				compare(t, fmt.Sprintf("log_softmax %d, %s", dim, layout), x.LogSoftmax(dim), []int{3, 5}, wantLog)
			}
		}
	}
}

func TestLosses(t *testing.T) {
	for _, d := range dtypes {
		x, y := layouts(d, sample(15))["transposed"], layouts(d, sample(30)[15:])["cut out"]
		squares, sizes := 0.0, 0.0
		for i, v := range x.Float64s() {
			e := v - y.Float64s()[i]
			squares += e * e / 15
			sizes += math.Abs(e) / 15
		}
		compare(t, "mse_loss", functional{}.MSELoss(x, y, lossOptions{}), []int{}, []float64{squares})
		compare(t, "l1_loss", functional{}.L1Loss(x, y, lossOptions{}), []int{}, []float64{sizes})
	}
}

func TestMatMul(t *testing.T) {
	product := func(x, y *Tensor, m, k, n int) []float64 {
		a, b, out := x.Float64s(), y.Float64s(), make([]float64, m*n)
		for i := range m {
			for j := range n {
				for l := range k {
					out[i*n+j] += a[i*k+l] * b[l*n+j]
				}
			}
		}
		return out
	}
	for _, d := range dtypes {
		for _, s := range [][3]int{{1, 1, 1}, {2, 3, 4}, {5, 7, 1}, {1, 65, 9}, {17, 33, 6}, {4, 0, 3}, {0, 2, 2}} {
			m, k, n := s[0], s[1], s[2]
			x, y := NewAs(d, sample(m*k), m, k), NewAs(d, sample(k*n + 3)[3:], k, n)
			want := product(x, y, m, k, n)
			compare(t, fmt.Sprint("matmul ", s), x.MatMul(y), []int{m, n}, want)
			compare(t, fmt.Sprint("matmul, transposed operands ", s), x.T().Clone().T().MatMul(y.T().Clone().T()), []int{m, n}, want)
			b := NewAs(d, sample(n + 1)[1:], n)
			for i := range want {
				want[i] += b.Float64s()[i%n]
			}
			compare(t, fmt.Sprint("linear ", s), Linear(x, y.T(), b), []int{m, n}, want)
		}
		// Batches: (2, 1, 3, 4) with (5, 4, 2).
		x, y := NewAs(d, sample(24), 2, 1, 3, 4), NewAs(d, sample(40), 5, 4, 2)
		got := x.MatMul(y)
		if !slices.Equal(got.Shape(), []int{2, 5, 3, 2}) {
			t.Fatalf("batches: got shape %v", got.Shape())
		}
		for i := range 2 {
			for j := range 5 {
				compare(t, "a batch", got.Select(0, i).Select(0, j), []int{3, 2}, product(x.Select(0, i).Select(0, 0), y.Select(0, j), 3, 4, 2))
			}
		}
		// Vectors.
		v := NewAs(d, sample(4), 4)
		compare(t, "vector, matrices", v.MatMul(y).Select(0, 3), []int{2}, product(v, y.Select(0, 3), 1, 4, 2))
		compare(t, "matrices, vector", y.Transpose(1, 2).MatMul(v).Select(0, 3), []int{2}, product(v, y.Select(0, 3), 1, 4, 2))
		compare(t, "vectors", v.MatMul(v), []int{}, product(v, v, 1, 4, 1))
		compare(t, "matrices with one", NewAs(d, sample(24), 2, 3, 4).MatMul(y.Select(0, 0)).Select(0, 1), []int{3, 2}, product(NewAs(d, sample(24)[12:], 3, 4), y.Select(0, 0), 3, 4, 2))
	}
}

func TestClose(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, y         []float64
		equal, close bool
	}{
		{[]float64{1, 2}, []float64{1, 2}, true, true},
		{[]float64{1, 2}, []float64{1, 2.001}, false, true},
		{[]float64{1, 2}, []float64{1, 3}, false, false},
		{[]float64{1, 2}, []float64{1}, false, false},
		{[]float64{inf}, []float64{inf}, true, true},
		{[]float64{5}, []float64{inf}, false, false},
		{[]float64{nan}, []float64{nan}, false, false},
		{nil, nil, true, true},
	} {
		x, y := New(c.x), New(c.y)
		if Equal(x, y) != c.equal || AllClose(x, y, 1e-2, 0) != c.close {
			t.Errorf("%v and %v: equal %v, close %v; want %v, %v", c.x, c.y, !c.equal, !c.close, c.equal, c.close)
		}
	}
}
