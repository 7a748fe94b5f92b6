package chart_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"halfnote/display/chart"
)

// TestPicturesOfExamples compares the pictures that the examples write with those in testdata.
func TestPicturesOfExamples(t *testing.T) {
	for name, example := range map[string]func(){
		"bars": ExampleBars, "gradientlayers": ExampleGradientLayers, "grid": ExampleGrid, "heatmap": ExampleHeatMap, "hist": ExampleHist, "imshow": ExampleImshow,
		"bitfields": ExampleBitFields, "castgraph": ExampleCastGraph, "timeline": ExampleTimeline, "difference": ExampleDifference, "numberline": ExampleNumberLine, "residue": ExampleResidue, "runningsum": ExampleRunningSum,
		"lines": ExampleLines, "loss": ExampleLoss, "lossscale": ExampleLossScale,
		"plot": ExamplePlot, "step": ExampleStep, "scatter": ExampleScatter, "annotate": ExampleFigure_Annotate, "barplot": ExampleBarPlot, "boxplot": ExampleBoxPlot,
		"images": ExampleImages, "twinx": ExampleFigure_TwinX,
		"panels": ExamplePanels, "ranges": ExampleRanges, "ratios": ExampleRatios, "roofline": ExampleRoofline, "throughput": ExampleThroughput,
	} {
		example()
		picture, err := os.ReadFile(name + ".png")
		if err != nil {
			t.Error(err)
			continue
		}
		chart.CheckGolden(t, name, picture)
	}
}

