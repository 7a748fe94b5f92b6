package tensor

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// promotions is testdata/promotion.json, written by testdata/promotion.py.
type promotions struct {
	Letters map[string]string
	Pairs   map[string][]string
	Two     map[string]string `json:"2"`
	Half    map[string]string `json:"0.5"`
	Singles map[string]string
}

// TestPromotionTable compares result dtypes and errors with PyTorch's, for operands of all
// dtypes, with and without dimensions.
func TestPromotionTable(t *testing.T) {
	text, err := os.ReadFile("testdata/promotion.json")
	if err != nil {
		t.Fatal(err)
	}
	var want promotions
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	letters := map[DType]string{}
	for letter, name := range want.Letters {
		for _, d := range DTypes() {
			if d.String() == name {
				letters[d] = letter
			}
		}
	}
	var operands []*Tensor
	for _, shape := range [][]int{{2}, {}} {
		for _, d := range []DType{Bool, Uint8, Int8, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64} {
			operands = append(operands, Ones(shape...).To(d))
		}
	}
	letter := func(f func() *Tensor) string {
		var y *Tensor
		if Try(func() { y = f() }) != nil {
			return "-"
		}
		return letters[y.DType()]
	}
	compared := 0
	check := func(name, got, want string, x ...*Tensor) {
		compared++
		if got != want {
			var in []string
			for _, x := range x {
				in = append(in, x.DType().String()+shapeString(x.shape))
			}
			t.Errorf("%s of %s: got %s, want %s", name, strings.Join(in, ", "), got, want)
		}
	}
	for op, rows := range want.Pairs {
		f := promotedPairs[op]
		if f == nil {
			f, _ = testenv.Method[func(x, y *Tensor) *Tensor](op)
		}
		if f == nil {
			t.Errorf("%s is in the table, but not in this test", op)
			continue
		}
		for i, x := range operands {
			for j, y := range operands {
				check(op, letter(func() *Tensor { return f(x, y) }), rows[i][j:j+1], x, y)
			}
		}
	}
	for c, table := range map[float64]map[string]string{2: want.Two, 0.5: want.Half} {
		for op, row := range table {
			for i, x := range operands {
				check(op+" with a number", letter(func() *Tensor { return promotedNumbers[op](x, c) }), row[i:i+1], x)
			}
		}
	}
	for op, row := range want.Singles {
		f := promotedSingles[op]
		if f == nil {
			f, _ = testenv.Method[func(x *Tensor) *Tensor](op)
		}
		for i, x := range operands {
			if x.dtype == Uint8 && (op == "all" || op == "any") {
				continue // uint8 in torch, for compatibility with code from before torch.bool
			}
			check(op, letter(func() *Tensor { return f(x) }), row[i:i+1], x)
		}
	}
	t.Logf("compared %d results", compared)
}

// promotedPairs, promotedNumbers and promotedSingles are the functions of the table that are not methods of the same name.
var promotedPairs = map[string]func(x, y *Tensor) *Tensor{
	"trunc_divide":  (*Tensor).DivTrunc,
	"pow":           (*Tensor).PowTensor,
	"where":         func(x, y *Tensor) *Tensor { return FromBools([]bool{true, false}).Where(x, y) },
	"cat":           func(x, y *Tensor) *Tensor { return Cat(0, x, y) },
	"stack":         func(x, y *Tensor) *Tensor { return Stack(0, x, y) },
	"logical_and":   (*Tensor).And,
	"result_type":   func(x, y *Tensor) *Tensor { return Zeros().To(ResultType(x, y)) },
	"promote_types": func(x, y *Tensor) *Tensor { return Zeros().To(PromoteTypes(x.dtype, y.dtype)) },
	"addcmul":       func(x, y *Tensor) *Tensor { return x.Addcmul(y, y, 1) },
	"addcdiv":       func(x, y *Tensor) *Tensor { return x.Addcdiv(y, y, 1) },
	"clamp":         func(x, y *Tensor) *Tensor { return x.ClampTensor(y, y) },
	"add_":          func(x, y *Tensor) *Tensor { return x.Clone().AddAssign(y) },
	"sub_":          func(x, y *Tensor) *Tensor { return x.Clone().SubAssign(y) },
	"mul_":          func(x, y *Tensor) *Tensor { return x.Clone().MulAssign(y) },
	"div_":          func(x, y *Tensor) *Tensor { return x.Clone().DivAssign(y) },
	"copy_":         func(x, y *Tensor) *Tensor { return x.Clone().Assign(y) },
}

