package chart

import (
	"fmt"
	"math"
	"testing"

	"halfnote/internal/testenv"
)

// sample is a named figure for the tests.
type sample struct {
	name string
	fig  *Figure
}

// someSamples returns one sample in n, or all if HALFNOTE_REQUIRE lists long.
func someSamples(t *testing.T, n int) (some []sample) {
	n = testenv.Share(t, n)
	for i, s := range samples() {
		if i%n == 0 {
			some = append(some, s)
		}
	}
	return some
}

func samples() []sample {
	return []sample{
		{"bars", Bars("memory", "B", memoryBars())},
		{"bars-none", Bars("memory", "B", []Bar{{Name: "nothing"}})},
		{"bars-one", Bars("bytes of casts", "B", []Bar{{"a module with a very long name, longer than there is room for", []Part{{"casts", "float16", 1e15}, {"casts", "float16", nan}}}})},
		{"bitfields", BitFields(.1, stored(.1))},
		{"bitfields-odd", BitFields(math.Inf(1), []StoredBits{{Name: "a format with a long name, longer than there is room for", Exponent: 11, Mantissa: 52, Bits: 1<<64 - 1, Value: nan, ULP: nan}, {Name: "float8_e5m2", Exponent: 5, Mantissa: 2, Value: 0}})},
		{"bitfields-none", BitFields(1, nil)},
		{"castgraph", CastGraph(castGraphOf())},
		{"castgraph-long", CastGraph(longGraph(90))},
		{"castgraph-none", CastGraph(nil, nil)},
		{"castgraph-wide", CastGraph(wideGraph(9))},
		{"difference", Difference("float32", "autocast", differences())},
		{"difference-none", Difference("a", "b", nil)},
		{"difference-same", Difference("a", "b", []Pair{{Name: "loss", First: wave(20), Second: wave(20)}})},
		{"dtypes", DTypes(mlp(150))},
		{"dtypes-four", DTypes(fourDTypes())},
		{"dtypes-long", DTypes(longTrace(200))},
		{"dtypes-none", DTypes(nil)},
		{"grid", Grid(2, Plot(wave(200)).Title("A wave"), Hist(normal(500)), Imshow(board(8, 8)), DTypes(mlp(1)), Scatter(wave(40), normal(40)), Loss(losses()))},
		{"grid-none", Grid(2, nil)},
		{"grid-three", Grid(3, Hist(normal(50)), Plot(wave(30), "a name that is too long for a panel").XLabel("epoch"), Scatter(normal(9), wave(9), "a", normal(9), normal(9), "b"), Imshow(normal(100))).Title("Three in a row, and one more")},
		{"hist", Hist(normal(2000))},
		{"hist-bad", Hist(append(normal(100), nan, math.Inf(1)), 12).LogY()},
		{"hist-log", Hist([]float32{0, 1e-8, 1e-7, 3e-7, 1e-3, 2, 2, 2}).LogX().XLabel("gradient")},
		{"hist-one", Hist([]int{3, 3, 3})},
		{"hist-whole", Hist([]uint8{0, 1, 1, 2, 9})},
		{"heatmap", HeatMap("flushed to zero", heat(12, 40), 1)},
		{"heatmap-many", HeatMap("inf or NaN", heat(60, 512), 8)},
		{"heatmap-none", HeatMap("inf or NaN", nil, 1)},
		{"heatmap-zero", HeatMap("inf or NaN", []HeatRow{{"linear", []float64{0, nan, 0}}, {"relu", []float64{nan}}}, 1)},
		{"imshow", Imshow(board(10, 16)).XLabel("predicted").YLabel("true")},
		{"imshow-bad", Imshow([][]float64{{1, nan}, {math.Inf(1), -2}})},
		{"imshow-column", Imshow([][]int{{1}, {2}, {3}})},
		{"imshow-none", Imshow([][]float32{})},
		{"imshow-many", Imshow(board(900, 1300))},
		{"imshow-row", Imshow(wave(400))},
		{"gradientlayers", GradientLayers(gradientLayers())},
		{"gradientlayers-none", GradientLayers(nil)},
		{"lines-bad", Lines("accuracy", []Series{{Name: "a run that never gave a number at all", Values: []float64{nan, math.Inf(-1)}}})},
		{"loss", Loss(losses())},
		{"loss-one", Loss([]Series{{Name: "float32", DType: "float32", Values: []float64{.5}}})},
		{"loss-wide", Loss(wideLosses())},
		{"lossscale", LossScale(saw(200))},
		{"lossscale-few", LossScale([]ScaleStep{{Scale: 65536}, {Scale: 65536, Skipped: true}, {Scale: 32768}, {Scale: 32768, After: 65536}})},
		{"lossscale-long", LossScale(saw(20000))},
		{"lossscale-odd", LossScale([]ScaleStep{{Scale: 3}, {Scale: math.Inf(1), Skipped: true}, {Scale: 0}, {Scale: 1000, After: 1500}})},
		{"lossscale-steady", LossScale(make65536(10))},
		{"needed", Needed("memory", "B", []Series{{"float16", "float16", nil, []float64{10, 3000, 20}}, {"float32", "float32", nil, []float64{nan, 1, math.Inf(1)}}, {}})},
		{"numberline", NumberLine(0, 4, numberFormats()...)},
		{"numberline-log", NumberLine(0x1p-30, 0x1p20, numberFormats()...).LogX()},
		{"numberline-negative", NumberLine(-1.5, 1, numberFormats()[1:3]...)},
		{"numberline-none", NumberLine(1, 1, numberFormats()...)},
		{"plot", Plot(wave(300))},
		{"plot-log", Plot([]float64{1e-5, 1e-4, 1e-3, .01, .1, 1}, []float64{2.3, 1.9, .4, .2, .9, nan}, "loss").LogX().XLabel("learning rate")},
		{"plot-negative", Plot([]int{-1, 0, 5, 300}).LogY().LogX()},
		{"plot-none", Plot()},
		{"plot-refused", Plot([]float64{1}, func() {})},
		{"plot-round", Plot([]float64{0, 1, 0, -1, 0}, []float64{1, 0, -1, 0, 1}, "square", []float64{0, 1}, []float64{0, 1}, "a long name of a diagonal that begins in the middle")},
		{"lines-steps", Lines("accuracy", []Series{{Name: "run", X: []float64{0, 50, 100, 150}, Values: []float64{.1, .5, .7, .75}}, {Name: "short", X: []float64{0, 50}, Values: []float64{.1, .2, .3}}})},
		{"panels", Panels(run(200))},
		{"panels-none", Panels(nil)},
		{"panels-odd", Panels([]Panel{
			{Name: "loss", Values: []float64{nan, math.Inf(1)}}, {Name: "scale", Power: true, X: []float64{0, nan, 5}, Values: []float64{0, 1, math.Inf(1)}, Marked: []float64{7, nan}},
			{Name: "a quantity with a very long name that has no room at all in its panel", Unit: "B", X: []float64{3}, Values: []float64{1e9, 2}}, {Name: "none"},
		})},
		{"panels-wide", Panels([]Panel{{Name: "loss", Values: wideLosses()[0].Values}, {Name: "speed", Unit: "steps/s", Values: make([]float64, 5000)}})},
		{"scatter", Scatter(normal(150), normal(150))},
		{"scatter-many", Scatter(normal(20000), "all", wave(300), "wave", []float64{nan, math.Inf(-1), 0}, "odd")},
		{"ranges", Ranges(ranges(14))},
		{"ranges-many", Ranges(ranges(100))},
		{"ranges-none", Ranges(nil)},
		{"ranges-odd", Ranges([]ValueRange{{Name: "all zero", DType: "float16", Min: nan, Max: nan}, {Name: "tiny", DType: "complex64", Min: 1e-300, Max: 1e300, Bad: true}})},
		{"ratios", Ratios("speed against a library", ratios())},
		{"ratios-none", Ratios("speed", []Ratio{{Name: "never", Value: nan}})},
		{"ratios-odd", Ratios("speed", []Ratio{{"a very long name of work with everything in it and more", "int4", 1e9, 1e9}, {"slow", "", 1e-9, nan}})},
		{"roofline", Roofline("T4 (predicted)", 320e9, []Roof{{"float32", 8.1e12}, {"float16", 65e12}}, roofPoints())},
		{"roofline-none", Roofline("T4 (predicted)", 320e9, nil, roofPoints())},
		{"roofline-odd", Roofline("slow", 1, []Roof{{"float32", 1}, {"float16", 1.05}, {"bfloat16", 1.1}}, []RoofPoint{{"a", "int8", 1e9, 1e-9, 1e-12, "compute"}, {"b", "float16", math.Inf(1), 1, 1, "launch"}})},
		{"residue", Residue(residues())},
		{"residue-none", Residue([]Series{{Name: "empty"}})},
		{"runningsum", RunningSum(runningSums(1000))},
		{"runningsum-long", RunningSum(runningSums(40000))},
		{"runningsum-none", RunningSum(Series{}, nil)},
		{"runningsum-odd", RunningSum(Series{Values: []float64{1, 2, 4}}, []Series{{Values: []float64{nan, math.Inf(1), 3}}, {Values: []float64{1}}, {Name: "a", DType: "float16", Values: []float64{1, 1, 1}}, {Name: "a", DType: "float16", Values: []float64{1, 1, 2}}})},
		{"spectrum", Spectrum(gradients())},
		{"sweep", ScaleSweep(sweep())},
		{"sweep-none", ScaleSweep(Sweep{})},
		{"timeline", Timeline(spans(1, "cpu"))},
		{"timeline-gpu", Timeline(append(spans(1, "cuda:0"), Span{Name: "read", Lane: "forward", Device: "cpu", DType: "int64", Start: .5112, Duration: .001}, Span{Name: "log", Lane: "another lane", DType: "float32", Start: .5122, Duration: 1e-4}))},
		{"timeline-long", Timeline(spans(500, "cpu"))},
		{"timeline-none", Timeline([]Span{{Name: "a", Duration: nan}, {Name: "b"}})},
		{"throughput", Throughput("samples/s", rates())},
		{"throughput-odd", Throughput("GFLOP/s", []Rate{{Name: "nothing measured"}, {Name: "a very long name of a run with everything in it", DType: "bfloat16", Values: []float64{0, -1}}})},
		{"throughput-one", Throughput("samples/s", rates()[:1])},
	}
}

