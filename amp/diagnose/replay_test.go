package diagnose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// wide returns gradients with magnitudes from 2^-60 to 2^20 around a peak, zeros, and the limits of all
// formats at all scales with their neighbours.
func wide(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	values := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN()), math.SmallestNonzeroFloat32, math.MaxFloat32}
	for range n {
		values = append(values, float32(r.NormFloat64()*math.Exp2(r.NormFloat64()*8-20)))
	}
	for _, f := range Formats() {
		for k := range maxScale + 1 {
			for _, limit := range []float64{f.zero, f.normal, f.over} {
				v := float32(math.Ldexp(limit, -k))
				values = append(values, v, -v, math.Nextafter32(v, 0), math.Nextafter32(v, float32(math.Inf(1))))
			}
		}
	}
	return values
}

// converted counts the results of converting values times scale.
func converted(t *testing.T, values []float32, scale float32, f Format) Shares {
	t.Helper()
	scaled := make([]float64, len(values))
	for i, v := range values {
		scaled[i] = float64(v * scale)
	}
	x := tensor.New(scaled, len(scaled))
	s := Shares{Count: len(values)}
	var dtype tensor.DType
	for _, d := range tensor.DTypes() {
		if d.String() == f.name {
			dtype = d
		}
	}
	y, tiny := make([]float64, len(scaled)), 0x1p-126
	if dtype == 0 {
		if f.name != "tf32" {
			t.Fatalf("dtype %s does not exist", f.name)
		}
		for i, v := range scaled {
			b := math.Float32bits(float32(v))
			y[i] = float64(math.Float32frombits((b + 0xfff + b>>13&1) &^ 0x1fff))
		}
	} else {
		y, tiny = x.To(dtype).Float64s(), tensor.FInfo(dtype).Tiny
	}
	for i, v := range values {
		a := math.Abs(y[i])
		over := math.IsInf(a, 1)
		if f.name == E4M3.name { // the range ends at 448; the next number would be 480
			over = 32*math.RoundToEven(math.Abs(scaled[i])/32) > 448
		}
		switch {
		case v == 0:
			s.Zeros++
		case v-v != 0:
			s.NonFinite++
		case over:
			s.Overflow++
		case a == 0:
			s.Flushed++
		case a < tiny:
			s.Subnormal++
		default:
			s.Normal++
		}
	}
	return s
}

// TestSharesExact compares shares computed from counts with those of actual conversions, at every power
// of two.
func TestSharesExact(t *testing.T) {
	values := wide(1, 4000)
	g := &gradient{magnitudes: new(counter).count(values)}
	for _, f := range Formats() {
		for k := range maxScale + 1 {
			scale := math.Exp2(float64(k))
			if got, want := g.shares(scale, f), converted(t, values, float32(scale), f); got != want {
				t.Errorf("%v at 2^%d: got %+v, want %+v", f, k, got, want)
			}
		}
	}
}

// TestSharesBetween checks that the error of the shares at other scales is at most Slack, and 0 if the
// gradients were kept.
func TestSharesBetween(t *testing.T) {
	values := wide(2, 4000)
	counted := &gradient{magnitudes: new(counter).count(values)}
	kept := &gradient{magnitudes: counted.magnitudes, values: values}
	worst := 0
	for _, f := range Formats() {
		for _, scale := range []float64{1.5, 3, 1000, 1 << 10 * math.Sqrt2, 65504, 0.1} {
			want := Shares{}
			for _, v := range values {
				want.one(math.Abs(float64(v))*scale, f)
			}
			got := counted.shares(scale, f)
			exact := kept.shares(scale, f)
			for _, c := range [][3]int{
				{got.Flushed, want.Flushed, exact.Flushed}, {got.Subnormal, want.Subnormal, exact.Subnormal},
				{got.Normal, want.Normal, exact.Normal}, {got.Overflow, want.Overflow, exact.Overflow},
			} {
				off := max(c[0]-c[1], c[1]-c[0])
				worst = max(worst, off)
				if off > got.MaxError || c[1] != c[2] {
					t.Errorf("%v at %v: got %+v, kept %+v, want %+v", f, scale, got, exact, want)
				}
			}
			if share := float64(got.MaxError) / float64(len(values)); share > 0.05 {
				t.Errorf("%v at %v: got a slack of %.3f", f, scale, share)
			}
		}
	}
	if worst == 0 {
		t.Error("no scale was between cuts; the comparison is meaningless")
	}
}

// TestLogNormal checks the shares for 10^6 log-normal gradients with median 1e-7 and sigma 2.5: 31.4, 9.4,
// 0.77, 0.06 and 0 % zeros, and 68, 86, 73, 42 and 3 % subnormal numbers.
func TestLogNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	values := make([]float32, 1e6)
	for i := range values {
		values[i] = float32(1e-7 * math.Exp(2.5*r.NormFloat64()))
	}
	g := &gradient{magnitudes: new(counter).count(values)}
	for _, c := range []struct{ scale, zeros, subnormal float64 }{
		{1, 31.4, 68}, {8, 9.4, 86}, {128, 0.77, 73}, {1024, 0.06, 42}, {65536, 0, 3},
	} {
		s := g.shares(c.scale, Float16)
		if z, n := 100*s.FlushedShare(), 100*s.SubnormalShare(); math.Abs(z-c.zeros) > 0.15 || math.Abs(n-c.subnormal) > 0.6 || s.MaxError != 0 {
			t.Errorf("at %v: got %.2f %% zeros and %.1f %% subnormals, want %v and %v", c.scale, z, n, c.zeros, c.subnormal)
		}
	}
}