var promotedNumbers = map[string]func(x *Tensor, c float64) *Tensor{
	"add": (*Tensor).AddScalar, "sub": (*Tensor).SubScalar, "rsub": (*Tensor).RSubScalar, "mul": (*Tensor).MulScalar, "div": (*Tensor).DivScalar,
	"pow": (*Tensor).Pow, "rpow": (*Tensor).RPow, "eq": (*Tensor).EqScalar,
	"clamp": func(x *Tensor, c float64) *Tensor { return x.Clamp(c, c) },
	"add_":  func(x *Tensor, c float64) *Tensor { return x.Clone().AddScalarAssign(c) },
	"mul_":  func(x *Tensor, c float64) *Tensor { return x.Clone().MulScalarAssign(c) },
	"fill_": func(x *Tensor, c float64) *Tensor { return x.Clone().Fill(c) },
}

var promotedSingles = map[string]func(x *Tensor) *Tensor{
	"logit":         func(x *Tensor) *Tensor { return x.Logit(0) },
	"logical_not":   (*Tensor).Not,
	"sum":           func(x *Tensor) *Tensor { return x.Sum() },
	"prod":          func(x *Tensor) *Tensor { return x.Prod() },
	"mean":          func(x *Tensor) *Tensor { return x.Mean() },
	"var":           func(x *Tensor) *Tensor { return x.Var() },
	"logsumexp":     func(x *Tensor) *Tensor { return x.LogSumExp(0) },
	"nansum":        func(x *Tensor) *Tensor { return x.NanSum() },
	"all":           func(x *Tensor) *Tensor { return x.All() },
	"any":           func(x *Tensor) *Tensor { return x.Any() },
	"count_nonzero": func(x *Tensor) *Tensor { return x.CountNonzero() },
	"amax":          func(x *Tensor) *Tensor { return x.Amax() },
	"cumsum":        func(x *Tensor) *Tensor { return x.Cumsum(0) },
	"cumprod":       func(x *Tensor) *Tensor { return x.Cumprod(0) },
	"softmax":       func(x *Tensor) *Tensor { return x.Softmax(0) },
}

func TestPromotion(t *testing.T) {
	vector := func(d DType) *Tensor { return NewAs(d, []float64{1, 2, 3}) }
	scalar := func(d DType) *Tensor { return NewAs(d, []float64{1}).Reshape() }
	for _, c := range []struct {
		number int
		x, y   *Tensor
		want   DType
	}{
		{97, vector(Float16), scalar(Float32), Float16},
		{98, vector(Float16), vector(Float32), Float32},
		{99, vector(Float16), vector(BFloat16), Float32},
		{101, vector(Float16), scalar(Float64), Float16},
		{0, scalar(Float16), scalar(Float32), Float32},
		{0, scalar(BFloat16), vector(Float16), Float16},
		{0, vector(Float32), vector(Float64), Float64},
		{0, vector(BFloat16), vector(BFloat16), BFloat16},
	} {
		for _, f := range []func(x, y *Tensor) *Tensor{(*Tensor).Add, (*Tensor).Mul, (*Tensor).Maximum} {
			if got := f(c.x, c.y).DType(); got != c.want {
				t.Errorf("row %d: %v%v with %v%v: got %v, want %v", c.number, c.x.DType(), c.x.Shape(), c.y.DType(), c.y.Shape(), got, c.want)
			}
			if got := f(c.y, c.x).DType(); got != c.want {
				t.Errorf("row %d, exchanged: got %v, want %v", c.number, got, c.want)
			}
		}
	}
	// The gradient of a promoted operand has the operand's dtype.
	x, y := vector(Float16).RequireGrad(), vector(Float32).RequireGrad()
	x.Mul(y).Sum().Backward()
	if x.Grad().DType() != Float16 || y.Grad().DType() != Float32 {
		t.Errorf("got gradients in %v and %v, want float16 and float32", x.Grad().DType(), y.Grad().DType())
	}
}