// ratios returns ratios in three dtypes.
func ratios() (list []Ratio) {
	for i, dtype := range []string{"float32", "bfloat16", "float16"} {
		for k, work := range []string{"matrix product", "convolution", "softmax"} {
			list = append(list, Ratio{work + ", " + dtype, dtype, .4 * float64(1+i+2*k), .05 * float64(1+k)})
		}
	}
	return list
}

// mlp returns the operations of a step of three linear layers with ReLU and MSE loss under
// autocast, with a scaler.
func mlp(steps int) (ops []OpDType) {
	for range steps {
		for i := range 3 {
			module := fmt.Sprint(2 * i)
			casts := 2
			if i == 0 {
				casts = 3
			}
			ops = append(ops, OpDType{Name: "linear", Module: module, DType: "float16", Casts: casts, Why: "lower"})
			if i < 2 {
				ops = append(ops, OpDType{Name: "relu", Module: fmt.Sprint(2*i + 1), DType: "float16", Why: "unlisted"})
			}
		}
		ops = append(ops, OpDType{Name: "mse_loss", DType: "float32", Casts: 1, Why: "fp32"}, OpDType{Name: "mul", DType: "float32", Why: "promote"})
		back := func(name, module, dtype string) {
			ops = append(ops, OpDType{Name: name, Module: module, Phase: "backward", DType: dtype, Why: "of " + name})
		}
		back("mul", "", "float32")
		back("mse_loss", "", "float32")
		back("to", "", "float16")
		for i := 2; i >= 0; i-- {
			module := fmt.Sprint(2 * i)
			back("matmul", module, "float16")
			if i > 0 {
				back("matmul", module, "float16")
			}
			back("sum", module, "float16")
			back("to", module, "float32")
			back("to", module, "float32")
			if i > 0 {
				back("relu", fmt.Sprint(2*i-1), "float16")
			}
		}
		for range 6 {
			ops = append(ops, OpDType{Name: "unscale", Phase: "optimizer", DType: "float32"})
		}
		for range 6 {
			ops = append(ops, OpDType{Name: "sgd_step", Phase: "optimizer", DType: "float32"})
		}
	}
	return ops
}

