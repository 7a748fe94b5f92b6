package experiment_test

import (
	"math"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/amp/experiment"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
)

// normal returns the fraction of normal numbers below x.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// TestLossScaleSweep compares fractions of zeros and subnormal numbers with the formula of the log-normal
// distribution, and with the fractions that numpy and torch gave for a million values.
func TestLossScaleSweep(t *testing.T) {
	const median, sigma = 1e-7, 2.5
	scales := []float64{1, 8, 128, 1024, 65536}
	measured := []float64{0.314, 0.094, 0.0077, 0.0006, 0}
	subnormal := []float64{0.68, 0.86, 0.73, 0.42, 0.03}
	r := experiment.LossScaleSweep(experiment.Lognormal(1_000_000, median, sigma, 1), scales...)
	for i, row := range r.Scales {
		below := func(x float64) float64 { return normal(math.Log(x/row.Scale/median) / sigma) }
		near(t, "zeros by formula", row.Zeros, below(0x1p-25), 0.002)
		near(t, "subnormals by formula", row.Subnormals, below(0x1p-14)-below(0x1p-25), 0.002)
		near(t, "zeros", row.Zeros, measured[i], 0.002)
		near(t, "subnormals", row.Subnormals, subnormal[i], 0.006)
	}
	if top := experiment.LossScaleSweep(tensor.New([]float64{1, 2}), 16384, 32768).Scales; top[0].Infinities != 0 || top[1].Infinities != 0.5 {
		t.Errorf("gradients 1 and 2: got %+v", top)
	}
	shows(t, r, "65536")
}

func TestGradientHistogram(t *testing.T) {
	tensor.ManualSeed(1)
	net := models.NewMLP([]int{32, 64, 64, 10})
	x, y := tensor.Randn(64, 32), tensor.Randint(0, 10, 64)
	r := experiment.GradientHistogram(net, func() { nn.CrossEntropy(net.Forward(x), y).Backward() })
	for _, h := range []experiment.Histogram{r.Activations, r.Weights} {
		near(t, "all shares", h.Zeros+h.Irrelevant+h.Rescued+h.Subnormal+h.Normal+h.Overflow, 1, 1e-6)
	}
	if n := nn.NumParameters(net); len(r.Weights.Values) != n {
		t.Errorf("got %d gradients of parameters, want %d", len(r.Weights.Values), n)
	}
	if r.Activations.Zeros < 0.1 { // ReLU
		t.Errorf("got %v", r)
	}
	// With the loss times 2^-30 a scale of 8 does not help.
	small := experiment.GradientHistogram(net, func() { nn.CrossEntropy(net.Forward(x), y).MulScalar(0x1p-30).Backward() })
	if small.Weights.Irrelevant < 0.9 || small.Weights.Lost < 0.9 {
		t.Errorf("got %v", small)
	}
	shows(t, r, "2^-27")

	// A run in float16 finds the gradients that it flushed itself: about as many as float32's histogram says it would.
	loss := func(p amp.Policy) func() {
		return func() {
			var loss *tensor.Tensor
			amp.Autocast(p, func() { loss = nn.CrossEntropy(net.Forward(x), y).MulScalar(0x1p-13) })
			loss.Backward()
		}
	}
	wide, half := experiment.GradientHistogram(net, loss(amp.Off)), experiment.GradientHistogram(net, loss(amp.Float16))
	for _, h := range []experiment.Histogram{half.Activations, half.Weights} {
		near(t, "all shares in float16", h.Zeros+h.Flushed+h.Irrelevant+h.Rescued+h.Subnormal+h.Normal+h.Overflow, 1, 1e-6)
	}
	near(t, "lost gradients of parameters", half.Weights.Lost, wide.Weights.Lost, 0.02)
	if wide.Weights.Lost < 0.05 || half.Weights.Flushed < 0.05 || half.Weights.Zeros > wide.Weights.Zeros+0.02 || wide.Weights.Flushed != 0 {
		t.Errorf("got %v in float16\n%v in float32", half, wide)
	}
	shows(t, half, "flushed to 0 by this run")
	shows(t, half, "A run in float32")
}

func TestScale(t *testing.T) {
	d := experiment.DefaultScale()
	equal(t, "scalar", d.Scalar, 65.5625)
	equal(t, "vector", d.Vector, inf)
	equal(t, "zero", d.Zero, math.NaN())
	if d.DType != tensor.Float32 {
		t.Errorf("got a scaled loss of %v", d.DType)
	}
	shows(t, d, "65504")

	// The trajectory of torch's demonstration: interval 5, overflow in step 7.
	f := experiment.ForcedOverflows(13, 5, 7)
	want := []float64{65536, 65536, 65536, 65536, 131072, 131072, 131072, 65536, 65536, 65536, 65536, 65536, 131072}
	if !slices.Equal(f.Scales, want) || !slices.Equal(f.Trackers, []int{1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3, 4, 0}) || !slices.Equal(f.Skipped, []int{7}) {
		t.Errorf("got %v", f)
	}
	shows(t, f, "skipped")

	c := experiment.ScaleCollapse()
	equal(t, "halvings", float64(c.Halvings), 166) // after 165 the scale is 2^-149
	equal(t, "smallest", c.Smallest, 0x1p-149)
	equal(t, "inverse", c.Inverse, inf)
	equal(t, "weight", c.Weight, math.NaN())
	if !c.Unnoticed {
		t.Error("the step with the infinite gradient was skipped")
	}
	shows(t, c, "166")
}

func TestMistakes(t *testing.T) {
	for seed := range int64(3) {
		u := experiment.UnscaleMidway(seed)
		near(t, "unscaled at the end", u.Right/u.True, 1, 2e-3)
		if u.Wrong/u.True < 100 {
			t.Errorf("seed %d: got %v", seed, u)
		}
		c := experiment.ClipOrder(0.1, seed)
		near(t, "clipped after", c.After, 0.1, 1e-6)
		near(t, "clipped before", c.Before, 0.1/1024, 1e-8)
		p := experiment.PenaltyUnscaled(seed)
		near(t, "penalty", p.Unscaled/p.True, 1, 5e-3)
		near(t, "penalty of scaled gradients", p.Scaled/p.Unscaled, 1024, 1e-2)
		shows(t, u, "midway")
		shows(t, c, "Unscale")
		shows(t, p, "penalty")
	}
	two := experiment.TwoOptimizers()
	if two.Skipped != [2]bool{false, true} || two.Moved != [2]bool{true, false} || two.Scale != 32768 {
		t.Errorf("got %v", two)
	}
	shows(t, two, "32768")

	if p := experiment.Poisoning(); p.Legacy || !p.Today {
		t.Errorf("got %v", p)
	}
	cache := experiment.CastCache(60000)
	equal(t, "with the cache", cache.Cached, inf)
	equal(t, "without", cache.Uncached, 120000)
	if cache.Casts != [2]int{1, 2} {
		t.Errorf("got %v", cache)
	}
	equal(t, "small ones with the cache", experiment.CastCache(100).Cached, 200)
	shows(t, cache, "120000")
}
