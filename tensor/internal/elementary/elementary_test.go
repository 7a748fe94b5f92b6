package elementary

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var unary = map[string]struct {
	f, std func(float64) float64
	ulps   float64 // largest error allowed
}{
	"Acos": {Acos, math.Acos, 2}, "Acosh": {Acosh, math.Acosh, 3}, "Asin": {Asin, math.Asin, 2}, "Asinh": {Asinh, math.Asinh, 2},
	"Atan": {Atan, math.Atan, 1}, "Atanh": {Atanh, math.Atanh, 3}, "Cos": {Cos, math.Cos, 1}, "Cosh": {Cosh, math.Cosh, 2},
	"Erf": {Erf, math.Erf, 1}, "Erfc": {Erfc, math.Erfc, 3}, "Erfinv": {Erfinv, math.Erfinv, 4}, "Exp": {Exp, math.Exp, 1},
	"Exp2": {Exp2, math.Exp2, 1}, "Expm1": {Expm1, math.Expm1, 1.5}, "Log": {Log, math.Log, 1}, "Log10": {Log10, math.Log10, 1},
	"Log1p": {Log1p, math.Log1p, 1}, "Log2": {Log2, math.Log2, 1}, "Sin": {Sin, math.Sin, 1}, "Sinh": {Sinh, math.Sinh, 2},
	"Tan": {Tan, math.Tan, 2}, "Tanh": {Tanh, math.Tanh, 3},
}

var binary = map[string]struct {
	f    func(x, y float64) float64
	ulps float64
}{"Atan2": {Atan2, 1}, "Hypot": {Hypot, 1}, "Pow": {Pow, 1}}

// TestValues compares with the exact values of testdata/values.py.
func TestValues(t *testing.T) {
	text, err := os.ReadFile("testdata/values.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows map[string][][]float64
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for name, list := range rows {
		if _, ok := gammas[name]; ok {
			continue // TestGamma
		}
		base := strings.TrimSuffix(strings.TrimSuffix(name, "Near"), "Large")
		tested[base] = true
		worst := 0.0
		for _, row := range list {
			want := row[len(row)-1]
			got, limit := 0.0, 0.0
			if u, ok := unary[base]; ok {
				got, limit = u.f(row[0]), u.ulps
			} else {
				got, limit = binary[base].f(row[0], row[1]), binary[base].ulps
			}
			off := ulps(got, want)
			worst = max(worst, off)
			if !(off <= limit) {
				t.Errorf("%s%v: got %v, want %v: off by %v units in the last place", name, row[:len(row)-1], got, want, off)
			}
		}
		t.Logf("%s: at most %v units in the last place off the rounded value", name, worst)
	}
	for name := range unary {
		if !tested[name] {
			t.Errorf("%s: testdata/values.json has no values", name)
		}
	}
	for name := range binary {
		if !tested[name] {
			t.Errorf("%s: testdata/values.json has no values", name)
		}
	}
}

// ulps returns the distance between got and want in units of want's last place.
func ulps(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
}

// limits holds arguments whose values are exact and the same as in package math.
var limits = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN()}

func TestLimits(t *testing.T) {
	same := func(got, want float64) bool {
		return got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want || ulps(got, want) <= 2
	}
	for name, u := range unary {
		for _, x := range limits {
			if got, want := u.f(x), u.std(x); !same(got, want) {
				t.Errorf("%s(%v): got %v, want %v", name, x, got, want)
			}
		}
	}
	for _, x := range limits {
		for _, y := range append(limits, 2, -3, 0.5) {
			for _, c := range []struct {
				name   string
				f, std func(x, y float64) float64
			}{{"Pow", Pow, math.Pow}, {"Atan2", Atan2, math.Atan2}, {"Hypot", Hypot, math.Hypot}} {
				if got, want := c.f(x, y), c.std(x, y); !same(got, want) {
					t.Errorf("%s(%v, %v): got %v, want %v", c.name, x, y, got, want)
				}
			}
		}
	}
}

// TestBits checks that the results of all functions at many arguments have the bits that
// were computed on amd64.
func TestBits(t *testing.T) {
	const want = "99b262d1305ed4f6"
	r := rand.New(rand.NewPCG(1, 2))
	arguments := slices.Clone(limits)
	for range 20000 {
		arguments = append(arguments, r.NormFloat64()*math.Ldexp(1, r.IntN(40)-25))
	}
	h := fnv.New64a()
	note := func(y float64) {
		if y != y {
			y = math.NaN()
		}
		bits := math.Float64bits(y)
		for i := range 8 {
			h.Write([]byte{byte(bits >> (8 * i))})
		}
	}
	names := make([]string, 0, len(unary))
	for name := range unary {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, x := range arguments {
			note(unary[name].f(x))
		}
	}
	for i, x := range arguments {
		y := arguments[(i*7+3)%len(arguments)]
		note(Pow(math.Abs(x), y))
		note(Atan2(x, y))
		note(Hypot(x, y))
	}
	if got := fmt.Sprintf("%x", h.Sum64()); got != want {
		t.Errorf("hash of the bits: got %s, want %s", got, want)
	}
}

func BenchmarkFunctions(b *testing.B) {
	x := make([]float64, 1024)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for _, name := range []string{"Exp", "Log", "Tanh", "Erf", "Sin", "Expm1"} {
		u := unary[name]
		for _, f := range []struct {
			name string
			f    func(float64) float64
		}{{"here", u.f}, {"math", u.std}} {
			b.Run(name+"/"+f.name, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					f.f(x[i&1023])
				}
			})
		}
	}
}