func fourDTypes() (ops []OpDType) {
	for i, d := range []string{"int64", "float32", "bfloat16", "float16", "float64", "complex64"} {
		ops = append(ops, OpDType{Name: "an_operation_with_a_long_name", Module: "encoder.layer.11.attention", DType: d, Casts: i, Cached: 5 - i, Why: "full unless a dtype is given"})
	}
	return ops
}

func longTrace(n int) (ops []OpDType) {
	for i := range n {
		op := OpDType{Name: []string{"conv2d", "batch_norm", "relu"}[i%3], Module: fmt.Sprint("layer.", i/3), DType: []string{"float16", "float32", "float16"}[i%3], Why: "lower", Casts: (i + 1) % 2}
		if i >= n/3 {
			op.Phase = "backward"
		}
		ops = append(ops, op)
	}
	return ops
}

// saw returns steps with overflows after steps 20, 90 and 91, and growth every 60 clean steps.
func saw(n int) (steps []ScaleStep) {
	scale, clean := 65536., 0
	for i := range n {
		s := ScaleStep{Scale: scale}
		if m := i % 200; m == 20 || m == 90 || m == 91 {
			s.Skipped, s.Why = true, "the gradient of 2.weight holds inf"
			scale /= 2
			clean = 0
		} else if clean++; clean == 60 {
			scale *= 2
			clean = 0
		}
		s.After = scale
		steps = append(steps, s)
	}
	return steps
}

