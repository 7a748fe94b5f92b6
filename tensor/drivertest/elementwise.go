package drivertest

import (
	"math"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// args are the operands of one element and the parameters, in the type of the computation;
// round rounds to that type.
type args struct {
	x, y, z, alpha, beta float64
	round                func(float64) float64
}

// pointwise is the definition of an elementwise code. slack is the error allowed, in units in
// the last place of the type of the computation.
type pointwise struct {
	operands int
	slack    float64
	want     func(a args) float64
}

// Rounding a float64 result to float32 is correct for products, sums, quotients and roots of float32, so
// each rounded step is the correct float32 result.
var arithmetic = map[driver.Code]pointwise{
	driver.Affine: {1, 0, func(a args) float64 {
		if a.beta == 0 {
			return a.alpha * a.x
		}
		return a.round(a.alpha*a.x) + a.beta
	}},
	driver.Neg:   {1, 0, func(a args) float64 { return -a.x }},
	driver.Abs:   {1, 0, func(a args) float64 { return math.Abs(a.x) }},
	driver.Exp:   {1, 4, func(a args) float64 { return math.Exp(a.x) }},
	driver.Log:   {1, 4, func(a args) float64 { return log(a.x) }},
	driver.Log1p: {1, 4, func(a args) float64 { return math.Log1p(a.x) }},
	driver.Sqrt:  {1, 0, func(a args) float64 { return math.Sqrt(a.x) }},
	driver.Tanh:  {1, 4, func(a args) float64 { return math.Tanh(a.x) }},
	driver.Erf:   {1, 4, func(a args) float64 { return math.Erf(a.x) }},
	driver.Sigmoid: {1, 4, func(a args) float64 {
		if a.x < 0 { // exp(-x) may overflow
			return math.Exp(a.x) / (1 + math.Exp(a.x))
		}
		return 1 / (1 + math.Exp(-a.x))
	}},
	driver.Relu: {1, 0, func(a args) float64 {
		if a.x <= 0 {
			return 0
		}
		return a.x
	}},
	driver.Step:       {1, 0, func(a args) float64 { return truth(a.x > 0) }},
	driver.Reciprocal: {1, 0, func(a args) float64 { return 1 / a.x }},
	driver.Pow: {1, 16, func(a args) float64 {
		switch a.alpha {
		case 0.5:
			return math.Sqrt(a.x)
		case 3:
			return a.round(a.x*a.x) * a.x
		}
		return pow(a.x, a.alpha)
	}},
	driver.Add:       {2, 0, func(a args) float64 { return a.x + a.y }},
	driver.AddScaled: {2, 0, func(a args) float64 { return a.x + a.round(a.alpha*a.y) }},
	driver.Sub:       {2, 0, func(a args) float64 { return a.x - a.y }},
	driver.Mul:       {2, 0, func(a args) float64 { return a.x * a.y }},
	driver.Div:       {2, 0, func(a args) float64 { return a.x / a.y }},
	driver.Max:       {2, 0, func(a args) float64 { return max(a.x, a.y) }},
	driver.Min:       {2, 0, func(a args) float64 { return min(a.x, a.y) }},
	driver.Equal:     {2, 0, func(a args) float64 { return truth(a.x == a.y) }},
	driver.Less:      {2, 0, func(a args) float64 { return truth(a.x < a.y) }},
	driver.LessEqual: {2, 0, func(a args) float64 { return truth(a.x <= a.y) }},
	driver.ReluGrad: {2, 0, func(a args) float64 {
		if a.x <= 0 {
			return 0
		}
		return a.y
	}},
	driver.TanhGrad:    {2, 0, func(a args) float64 { return a.y * a.round(1-a.round(a.x*a.x)) }},
	driver.SigmoidGrad: {2, 0, func(a args) float64 { return a.y * a.round(a.round(1-a.x)*a.x) }},
	driver.Where: {3, 0, func(a args) float64 {
		if a.x != 0 {
			return a.y
		}
		return a.z
	}},
}

// offered reports whether b offers the code. It fails if b does not offer a required one.
func (p pointwise) offered(b driver.Backend, code driver.Code, d driver.DType) bool {
	return code < driver.Optional || b.Offers(code, d, slices.Repeat([]driver.DType{d}, p.operands)...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// testWideDifference checks [driver.Sub] of halves with a float32 result.
func testWideDifference(t *testing.T, b driver.Backend) {
	for _, d := range []driver.DType{driver.Float16, driver.BFloat16} {
		if !b.Offers(driver.Sub, driver.Float32, d, d) {
			continue
		}
		for i, shape := range shapes {
			for j, s := range layoutsOf(shape) {
				src := []driver.View{
					place(t, b, d, shape, s, random(7)),
					place(t, b, d, shape, strategies[(int(s)+1)%len(strategies)], random(8)),
				}
				dst := newView(t, b, driver.Float32, shape, []strategy{dense, gaps, reversed}[(i+j)%3])
				checkPointwise(t, b, driver.Kernel{Code: driver.Sub}, pointwises[driver.Sub], dst, src, name(driver.Sub, d, shape, s, "to float32"))
			}
		}
	}
}

// testElementwise checks every code with different shapes, layouts and shared operands.
func testElementwise(t *testing.T, b driver.Backend) {
	testWideDifference(t, b)
	for code, p := range pointwises {
		for _, d := range dtypes {
			if !p.offered(b, code, d) {
				continue
			}
			for i, shape := range shapes {
				if (i+int(code)+int(d))%brief(b, 12) != 0 {
					continue
				}
				if _, ok := functions[code]; ok && slices.Max(append(shape, 0)) > 100 {
					continue // their loops are the same as those of arithmetic
				}
				for _, s := range layoutsOf(shape) {
					k := driver.Kernel{Code: code, Alpha: -1.7, Beta: 0.3}
					if i%2 == 1 {
						k = driver.Kernel{Code: code, Alpha: 3}
					}
					src := make([]driver.View, p.operands)
					for j := range src {
						src[j] = place(t, b, d, shape, strategies[(int(s)+j)%len(strategies)], random(100003+j))
					}
					to := []strategy{dense, gaps, reversed}[i%3]
					dst := newView(t, b, d, shape, to)
					checkPointwise(t, b, k, p, dst, src, name(code, d, shape, s))
					if to == gaps {
						checkHoles(t, b, dst)
					}
					for j := range src { // in place
						if s := src[j]; s.Len() > 0 && distinct(s) {
							checkPointwise(t, b, k, p, s, src, name(code, d, shape, "in place of operand", j))
							break
						}
					}
				}
			}
		}
	}
}

func distinct(v driver.View) bool {
	for i, n := range v.Shape {
		if n > 1 && v.Stride[i] == 0 {
			return false
		}
	}
	return true
}

// specials are special arguments of functions.
var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, 2, 0.5, -3, math.Inf(1), math.Inf(-1), math.NaN(),
	0x1p-24, -0x1p-24, 0x1p-14, 0x1p-126, 0x1p-149, -0x1p-133, 0x1p-1074, 65504, -65504, 65519, 0x1.fep127, 0x1.fffffep127,
	2048, 2049, 88.7, -88.7, 104, -104, 11.0901, -17.3, 709, -745, 1e-5, 256, 300,
}

func testSpecialValues(t *testing.T, b driver.Backend) {
	n := len(specials)
	x, y, z := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := range x {
		x[i], y[i], z[i] = specials[i/n], specials[i%n], float64(i)
	}
	for code, p := range pointwises {
		for _, d := range dtypes {
			if !p.offered(b, code, d) {
				continue
			}
			for _, k := range []driver.Kernel{
				{Code: code, Alpha: 1}, {Code: code, Alpha: 0.5}, {Code: code, Alpha: 2}, {Code: code, Alpha: -1, Beta: 1},
				{Code: code, Alpha: 70000}, {Code: code, Alpha: 1e-3, Beta: -1e-3}, {Code: code}, {Code: code, Alpha: math.Inf(1)},
			} {
				var src []driver.View
				for _, list := range [][]float64{x, y, z}[:p.operands] {
					src = append(src, place(t, b, d, []int{n, n}, dense, list))
				}
				checkPointwise(t, b, k, p, newView(t, b, d, []int{n, n}, dense), src, name(code, d, k.Alpha, k.Beta))
			}
		}
	}
}

func testAllHalves(t *testing.T, b driver.Backend) {
	for code, p := range pointwises {
		if p.operands > 1 {
			continue
		}
		for _, d := range []driver.DType{driver.Float16, driver.BFloat16} {
			if !p.offered(b, code, d) || (int(code)+int(d))%brief(b, 10) != 0 {
				continue
			}
			x := allHalves(d)
			src := []driver.View{place(t, b, d, []int{len(x)}, dense, x)}
			dst := newView(t, b, d, []int{len(x)}, dense)
			k := driver.Kernel{Code: code, Alpha: 1.5, Beta: 0.25}
			checkPointwise(t, b, k, p, dst, src, name(code, d))
			// If the computation is at least as wide as float32, few results are not the nearest value.
			missed := 0
			for i, got := range values(b, dst) {
				if want := round(d, p.of(d, k, x[i], 0, 0)); !equal(got, want) {
					missed++
				}
			}
			if missed > len(x)/1000 {
				t.Errorf("%s: %d of %d results are not the nearest value; want at most one in a thousand", name(code, d), missed, len(x))
			}
		}
	}
}

// of returns the value of the code, computed in the wide type of d.
func (p pointwise) of(d driver.DType, k driver.Kernel, x, y, z float64) float64 {
	to := func(v float64) float64 { return round(wide(d), v) }
	return to(p.want(args{x, y, z, to(k.Alpha), to(k.Beta), to}))
}

// checkPointwise runs k and compares each element of dst with the definition.
func checkPointwise(t *testing.T, b driver.Backend, k driver.Kernel, p pointwise, dst driver.View, src []driver.View, what string) {
	t.Helper()
	var in [3][]float64
	for i := range in {
		in[i] = make([]float64, dst.Len())
		if i < len(src) {
			in[i] = values(b, src[i])
		}
	}
	b.Run(k, dst, src...)
	d := dst.DType
	for i, got := range values(b, dst) {
		x, y, z := in[0][i], in[1][i], in[2][i]
		want := p.of(d, k, x, y, z)
		if equal(got, round(d, want)) {
			continue
		}
		slack := p.slack * ulp(wide(d), want)
		lo, hi := round(d, want-slack), round(d, want+slack)
		if p.slack > 0 && got >= lo && got <= hi {
			continue
		}
		t.Errorf("%s: element %d: %g, %g, %g with Alpha %g, Beta %g: got %g, want %g", what, i, x, y, z, k.Alpha, k.Beta, got, round(d, want))
		return
	}
}

// log and pow also handle subnormal numbers correctly; package math on amd64 does not.

func log(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

func pow(x, y float64) float64 {
	if a := math.Abs(x); a > 0 && a < 0x1p-1022 {
		return math.Pow(x*0x1p54, y) * math.Pow(2, -54*y)
	}
	return math.Pow(x, y)
}
