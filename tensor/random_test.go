package tensor

import (
	"encoding/json"
	"hash/crc32"
	"math"
	"os"
	"testing"
)

// TestRandomNumbersMatchTorch compares the bits of random numbers with testdata/generator.json, made by
// testdata/generator.py.
func TestRandomNumbersMatchTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/generator.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Rows []struct {
			Seed  int64
			Draws []struct {
				What string
				N    int
				CRC  uint32
				Last []float64
			}
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	draws := map[string]func(g *Generator, n int) *Tensor{
		"rand":         func(g *Generator, n int) *Tensor { return g.Rand(n) },
		"randn":        func(g *Generator, n int) *Tensor { return g.Randn(n) },
		"normal":       func(g *Generator, n int) *Tensor { return g.Normal(1.3, 0.7, n) },
		"uniform":      func(g *Generator, n int) *Tensor { return g.Uniform(-0.3, 1.1, n) },
		"bernoulli":    func(g *Generator, n int) *Tensor { return g.Bernoulli(0.7, n) },
		"perm":         func(g *Generator, n int) *Tensor { return FromInts(g.Perm(n)) },
		"randint":      func(g *Generator, n int) *Tensor { return g.Randint(-5, n, n) },
		"randint wide": func(g *Generator, n int) *Tensor { return g.Randint(-5, 1<<40, n) },
		"dropout":      func(g *Generator, n int) *Tensor { return g.Bernoulli(1-0.3, n) },
		"linear": func(g *Generator, n int) *Tensor {
			bound := 1 / math.Sqrt(float64(n))
			w, b := g.Uniform(-bound, bound, 3, n), g.Uniform(-bound, bound, 3)
			return FromFloat32s(append(w.Float32s(), b.Float32s()...))
		},
	}
	if len(golden.Rows) == 0 {
		t.Fatal("testdata/generator.json is empty")
	}
	for _, r := range golden.Rows {
		g := NewGenerator(r.Seed)
		for i, d := range r.Draws {
			x := draws[d.What](g, d.N)
			if crc32.ChecksumIEEE(x.bytes()) != d.CRC {
				t.Errorf("seed %d, draw %d, %d of %s: the bits differ; the last are %v, want %v", r.Seed, i, d.N, d.What, x.Float64s()[max(0, x.Numel()-3):], d.Last)
			}
		}
	}
}

func TestManualSeed(t *testing.T) {
	ManualSeed(3)
	a := Randn(5).Float64s()
	ManualSeed(3)
	if b := Randn(5).Float64s(); !equalFloats(a, b) {
		t.Errorf("the same seed: got %v and %v", a, b)
	}
}

// equalFloats reports whether x and y are equal, where NaN equals NaN and -0 differs from 0.
func equalFloats(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && (a[i] == a[i] || b[i] == b[i]) {
			return false
		}
	}
	return true
}

func TestDrawErrors(t *testing.T) {
	for what, f := range map[string]func(){
		"bernoulli: the probability is 1.5; want a number from 0 to 1":       func() { Bernoulli(1.5, 3) },
		"bernoulli: the probability is NaN; want a number from 0 to 1":       func() { Bernoulli(math.NaN(), 3) },
		"randint: low is 3 and high is 3; want low < high":                   func() { Randint(3, 3, 2) },
		"randint: shape (-1,): a size is negative; want sizes of at least 0": func() { Randint(0, 3, -1) },
	} {
		if err := Try(f); err == nil || err.Error() != "tensor: "+what {
			t.Errorf("got %v, want %s", err, what)
		}
	}
	if got := Bernoulli(1, 100).Sum().Item() + Bernoulli(0, 100).Sum().Item(); got != 100 {
		t.Errorf("100 draws with probability 1 and 100 with probability 0: got sum %v", got)
	}
	if got := Randint(math.MinInt, math.MaxInt, 2).Numel(); got != 2 {
		t.Errorf("the widest range: got %d numbers, want 2", got)
	}
}