func make65536(n int) []ScaleStep {
	s := make([]ScaleStep, n)
	for i := range s {
		s[i].Scale = 65536
	}
	return s
}

func losses() []Series {
	run := func(offset float64) (y []float64) {
		for i := range 150 {
			y = append(y, 1.05*math.Exp(-float64(i)/40)+.02*math.Sin(float64(i)*1.7)+offset)
		}
		return y
	}
	half := run(.01)
	for i := 60; i < 64; i++ {
		half[i] = math.Inf(1)
	}
	half[100] = nan
	return []Series{{"float32", "float32", nil, run(0)}, {"autocast", "float16", nil, half}, {"autocast + scaler", "float16", nil, run(.02)}, {"bfloat16", "bfloat16", nil, run(.3)[:80]}}
}

func wideLosses() []Series {
	var y []float64
	for i := range 5000 {
		y = append(y, math.Exp(-float64(i)/400)*(1+.3*math.Sin(float64(i))))
	}
	return []Series{{Name: "without a dtype", Values: y}, {Name: "another", Values: y[:3000]}}
}

// gradients returns magnitudes from 2^-44 to 2^16 around a peak at 2^-19, zeros, and a few
// non-finite values.
func gradients() (g []float32) {
	for i := range 61 {
		e := i - 44
		n := int(2000 * math.Exp(-math.Pow(float64(e+19), 2)/60))
		for k := range n + 1 {
			g = append(g, float32(math.Ldexp(1+float64(k)/float64(n+1), e)))
		}
	}
	for range 700 {
		g = append(g, 0)
	}
	return append(g, float32(math.Inf(1)), float32(nan))
}

func rates() []Rate {
	return []Rate{
		{Name: "float32", DType: "float32", Values: []float64{1003, 998, 1010}},
		{Name: "autocast", DType: "float16", Values: []float64{402, 380, 431}, Note: "emulated on the CPU"},
		{Name: "autocast + scaler", DType: "float16", Values: []float64{395}},
		{Name: "bfloat16", DType: "bfloat16", Values: []float64{2310}, Predicted: true, Note: "AVX512-BF16"},
	}
}

