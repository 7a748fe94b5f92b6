package elementary

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// gammas holds the functions related to the gamma function, and the error allowed in units in
// the last place. Digamma crosses 0 between its poles, where it subtracts rounded numbers.
var gammas = map[string]struct {
	f    func(row []float64) float64
	ulps float64
}{
	"Lgamma":    {func(row []float64) float64 { return Lgamma(row[0]) }, 2},
	"Digamma":   {func(row []float64) float64 { return Digamma(row[0]) }, 14},
	"Polygamma": {func(row []float64) float64 { return Polygamma(int(row[0]), row[1]) }, 2},
}

// TestGamma compares with the exact values of testdata/values.py.
func TestGamma(t *testing.T) {
	text, err := os.ReadFile("testdata/values.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows map[string][][]float64
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	for name, g := range gammas {
		worst := 0.0
		for _, row := range rows[name] {
			want := row[len(row)-1]
			got := g.f(row)
			off := ulps(got, want)
			worst = max(worst, off)
			if !(off <= g.ulps) {
				t.Errorf("%s%v: got %v, want %v: off by %v units in the last place", name, row[:len(row)-1], got, want, off)
			}
		}
		if len(rows[name]) < 500 {
			t.Errorf("%s: got %d values in testdata/values.json, want at least 500", name, len(rows[name]))
		}
		t.Logf("%s: at most %v units in the last place off the rounded value", name, worst)
	}
}

func TestGammaLimits(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		x                                     float64
		lgamma, digamma, trigamma, tetragamma float64
	}{
		{0, inf, -inf, inf, -inf}, {zero, inf, inf, inf, -inf}, {-1, inf, nan, inf, -inf}, {-2, inf, nan, inf, -inf}, {-1e17, inf, nan, inf, -inf},
		{inf, inf, inf, 0, 0}, {-inf, inf, nan, nan, nan}, {nan, nan, nan, nan, nan}, {1e306, inf, Log(1e306), 1e-306, 0},
		{1, 0, oneLessEuler - 1, math.Pi * math.Pi / 6, -2.404113806319188570800}, {2, 0, oneLessEuler, math.Pi*math.Pi/6 - 1, -0.404113806319188570800},
	} {
		for name, v := range map[string][2]float64{
			"Lgamma": {Lgamma(c.x), c.lgamma}, "Digamma": {Digamma(c.x), c.digamma},
			"Polygamma 1": {Polygamma(1, c.x), c.trigamma}, "Polygamma 2": {Polygamma(2, c.x), c.tetragamma},
		} {
			if !(ulps(v[0], v[1]) <= 2) && !(v[0] != v[0] && v[1] != v[1]) {
				t.Errorf("%s of %v: got %v, want %v", name, c.x, v[0], v[1])
			}
		}
	}
}

// TestGammaBits checks that the results at many arguments have the same bits on every
// processor.
func TestGammaBits(t *testing.T) {
	const want = "76edc6834a4d0040"
	r := rand.New(rand.NewPCG(3, 4))
	h := fnv.New64a()
	for range 20000 {
		x := (r.Float64() - 0.5) * math.Ldexp(1, r.IntN(40)-25)
		for _, y := range []float64{Lgamma(x), Digamma(x), Polygamma(1, x), Polygamma(4, x)} {
			fmt.Fprintf(h, "%x ", math.Float64bits(y))
		}
	}
	if got := fmt.Sprintf("%x", h.Sum64()); got != want {
		t.Errorf("hash of the bits: got %s, want %s", got, want)
	}
}