func ExampleBars() {
	figure := chart.Bars("memory", "B", []chart.Bar{
		{Name: "float32", Parts: []chart.Part{{Name: "weights", DType: "float32", Value: 200e6}, {Name: "activations", DType: "float32", Value: 300e6}}},
		{Name: "autocast", Parts: []chart.Part{
			{Name: "weights", DType: "float32", Value: 200e6}, {Name: "activations", DType: "float32", Value: 40e6},
			{Name: "activations in float16", DType: "float16", Value: 130e6}, {Name: "casts", DType: "float16", Value: 100e6},
		}},
	})
	os.WriteFile("bars.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Memory: weights 400 MB (41 %), activations 340 MB (35 %), activations in float16 130 MB (13 %), casts 100 MB (10 %)
}

// 0.1 in three formats, as experiment.Bits computes them.
func ExampleBitFields() {
	figure := chart.BitFields(0.1, []chart.StoredBits{
		{Name: "float32", Exponent: 8, Mantissa: 23, Bits: 0x3dcccccd, Value: 0.10000000149011612, ULP: 0.2},
		{Name: "bfloat16", Exponent: 8, Mantissa: 7, Bits: 0x3dcd, Value: 0.10009765625, ULP: 0.2},
		{Name: "float16", Exponent: 5, Mantissa: 10, Bits: 0x2e66, Value: 0.0999755859375, ULP: -0.4},
	})
	os.WriteFile("bitfields.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// 0.1 becomes 0.100000001 in float32, 0.100097656 in bfloat16, 0.0999755859 in float16
}

// A layer, a norm that autocast runs in float32, and a connection around both. A recording makes such a
// graph of any network: rec.CastGraph().
func ExampleCastGraph() {
	figure := chart.CastGraph([]chart.CastNode{
		{Name: "input", DType: "float32"},
		{Name: "embed", DType: "float16", Ops: "linear", Casts: 2},
		{Name: "fc", DType: "float16", Ops: "linear, relu", Casts: 2},
		{Name: "norm", DType: "float32", Ops: "layer_norm"},
		{Name: "add", DType: "float32", Ops: "add"},
	}, []chart.CastEdge{
		{From: 0, To: 1, DType: "float32", Cast: "float16"},
		{From: 1, To: 2, DType: "float16"},
		{From: 2, To: 3, DType: "float16", Cast: "float32"},
		{From: 3, To: 4, DType: "float32"},
		{From: 1, To: 4, DType: "float16", Cast: "float32"},
	})
	os.WriteFile("castgraph.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Modules: 2 in float16, 2 in float32; 3 casts between them, 4 inside
}

// The second run follows the first until its tenth step.
func ExampleDifference() {
	var full, half []float64
	for step := range 60 {
		full = append(full, math.Exp(-float64(step)/20))
		half = append(half, full[step])
		if step >= 10 {
			half[step] *= 1 + 1e-4*float64(step)
		}
	}
	figure := chart.Difference("float32", "autocast", []chart.Pair{{Name: "loss", First: full, Second: half}})
	os.WriteFile("difference.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// autocast against float32: loss up to 0.6 % apart (step 59), 0.6 % at the end
}

func ExampleGradientLayers() {
	figure := chart.GradientLayers([]chart.GradientLayer{
		{Name: "encoder.0.weight", DType: "float16", Elements: 1000, Flushed: 900, Subnormal: 60, Note: "flushed"},
		{Name: "encoder.1.weight", DType: "float16", Elements: 1000, Flushed: 250, Subnormal: 200, Zeros: 50, Note: "flushed"},
		{Name: "encoder.2.weight", DType: "float16", Elements: 1000, Flushed: 5, Subnormal: 40, Note: "alive"},
		{Name: "head.weight", DType: "float32", Elements: 80, Infinite: 20, Note: "overflown"},
	})
	os.WriteFile("gradientlayers.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Gradients by parameter: encoder.0.weight loses most, 90 % flushed to 0
}

func ExampleGrid() {
	var losses []float64
	for step := range 60 {
		losses = append(losses, 2*math.Exp(-float64(step)/20))
	}
	weights := [][]float64{{0.2, -0.5, 0.1}, {0.7, 0.0, -0.3}}
	figure := chart.Grid(2,
		chart.Plot(losses).XLabel("step").Title("Loss"),
		chart.Hist(losses, 10).Title("Its values"),
		chart.Imshow(weights).Title("Weights"),
	)
	os.WriteFile("grid.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// 3 charts: Loss; Its values; Weights
}

func ExampleHeatMap() {
	figure := chart.HeatMap("flushed to zero", []chart.HeatRow{
		{Name: "linear 0", Values: []float64{0, 0, 0.1, 0.2, 0.4, 0.8}},
		{Name: "linear 1", Values: []float64{0, 0.01, 0.01, 0.05, 0.1, 0.3}},
		{Name: "softmax", Values: []float64{0.5, 0.4, 0.2, math.NaN(), 0.1, 0}},
	}, 1)
	os.WriteFile("heatmap.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Flushed to zero: most in linear 0, 80 % in step 5
}

func ExampleHist() {
	var grades []int
	for student := range 100 {
		grades = append(grades, 1+student*student%6)
	}
	figure := chart.Hist(grades).XLabel("grade").YLabel("students")
	os.WriteFile("hist.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// 100 values from 1 to 5: mean 3.16, standard deviation 1.573
}

// A confusion matrix.
func ExampleImshow() {
	figure := chart.Imshow([][]int{{50, 3, 0}, {4, 44, 6}, {1, 9, 40}}).XLabel("predicted").YLabel("true")
	os.WriteFile("imshow.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Matrix (3, 3): values from 0 to 50, mean 17.44
}

// Losses of every 50th step.
func ExampleLines() {
	figure := chart.Lines("loss", []chart.Series{
		{Name: "float32", DType: "float32", X: []float64{0, 50, 100, 150, 200}, Values: []float64{2.3, 1.1, 0.6, 0.4, 0.31}},
		{Name: "float16", DType: "float16", X: []float64{0, 50, 100, 150}, Values: []float64{2.3, 1.2, math.NaN(), math.NaN()}},
	})
	os.WriteFile("lines.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Loss over step from 0 to 200: float32 0.31, float16 is NaN from step 100
}

func ExampleLoss() {
	var full, half []float64
	for step := range 100 {
		full = append(full, math.Exp(-float64(step)/40))
		half = append(half, full[step]+0.02)
	}
	half[60] = math.Inf(1)
	figure := chart.Loss([]chart.Series{{Name: "float32", DType: "float32", Values: full}, {Name: "autocast", DType: "float16", Values: half}})
	os.WriteFile("loss.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Loss after 100 steps: float32 0.08416, autocast 0.1042 (1 not finite ▲)
}

// The scale doubles after 60 steps without an overflow, and halves at an overflow.
func ExampleLossScale() {
	scale, clean := 65536., 0
	var steps []chart.ScaleStep
	for i := range 200 {
		step := chart.ScaleStep{Scale: scale}
		if i == 20 || i == 90 || i == 91 {
			step.Skipped, step.Why = true, "the gradient of 2.weight holds inf"
			scale, clean = scale/2, 0
		} else if clean++; clean == 60 {
			scale, clean = scale*2, 0
		}
		step.After = scale
		steps = append(steps, step)
	}
	figure := chart.LossScale(steps)
	os.WriteFile("lossscale.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Loss scale over 200 steps: 3 skipped, from 2¹⁶ to 2¹⁵
}

func ExamplePanels() {
	loss, scale := chart.Panel{Name: "loss"}, chart.Panel{Name: "loss scale", Power: true}
	speed := chart.Panel{Name: "throughput", Unit: "steps/s"}
	flushed := chart.Panel{Name: "flushed to zero", Unit: "%"}
	at := 65536.
	for step := range 120 {
		loss.Values = append(loss.Values, 0.1+2*math.Exp(-float64(step)/30))
		scale.Values = append(scale.Values, at)
		if step%50 == 20 {
			scale.Marked, at = append(scale.Marked, float64(step)), at/2
		}
		speed.Values = append(speed.Values, 40+3*math.Sin(float64(step)/8))
		flushed.Values = append(flushed.Values, 0.05*math.Exp(-float64(step)/50))
	}
	figure := chart.Panels([]chart.Panel{loss, scale, speed, flushed})
	os.WriteFile("panels.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// 120 steps: loss 0.1379, loss scale 2¹⁴ (2 skipped), throughput 42.2 steps/s, flushed to zero 0.5 %
}

// float16 and the two formats of 8 bits, whose numbers are few enough to be drawn one by one.
func ExampleNumberLine() {
	figure := chart.NumberLine(0, 2,
		chart.NumberFormat{Name: "float16", Eps: 0x1p-10, Tiny: 0x1p-14, Subnormal: 0x1p-24, Max: 65504},
		chart.NumberFormat{Name: "float8_e4m3fn", Eps: 0x1p-3, Tiny: 0x1p-6, Subnormal: 0x1p-9, Max: 448},
		chart.NumberFormat{Name: "float8_e5m2", Eps: 0x1p-2, Tiny: 0x1p-14, Subnormal: 0x1p-16, Max: 57344},
	)
	os.WriteFile("numberline.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Numbers from 0 to 2: 16,385 in float16, 65 in float8_e4m3fn, 65 in float8_e5m2
}

func ExamplePlot() {
	var x, sine, cosine []float64
	for i := range 100 {
		x = append(x, float64(i)/10)
		sine, cosine = append(sine, math.Sin(x[i])), append(cosine, math.Cos(x[i]))
	}
	figure := chart.Plot(x, sine, "sin", x, cosine, "cos").XLabel("angle")
	os.WriteFile("plot.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	fmt.Println(chart.Plot([]int{4, 2, 1}))
	// Output:
	// sin ends at −0.4575, cos ends at −0.8892; angle from 0 to 9.9
	// y ends at 1, between 1 and 4; x from 0 to 2
}

func ExampleStep() {
	epochs, rates := []int{0, 30, 60, 80, 90}, []float64{0.1, 0.02, 0.004, 0.0008, 0.0008}
	figure := chart.Step(epochs, rates, "lr").XLabel("epoch").LogY()
	os.WriteFile("step.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// lr ends at 0.0008, between 0.0008 and 0.1; epoch from 0 to 90
}

func ExampleScatter() {
	var size, price []float64
	for i := range 60 {
		size = append(size, 30+2*float64(i))
		price = append(price, 3*size[i]+40*math.Sin(float64(i*i)))
	}
	figure := chart.Scatter(size, price).XLabel("m²").YLabel("thousand euros")
	os.WriteFile("scatter.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// 60 points: m² from 30 to 148, thousand euros from 71.73 to 462.1, correlation 0.97
}

func ExampleRanges() {
	figure := chart.Ranges([]chart.ValueRange{
		{Name: "linear, encoder.0", DType: "float16", Min: 1e-5, Max: 12},
		{Name: "softmax, encoder.0", DType: "float32", Min: 1e-12, Max: 1},
		{Name: "linear backward, encoder.0", DType: "float16", Min: 6e-8, Max: 65504, Bad: true},
	})
	os.WriteFile("ranges.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// 1 of 3 results exceeds float16's largest number, 3 reach below its normal numbers
}

func ExampleRatios() {
	figure := chart.Ratios("speed compared with a library", []chart.Ratio{
		{Name: "matrix product, float32", DType: "float32", Value: 1.03, Spread: 0.02},
		{Name: "matrix product, bfloat16", DType: "bfloat16", Value: 1.8, Spread: 0.1},
		{Name: "softmax, float32", DType: "float32", Value: 0.6, Spread: 0.05},
	})
	os.WriteFile("ratios.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Speed compared with a library: 2 of 3 at least as good; from 0.60× (softmax, float32) to 1.80× (matrix product, bfloat16)
}

// A large number and many ones, added with the 11 bits of float16. Above 2048 its numbers are 2 apart.
func ExampleResidue() {
	round := func(x float64) float64 {
		unit := math.Ldexp(1, math.Ilogb(x)-10)
		return math.RoundToEven(x/unit) * unit
	}
	var orders []chart.Series
	for _, name := range []string{"ones first", "ones last"} {
		s, sum := chart.Series{Name: name}, 0.0
		for i := range 65 {
			term := 1.0
			if i == 0 && name == "ones last" || i == 64 && name == "ones first" {
				term = 2048
			}
			exact := sum + term
			sum = round(exact)
			s.Values = append(s.Values, exact-sum)
		}
		orders = append(orders, s)
	}
	figure := chart.Residue(orders)
	os.WriteFile("residue.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Lost in a sum of 65 terms: ones first 0, ones last 64
}

// Ones, added in a format of three bits, in which 8 + 1 is 8.
func ExampleRunningSum() {
	var exact, sum chart.Series
	sum.Name = "three bits"
	for n := range 16 {
		exact.Values = append(exact.Values, float64(n+1))
		sum.Values = append(sum.Values, min(float64(n+1), 8))
	}
	figure := chart.RunningSum(exact, []chart.Series{sum})
	os.WriteFile("runningsum.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Sum of 16 terms, exactly 16: three bits stops at 8 from term 8 on
}

func ExampleRoofline() {
	figure := chart.Roofline("T4", 320e9, []chart.Roof{{DType: "float32", Rate: 8.1e12}, {DType: "float16", Rate: 65e12}}, []chart.RoofPoint{
		{Name: "linear", DType: "float16", FLOPs: 17e9, Bytes: 42e6, Seconds: 26e-5, Bound: "compute"},
		{Name: "relu", DType: "float16", FLOPs: 2e6, Bytes: 8e6, Seconds: 26e-6, Bound: "memory"},
		{Name: "add", DType: "float32", FLOPs: 10, Bytes: 120, Seconds: 3.8e-6, Bound: "launch"},
	})
	os.WriteFile("roofline.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Operations below the roofs of T4: 90 % compute, 9.0 % memory, 1.3 % launch
}

// A step of two layers. A recording makes such a timeline of any step: rec.Timeline().
func ExampleTimeline() {
	var spans []chart.Span
	at := 0.0
	add := func(lane, name, dtype string, took float64) {
		spans = append(spans, chart.Span{Name: name, Lane: lane, DType: dtype, Start: at, Duration: took})
		at += took + 2e-5
	}
	for range 2 {
		add("casts", "float32 → float16", "float16", 1e-4)
		add("forward", "linear", "float16", 4e-4)
	}
	add("forward", "mse_loss", "float32", 1e-4)
	for range 4 {
		add("backward", "matmul", "float16", 4e-4)
	}
	add("optimizer", "sgd_step", "float32", 2e-4)
	figure := chart.Timeline(spans)
	os.WriteFile("timeline.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// 3.08 ms: forward 29 %, backward 52 %, optimizer 6.5 %, casts 6.5 %, 5.8 % outside of operations
}

func ExampleThroughput() {
	figure := chart.Throughput("samples/s", []chart.Rate{
		{Name: "float32", DType: "float32", Values: []float64{1003, 998, 1010}},
		{Name: "autocast", DType: "float16", Values: []float64{402, 380, 431}, Note: "emulated on the CPU"},
		{Name: "bfloat16", DType: "bfloat16", Values: []float64{2310}, Predicted: true, Note: "AVX512-BF16"},
	})
	os.WriteFile("throughput.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Against float32 at 1003 samples/s: autocast 0.40×, bfloat16 (predicted) 2.30×
}

// An interactive figure holds a specification for JupyterLab and VS Code, and a picture for the rest.
func ExampleFigure_Interactive() {
	fig := chart.Loss([]chart.Series{{Name: "float32", DType: "float32", Values: []float64{1, .5, .25}}}).Interactive()
	b := fig.Bundle()
	fmt.Println(slices.Sorted(maps.Keys(b.Data)))
	fmt.Println(fig.VegaLite()["description"])
	// Output:
	// [application/vnd.vegalite.v5+json image/png text/markdown text/plain]
	// Loss after 3 steps: float32 0.25
}

// Accuracies with their spread.
func ExampleBarPlot() {
	figure := chart.BarPlot([]string{"float32", "bfloat16"}, []float64{.912, .908}).ErrorBars([]float64{.004, .006}).YLabel("accuracy").YLim(.85, 1)
	os.WriteFile("barplot.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// Accuracy from 0.908 (bfloat16) to 0.912 (float32)
}

func ExampleBoxPlot() {
	figure := chart.BoxPlot([]float64{1, 2, 2, 3, 4, 9}, "float32", []int{2, 3, 3, 4, 5}, "bfloat16").YLabel("seconds")
	os.WriteFile("boxplot.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// float32: median 2.5, half of the values from 2 to 3.75; bfloat16: median 3, half of the values from 3 to 4
}

// Two pictures of 2 × 3 pixels with one channel.
func ExampleImages() {
	figure := chart.Images([][][][]float64{{{{0, .5, 1}, {1, .5, 0}}}, {{{1, 0, 1}, {0, 1, 0}}}}, 2, "ramps", "a checkerboard")
	os.WriteFile("images.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// 2 pictures of 2 × 3 (height × width), black at 0, white at 1
}

// A loss with an arrow, a line, a band and a legend.
func ExampleFigure_Annotate() {
	var train, valid []float64
	for i := range 40 {
		x := float64(i)
		train, valid = append(train, 2*math.Exp(-x/9)+.1), append(valid, 2*math.Exp(-x/8)+.25+.002*x)
	}
	figure := chart.Plot(train, "train", valid, "valid").XLabel("epoch").Legend("lower left").
		Annotate("overfits", 28, valid[28], 18, 1.2).HLine(.25, "floor").VSpan(30, 39, "too long")
	os.WriteFile("annotate.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// train ends at 0.1262, valid ends at 0.3433; epoch from 0 to 39
}

// A loss, and the loss scale with its own axis.
func ExampleFigure_TwinX() {
	figure := chart.Plot([]float64{2, 1, .5, .4}, "loss").TwinX(chart.Plot([]float64{65536, 32768, 32768, 65536}, "loss scale"))
	os.WriteFile("twinx.png", figure.PNG(), 0o666)
	fmt.Println(figure)
	// Output:
	// loss ends at 0.4, between 0.4 and 2; x from 0 to 3; loss scale ends at 65536, between 32768 and 65536; x from 0 to 3 (axis at the right)
}