// sweep returns a sweep of gradients around a peak at 2^-22, from 2^-40 to 2^0.
func sweep() Sweep {
	s := Sweep{DType: "float16", Low: 1 << 12, High: 1 << 15, Taken: []float64{65536, 65536, 32768, 16384}, At: 1 << 10}
	for k := range 25 {
		below := func(e float64) float64 { return 1 / (1 + math.Exp(-(e-float64(k)+22)/1.5)) }
		s.Shares = append(s.Shares, ScaleShare{below(-25), below(-14) - below(-25), max(0, float64(k-15)*.002)})
	}
	return s
}

func memoryBars() []Bar {
	return []Bar{
		{"float32", []Part{{"weights", "float32", 200e6}, {"activations", "float32", 300e6}}},
		{"autocast", []Part{{"weights", "float32", 200e6}, {"activations", "float32", 40e6}, {"activations in float16", "float16", 130e6}, {"casts", "float16", 100e6}}},
	}
}

func heat(rows, columns int) (list []HeatRow) {
	for i := range rows {
		r := HeatRow{Name: fmt.Sprintf("matmul encoder.layer.%d", i)}
		for j := range columns {
			v := math.Pow(10, -float64((i*7)%11)/2) * (1 + math.Sin(float64(j)/3)) / 2
			switch {
			case i%4 == 1:
				v = 0
			case j%9 == 5:
				v = nan
			}
			r.Values = append(r.Values, v)
		}
		list = append(list, r)
	}
	return list
}

func ranges(n int) (list []ValueRange) {
	for i := range n {
		r := ValueRange{Name: fmt.Sprint("linear backward, encoder.", i), DType: []string{"float32", "float16", "bfloat16"}[i%3], Min: math.Ldexp(1, -30+i%20), Max: math.Ldexp(1, i%18)}
		r.Bad = i == 6
		list = append(list, r)
	}
	return list
}

func roofPoints() []RoofPoint {
	return []RoofPoint{
		{"linear", "float16", 17e9, 42e6, 26e-5, "compute"}, {"cast", "float16", 16e6, 100e6, 31e-5, "memory"},
		{"relu", "float16", 2e6, 8e6, 26e-6, "memory"}, {"mse_loss", "float32", 2e6, 16e6, 5e-5, "memory"}, {"add", "float32", 10, 120, 3.8e-6, "launch"},
	}
}

// gradientLayers returns the gradients of five layers, the first of which vanish.
func gradientLayers() (list []GradientLayer) {
	for i, flushed := range []int{900, 610, 250, 20, 0} {
		list = append(list, GradientLayer{Name: fmt.Sprintf("encoder.%d.weight", i), DType: "float16", Elements: 1000, Zeros: 50 * i, Flushed: flushed, Subnormal: flushed / 10, Note: map[bool]string{true: "flushed", false: "alive"}[flushed > 50]})
	}
	return append(list, GradientLayer{Name: "head.weight", DType: "float32", Elements: 80, Infinite: 20, Note: "overflown"}, GradientLayer{Name: "head.bias", Note: "unused"})
}

// run returns the panels of a run.
func run(n int) []Panel {
	loss, scale := Panel{Name: "loss"}, Panel{Name: "loss scale", Power: true}
	speed, memory, flushed := Panel{Name: "throughput", Unit: "steps/s"}, Panel{Name: "memory", Unit: "B"}, Panel{Name: "flushed to zero", Unit: "%"}
	for i, s := range saw(n) {
		loss.Values = append(loss.Values, 2*math.Exp(-float64(i)/60)+.05*math.Sin(float64(i)))
		scale.Values = append(scale.Values, s.Scale)
		if s.Skipped {
			scale.Marked = append(scale.Marked, float64(i))
		}
		speed.Values = append(speed.Values, 41+3*math.Sin(float64(i)/7))
		memory.Values = append(memory.Values, 3.2e6+1e5*float64(i%9))
		flushed.Values = append(flushed.Values, .002*float64(i%40))
	}
	return []Panel{loss, scale, speed, memory, flushed}
}

