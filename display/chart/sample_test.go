package chart

import (
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
	return append(axesSamples(), []sample{
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
		{"grid-linked", Grid(1, Loss(losses()), Lines("accuracy", []Series{{Name: "float32", DType: "float32", Values: wave(150)}}), LossScale(saw(149)))},
		{"grid-nested", Grid(2, Grid(1, Loss(losses())), NumberLine(0, 4, numberFormats()...), Panels(run(20)), Roofline("T4", 320e9, []Roof{{"float32", 8.1e12}}, roofPoints()))},
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
		{"plot-round", Plot([]float64{0, 1, 0, -1, 0}, []float64{1, 0, -1, 0, 1}, "square", []float64{0, 1}, []float64{0, 1}, "a long name of a diagonal that begins in the middle")},
		{"step", Step([]float64{0, 2, 3, 8}, []float64{.1, .01, .001, .0001}, "lr", []float64{5, nan, 4, math.Inf(1), 3}, "gaps").XLabel("epoch")},
		{"step-long", Step(wave(30000))},
		{"step-one", Step([]float64{7})},
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
	}...)
}
