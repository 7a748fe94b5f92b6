package chart

import (
	"math"
	"testing"
)

func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		name string
		fig  *Figure
		want string
	}{
		{"scale", LossScale(saw(200)), "Loss scale over 200 steps: 3 skipped, from 2¹⁶ to 2¹⁵"},
		{"scale, no skip", LossScale([]ScaleStep{{Scale: 1, After: 2}}), "Loss scale over 1 step: none skipped, from 2⁰ to 2¹"},
		{"scale, steady", LossScale(make65536(10)), "Loss scale over 10 steps: none skipped, 2¹⁶ throughout"},
		{"scale, After from the next step", LossScale([]ScaleStep{{Scale: 8, Skipped: true}, {Scale: 4}}), "Loss scale over 2 steps: 1 skipped, from 2³ to 2²"},
		{"scale, no power of two", LossScale([]ScaleStep{{Scale: 1000, After: math.Inf(1)}}), "Loss scale over 1 step: none skipped, from 1000 to ∞"},
		{"scale, none", LossScale(nil), "Loss scale: no steps recorded"},
		{"dtypes", DTypes(mlp(150)), "Each of 150 steps: 22 operations in float32, 16 in float16, 8 casts"},
		{"dtypes of a step", DTypes(mlp(1)), "22 operations in float32, 16 in float16, 8 casts"},
		{"dtypes, one", DTypes([]OpDType{{Name: "relu", DType: "float32", Casts: 1, Cached: 2}}), "1 operation in float32, 1 cast, 2 more from the cache"},
		{"dtypes, a step that differs", DTypes(append(mlp(3), mlp(1)[:20]...)), "3 of 4 steps: 22 operations in float32, 16 in float16, 8 casts"},
		{"dtypes, none", DTypes([]OpDType{}), "Dtype of every operation: none recorded"},
		{"rates", Throughput("samples/s", rates()), "Against float32 at 1003 samples/s: autocast 0.40×, autocast + scaler 0.39×, bfloat16 (predicted) 2.30×"},
		{"rate", Throughput("steps/s", rates()[:1]), "float32 runs at 1003 steps/s"},
		{"rates, none", Throughput("steps/s", nil), "Throughput: no run given"},
		{"rates, not finite", Throughput("steps/s", []Rate{{Name: "a", Values: []float64{nan}}, {Name: "b", Values: []float64{1}}}), "Against a at unknown steps/s: b unknown"},
		{"loss", Loss([]Series{{Name: "a", Values: []float64{2, 1.5}}, {Name: "b", Values: []float64{math.Inf(1), nan, 1e-9}}, {Name: "c"}}), "Loss after 3 steps: a 1.5, b 1.00·10⁻⁹ (2 not finite ▲)"},
		{"loss, none", Loss([]Series{{Name: "a"}}), "Loss: no values recorded"},
		{"lines of nothing", Lines("", []Series{{Values: []float64{-3}}}), " after 1 step: −3"},
		// Of the 7 finite nonzero values, 1e-9 and the tie 2^-25 become 0 and 65520 becomes infinite.
		{"spectrum", Spectrum([]float32{0, 1e-9, -0x1p-25, 0x1.8p-25, 1e-5, 1, 65519, -65520, float32(nan)}), "29 % of the nonzero gradients become 0 in float16, 14 % overflow, 11 % are 0 already, 11 % not finite"},
		{"spectrum, well", Spectrum([]float32{1, 2}), "All nonzero gradients survive in float16"},
		{"sweep", ScaleSweep(sweep()), "float16: safe from loss scale 2¹² to 2¹⁵; at 2¹⁰ <0.1 % flushed to 0, 21 % subnormal, 0 % overflow"},
		{"sweep, none safe", ScaleSweep(Sweep{DType: "tf32", Shares: make([]ScaleShare, 2), At: 1 << 5}), "tf32: no loss scale is safe"},
		{"heat map", HeatMap("flushed to zero", []HeatRow{{"a", []float64{0, .25}}, {"b", []float64{nan, 0.0001}}}, 4), "Flushed to zero: most in a, 25 % in step 4"},
		{"heat map, nothing", HeatMap("inf or NaN", []HeatRow{{"a", []float64{0, 0}}}, 1), "Inf or NaN: none in 2 steps"},
		{"needed", Needed("memory", "B", []Series{{"float16", "float16", nil, []float64{10, 3000, 20}}, {"float32", "float32", nil, []float64{1}}}), "Memory: at most float16 3 kB, float32 1 B"},
		{"needed, not finite", Needed("memory", "B", []Series{{Name: "a", Values: []float64{nan, 2000}}, {Name: "b", Values: []float64{math.Inf(1)}}}), "Memory: at most a 2 kB (1 not finite ▲), b inf or NaN"},
		{"needed, none", Needed("memory", "B", nil), "Memory: no values recorded"},
		{"ranges", Ranges([]ValueRange{{Min: 1, Max: 2}, {Min: 0x1p-15, Max: 1e5}, {Min: nan, Max: nan, Bad: true}}), "2 of 3 results exceed float16's largest number, 1 reaches below its normal numbers"},
		{"ranges, one above", Ranges([]ValueRange{{Min: 1, Max: 1e5}}), "1 of 1 result exceeds float16's largest number"},
		{"ranges, two below", Ranges([]ValueRange{{Min: 1e-6, Max: 1}, {Min: 1e-7, Max: 1}}), "2 of 2 results reach below float16's normal numbers"},
		{"ranges, well", Ranges([]ValueRange{{Min: 1, Max: 2}}), "Magnitudes of 1 result: all inside float16's normal numbers"},
		{"bars", Bars("memory", "B", memoryBars()), "Memory: weights 400 MB (41 %), activations 340 MB (35 %), activations in float16 130 MB (13 %), casts 100 MB (10 %)"},
		{"ratios", Ratios("speed against a library", ratios()), "Speed against a library: 7 of 9 at least as good; from 0.40× (matrix product, float32) to 2.80× (softmax, float16)"},
		{"ratios, none", Ratios("speed", []Ratio{{Value: -1}, {Value: math.Inf(1)}}), "Speed: nothing to compare"},
		{"roofline", Roofline("T4", 320e9, []Roof{{"float32", 8.1e12}}, roofPoints()), "Operations below the roofs of T4: 59 % memory, 40 % compute, 0.6 % launch"},
		{"numbers", NumberLine(1, 2, numberFormats()[:3]...), "Numbers from 1 to 2: 8,388,609 in float32, 129 in bfloat16, 1,025 in float16"},
		{"numbers around 0", NumberLine(-0x1p-24, 0x1p-23, numberFormats()[2]), "Numbers from −2⁻²⁴ to 2⁻²³: 4 in float16"},
		{"numbers up to the largest", NumberLine(0x1p-24, 1e30, numberFormats()[2:]...).LogX(), "Numbers from 2⁻²⁴ to 1.00·10³⁰: 31,743 in float16, 123 in float8_e5m2, 126 in float8_e4m3fn"},
		{"numbers above the largest", NumberLine(500, 1000, numberFormats()[4:]...), "Numbers from 500 to 1000: 0 in float8_e4m3fn"},
		{"numbers, none", NumberLine(2, 1, numberFormats()...), "Numbers from 2 to 1: no format or no such range"},
		{"bits", BitFields(.5, stored(.5)[:2]), "0.5 is exact in every format"},
		{"bits, some", BitFields(1+0x1p-10, stored(1 + 0x1p-10)[1:4]), "1.00097656: exact in tf32, float16; 1 in bfloat16"},
		{"bits, none", BitFields(-1e300, nil), "−1e+300: no format given"},
		{"sum", RunningSum(Series{Values: []float64{1, 2, 3, 4, 5}}, []Series{{Name: "a", Values: []float64{1, 2, 2, 2, 2}}, {Name: "b", Values: []float64{1, 2, 2, 4, 4}}, {Name: "c", Values: []float64{1, 1, nan, 4, 5}}}), "Sum of 5 terms, exactly 5: a stops at 2 from term 2 on, b ends at 4, c ends at 5"},
		{"sum, constant", RunningSum(Series{Values: []float64{1, 1, 1}}, []Series{{Name: "a", Values: []float64{1, 1, 1}}}), "Sum of 3 terms, exactly 1: a ends at 1"},
		{"residue", Residue([]Series{{Name: "up", Values: []float64{0, .5, .25}}, {Name: "down", Values: []float64{0, -.25}}}), "Lost in a sum of 3 terms: up 0.75, down −0.25"},
		{"difference", Difference("a", "b", []Pair{{Name: "loss", First: []float64{1, 2, 4}, Second: []float64{1, 1, 4}}, {Name: "norm", First: []float64{-1, nan}, Second: []float64{1, nan}}}), "b against a: loss up to 50 % apart (step 1), 0 % at the end, norm up to 200 % apart (step 0), 0 % at the end"},
		{"difference, never", Difference("a", "b", []Pair{{Name: "loss", First: []float64{1}, Second: []float64{1}}}), "b against a: loss never apart"},
		{"difference, infinite", Difference("a", "b", []Pair{{Name: "loss", First: []float64{1, 1}, Second: []float64{nan, 1}, X: []float64{10, 20}}}), "b against a: loss finite in only one of them at step 10, 0 % apart at the end"},
		{"graph", CastGraph(castGraphOf()), "Modules: 3 in float16, 3 in float32; 4 casts between them, 8 inside, 2 more from the cache"},
		{"timeline", Timeline([]Span{{Lane: "forward", Start: 1, Duration: .5}, {Lane: "backward", Start: 2, Duration: 1}, {Lane: "casts", Start: 2.5, Duration: .25}}), "2 s: forward 25 %, backward 50 %, casts 12 %, 25 % outside of operations"},
		{"timeline of devices", Timeline([]Span{{Lane: "forward", Device: "cuda:0", Duration: 1}, {Lane: "forward", Device: "cpu", Start: 1, Duration: 1}}), "2 s: forward on cuda:0 50 %, forward on cpu 50 %, 0 % outside of operations"},
		{"ratios, far", Ratios("speed", []Ratio{{Name: "a", Value: .001}}), "Speed: 0 of 1 at least as good; from <0.01× (a) to <0.01× (a)"},
		{"one value", Hist([]float64{3}), "1 value from 3 to 3: mean 3, standard deviation 0"},
		{"one chart", Grid(1, Hist([]float64{1, 2})), "1 chart: 2 values from 1 to 2: mean 1.5, standard deviation 0.5"},
		{"one parameter", GradientLayers([]GradientLayer{{Name: "weight", Elements: 4}}), "Gradients of 1 parameter: none flushed to 0"},
		{"one point", Scatter([]float64{1}, []float64{2}), "1 point: x from 1 to 1, y from 2 to 2"},
		{"steps", Step([]int{2, 4}, []float64{.1, .01}, "lr"), "lr ends at 0.01, between 0.01 and 0.1; x from 2 to 4"},
		{"steps, none", Step(), "chart.Step: nothing given"},
		{"spectrum, none", Spectrum(nil), "Gradient spectrum: no gradients given"},
	} {
		if got := tt.fig.String(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSpectrumCounts compares the counts with the true conversion at the edges of the bands.
func TestSpectrumCounts(t *testing.T) {
	s := newSpectrum([]float32{0x1p-25, 0x1.000002p-25, 0x1.fffffep-15, 0x1p-14, 65504, 65519.996, 65520, 1e-45, math.MaxFloat32})
	got := [...]int{s.zero, s.lost, s.subnormal, s.normal, s.over, s.bad}
	if want := [...]int{0, 2, 2, 3, 2, 0}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