// wave returns n values of a damped wave.
func wave(n int) (y []float64) {
	for i := range n {
		y = append(y, math.Sin(float64(i)/9)*math.Exp(-float64(i)/200))
	}
	return y
}

// normal returns n quantiles of the normal distribution, in a fixed order without trend.
func normal(n int) (y []float64) {
	for i := range n {
		p := (float64(i*7919%n) + .5) / float64(n)
		y = append(y, math.Sqrt2*math.Erfinv(2*p-1))
	}
	return y
}

// board returns a matrix of waves.
func board(rows, columns int) (m [][]float64) {
	for i := range rows {
		m = append(m, nil)
		for j := range columns {
			m[i] = append(m[i], math.Round(50*math.Sin(float64(i+1)/3)*math.Cos(float64(j)/4)))
		}
	}
	return m
}

// numberFormats returns the formats of five dtypes.
func numberFormats() []NumberFormat {
	return []NumberFormat{
		{"float32", 0x1p-23, 0x1p-126, 0x1p-149, math.MaxFloat32}, {"bfloat16", 0x1p-7, 0x1p-126, 0x1p-133, 0x1.fep127}, {"float16", 0x1p-10, 0x1p-14, 0x1p-24, 65504},
		{"float8_e5m2", 0x1p-2, 0x1p-14, 0x1p-16, 57344}, {"float8_e4m3fn", 0x1p-3, 0x1p-6, 0x1p-9, 448},
	}
}

// stored returns x, which is a normal number, as several formats store it.
func stored(x float64) (list []StoredBits) {
	for _, f := range []StoredBits{{Name: "float32", Exponent: 8, Mantissa: 23}, {Name: "tf32", Exponent: 8, Mantissa: 10}, {Name: "bfloat16", Exponent: 8, Mantissa: 7}, {Name: "float16", Exponent: 5, Mantissa: 10}, {Name: "float8_e5m2", Exponent: 5, Mantissa: 2}, {Name: "float8_e4m3fn", Exponent: 4, Mantissa: 3}} {
		e := math.Ilogb(x)
		ulp := math.Ldexp(1, e-f.Mantissa)
		f.Value = math.RoundToEven(x/ulp) * ulp
		f.ULP = (f.Value - x) / ulp
		e = math.Ilogb(f.Value)
		fraction := uint64(math.Ldexp(math.Abs(f.Value), f.Mantissa-e)) &^ (1 << f.Mantissa)
		f.Bits = uint64(e+1<<(f.Exponent-1)-1)<<f.Mantissa | fraction
		list = append(list, f)
	}
	return list
}

// runningSums returns sums of n terms of 0.1 in formats of 11, 8 and 24 bits.
func runningSums(n int) (exact Series, sums []Series) {
	round := func(x float64, bits int) float64 {
		if x == 0 {
			return 0
		}
		ulp := math.Ldexp(1, math.Ilogb(x)-bits+1)
		return math.RoundToEven(x/ulp) * ulp
	}
	sums = []Series{{Name: "float16", DType: "float16"}, {Name: "bfloat16", DType: "bfloat16"}, {Name: "into float32", DType: "float32"}}
	for k, bits := range []int{11, 8, 24} {
		sum := 0.
		for range n {
			sum = round(sum+round(.1, bits), bits)
			sums[k].Values = append(sums[k].Values, sum)
		}
	}
	for i := range n {
		exact.Values = append(exact.Values, float64(i+1)*.1)
	}
	return exact, sums
}

// residues returns what three orders of the same additions lose.
func residues() (list []Series) {
	for k, name := range []string{"as given", "ascending", "descending"} {
		s := Series{Name: name}
		for i := range 500 {
			s.Values = append(s.Values, math.Sin(float64(i*i*(k+1)))/math.Ldexp(64, 2*k))
		}
		list = append(list, s)
	}
	return list
}