// weight is an optimizer of one weight; tests set its gradient.
type weight struct{ w *tensor.Tensor }

func (o weight) Params() []*tensor.Tensor { return []*tensor.Tensor{o.w} }
func (o weight) Step()                    {}
func (o weight) ZeroGrad()                { o.w.SetGrad(nil) }

// train takes steps with the given gradients, which are rounded to float16 if half is set.
func train(grads []float64, half bool, options ...amp.ScalerOption) (steps []amp.StepResult) {
	o := weight{tensor.Ones(1).RequireGrad()}
	s := amp.NewGradScaler(options...)
	for _, g := range grads {
		s.Scale(o.w.Reshape(1, 1).MatMul(tensor.Ones(1, 1)).Sum()).Backward()
		scaled := tensor.New([]float64{g * s.CurrentScale()}, 1)
		if half {
			scaled = scaled.To(tensor.Float16).Float()
		}
		o.w.SetGrad(scaled)
		steps = append(steps, s.Step(o))
		s.Update()
		o.ZeroGrad()
	}
	return steps
}

// TestTrajectory compares trajectories computed from a recording with runs of scalers with the same
// settings.
func TestTrajectory(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	grads := make([]float64, 120)
	for i := range grads {
		grads[i] = float64(float32(math.Exp2(2 * r.NormFloat64())))
	}
	grads[30], grads[31] = 65520, 70 // the first gradient overflows at scale 1 too
	rp := NewReplay(nil)
	train(grads, false, amp.InitScale(64), amp.GrowthInterval(1000))
	rp.Stop()
	train(grads[:3], false) // not recorded
	for _, options := range [][]amp.ScalerOption{
		nil,
		{amp.InitScale(1 << 20), amp.GrowthInterval(5)},
		{amp.InitScale(3), amp.GrowthFactor(4), amp.BackoffFactor(0.8), amp.GrowthInterval(2)},
		{amp.InitScale(1), amp.GrowthInterval(1)},
	} {
		got, want := rp.Trajectory(options...), train(grads, true, options...)
		skipped := 0
		if len(got.Steps) != len(want) {
			t.Fatalf("%d steps, want %d", len(got.Steps), len(want))
		}
		for i, w := range want {
			if s := got.Steps[i]; s.Scale != w.Scale || s.Skipped != w.Skipped || s.Taken != 64 || s.Was || s.Unknown {
				t.Errorf("step %d: got %+v, want %+v", i, s, w)
			}
			if w.Skipped {
				skipped++
			}
		}
		if got.Skipped != skipped || skipped == 0 || got.TakenSkipped != 0 {
			t.Errorf("%d skipped, want %d", got.Skipped, skipped)
		}
	}
}

// TestUnknown checks that steps recorded as infinite are unknown at smaller scales.
func TestUnknown(t *testing.T) {
	grads := []float64{1, 1, 1}
	rp := NewReplay(nil)
	train(grads, true, amp.InitScale(1<<17))
	rp.Stop()
	got := rp.Trajectory(amp.InitScale(1 << 18))
	if fmt.Sprint(got.Scales()) != "[262144 131072 65536]" || got.Skipped != 3 || got.TakenSkipped != 2 || got.Unknown != 0 {
		t.Errorf("at a larger scale: got %v of %+v", got, got)
	}
	if got := rp.Trajectory(amp.InitScale(1 << 15)); got.Unknown != 2 || got.Skipped != 0 || !strings.Contains(got.String(), "2 steps would still overflow at a smaller scale is unknown") {
		t.Errorf("at a smaller scale: got %v", got)
	}
	if w := rp.WhatIf(1<<17, Float16); w.NonFinite != 2 || w.Overflowing != 3 {
		t.Errorf("at the same scale: got %+v", w)
	}
}

// TestBand checks the bands for gradients from 2^-30 to 2^-2, of which a thousandth is too small at any
// scale.
func TestBand(t *testing.T) {
	rp := NewReplay(nil)
	var values []float64
	for e := -30; e <= -2; e++ {
		for range 200 {
			values = append(values, math.Ldexp(1.5, e))
		}
	}
	w := tensor.ZerosLike(tensor.New(values, len(values))).RequireGrad()
	w.SetGrad(tensor.New(values, len(values)))
	opt := optim.NewSGD([]*tensor.Tensor{w}, 0.1)
	opt.Step()
	rp.Stop()
	b := rp.Band(Float16)
	// 1.5·2^-30 survives from 2^5 on: 1.5·2^-25 is above the tie. 1.5·2^-2·2^17 is 49152.
	if b.Low != 1<<5 || b.High != 1<<17 || b.Static != 1<<14 || b.Limit != 65520/0.375 {
		t.Errorf("float16: %+v", b)
	}
	if b := rp.Band(E4M3); b.Low != 0 || b.High != 0 || b.Static != 1<<7 {
		t.Errorf("e4m3: %+v", b)
	}
	if b := rp.Band(BFloat16); b.Low != 1 || b.High != 1<<24 {
		t.Errorf("bfloat16: %+v", b)
	}
	if text := rp.Chart(Float16).String(); text != "float16: safe from loss scale 2⁵ to 2¹⁷" {
		t.Errorf("got the chart %q", text)
	}
	if text := rp.Slider().String(); !strings.Contains(text, "16") || !strings.Contains(text, "float16") {
		t.Errorf("got the slider %q", text)
	}
}