// differences returns two runs that part after ten steps.
func differences() []Pair {
	loss, weights := Pair{Name: "loss"}, Pair{Name: "weights"}
	for i := range 120 {
		y := math.Exp(-float64(i) / 40)
		apart := 0.
		if i > 10 {
			apart = 1e-4 * float64(i) * (1 + math.Sin(float64(i)))
		}
		loss.First, loss.Second = append(loss.First, y), append(loss.Second, y*(1+apart))
		weights.First, weights.Second = append(weights.First, 5+y), append(weights.Second, 5+y+apart/50)
	}
	loss.Second[70] = math.Inf(1)
	return []Pair{loss, weights}
}

// castGraphOf returns a small network with a connection that skips a layer.
func castGraphOf() ([]CastNode, []CastEdge) {
	return []CastNode{
			{Name: "input", DType: "float32"}, {Name: "embed", DType: "float16", Ops: "linear, relu", Casts: 2}, {Name: "body.0", DType: "float16", Ops: "linear", Casts: 1, Cached: 1},
			{Name: "norm", DType: "float32", Ops: "layer_norm"}, {Name: "body", DType: "float32", Ops: "add", Casts: 0}, {Name: "head", DType: "float16", Ops: "linear", Casts: 5}, {Name: "mse_loss", DType: "float32", Ops: "mse_loss"},
		}, []CastEdge{
			{0, 1, "float32", "float16", false}, {1, 2, "float16", "", false}, {2, 3, "float16", "float32", false}, {1, 4, "float16", "float32", false}, {3, 4, "float32", "", false},
			{4, 5, "float32", "float16", true}, {5, 6, "float16", "float32", false},
		}
}

// longGraph returns a chain of n nodes.
func longGraph(n int) (nodes []CastNode, edges []CastEdge) {
	for i := range n {
		nodes = append(nodes, CastNode{Name: fmt.Sprint("encoder.layer.", i), DType: []string{"float16", "float32"}[i%2], Ops: "linear, an_operation_with_a_long_name, another_operation_with_a_long_name, and_more", Casts: i % 3, Cached: i % 5})
		if i > 0 {
			edges = append(edges, CastEdge{i - 1, i, nodes[i-1].DType, nodes[i].DType, i%7 == 0})
		}
		if i > 3 && i%4 == 0 {
			edges = append(edges, CastEdge{i - 3, i, nodes[i-3].DType, "", false})
		}
	}
	return nodes, edges
}

// wideGraph returns n branches between two nodes.
func wideGraph(n int) (nodes []CastNode, edges []CastEdge) {
	nodes = append(nodes, CastNode{Name: "input", DType: "int64"})
	for i := range n {
		nodes = append(nodes, CastNode{Name: fmt.Sprint("branches.attention.", i), DType: "bfloat16", Ops: "linear"})
		edges = append(edges, CastEdge{0, 1 + i, "float32", "bfloat16", i > 0}, CastEdge{1 + i, n + 1, "bfloat16", "float32", false})
	}
	return append(nodes, CastNode{Name: "cat", DType: "float32", Ops: "cat"}), edges
}

// spans returns the operations of a step, n times over.
func spans(n int, device string) (list []Span) {
	at := .5
	add := func(name, lane, dtype string, took, gap float64) {
		list = append(list, Span{name, "fc1", lane, device, dtype, at, took})
		at += took + gap
	}
	for range n {
		for range 3 {
			add("float32 → float16", "casts", "float16", 2e-4, 0)
			add("linear", "forward", "float16", 9e-4, 5e-5)
			add("relu", "forward", "float16", 1e-4, 5e-5)
		}
		add("mse_loss", "forward", "float32", 2e-4, 1e-4)
		for range 3 {
			add("relu", "backward", "float16", 2e-4, 0)
			add("linear", "backward", "float16", 1.7e-3, 5e-5)
		}
		for range 6 {
			add("sgd_step", "optimizer", "float32", 1e-4, 1e-5)
		}
	}
	return list
}
