package chart

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
)

// large returns a figure of each kind with ten thousand points, or as many as the kind shows.
func large() []sample {
	const n = 10000
	four := make([]Series, 4)
	for i := range four {
		four[i] = Series{Name: fmt.Sprint("run ", i), DType: dtypes[i].name, Values: normal(n / 4)}
	}
	sums := []Series{four[1], four[2], four[3]}
	var pairs []Pair
	for _, s := range four[:2] {
		pairs = append(pairs, Pair{Name: s.Name, First: s.Values, Second: wave(n / 4)})
	}
	var rates []Rate
	var ratios []Ratio
	var bars []Bar
	var layers []GradientLayer
	for i := range 40 {
		rates = append(rates, Rate{Name: fmt.Sprint("run ", i), DType: dtypes[i%4].name, Values: normal(n / 40)})
		for k := range rates[i].Values {
			rates[i].Values[k] += 100
		}
		ratios = append(ratios, Ratio{Name: fmt.Sprint("work ", i), DType: dtypes[i%4].name, Value: math.Exp2(float64(i%9 - 4)), Spread: .1})
		bars = append(bars, Bar{Name: fmt.Sprint("run ", i), Parts: memoryBars()[1].Parts})
		layers = append(layers, gradientLayers()...)
	}
	var work []RoofPoint
	for i := range n {
		work = append(work, RoofPoint{fmt.Sprint("work ", i), dtypes[i%4].name, float64(1+i%99) * 1e9, float64(1+i%101) * 1e6, float64(1+i%103) * 1e-5, "memory"})
	}
	gradients := make([]float32, n)
	for i, v := range normal(n) {
		gradients[i] = float32(math.Exp2(v*9 - 20))
	}
	return []sample{
		{"bars", Bars("memory", "B", bars)},
		{"bit fields", BitFields(.1, stored(.1))},
		{"cast graph", CastGraph(longGraph(90))},
		{"difference", Difference("float32", "autocast", pairs)},
		{"dtypes", DTypes(longTrace(n))},
		{"gradient layers", GradientLayers(layers)},
		{"grid", Grid(2, Plot(normal(n/4)), Scatter(wave(n/4), normal(n/4)), Hist(normal(n/4)), Imshow(board(50, 50)))},
		{"heat map", HeatMap("flushed to zero", heat(25, n/25), 1)},
		{"hist", Hist(normal(n))},
		{"imshow", Imshow(board(100, 100))},
		{"lines", Lines("accuracy", four)},
		{"loss scale", LossScale(saw(n))},
		{"needed", Needed("memory", "B", four[:2])},
		{"number line", NumberLine(0, 4, numberFormats()...)},
		{"panels", Panels(run(n / 5))},
		{"plot", Plot(normal(n))},
		{"ranges", Ranges(ranges(n))},
		{"ratios", Ratios("speed", ratios)},
		{"residue", Residue(four)},
		{"roofline", Roofline("T4 (predicted)", 320e9, []Roof{{"float32", 8.1e12}, {"float16", 65e12}}, work)},
		{"running sum", RunningSum(four[0], sums)},
		{"scatter", Scatter(normal(n), normal(n))},
		{"spectrum", Spectrum(gradients)},
		{"sweep", ScaleSweep(sweep())},
		{"throughput", Throughput("samples/s", rates)},
		{"timeline", Timeline(spans(n/19, "cpu"))},
	}
}

// BenchmarkForms measures the forms of every kind of figure.
func BenchmarkForms(b *testing.B) {
	for _, s := range large() {
		for _, form := range []struct {
			name string
			of   func()
		}{
			{"VegaLite", func() { s.fig.VegaLite() }},
			{"JSON", func() { json.Marshal(s.fig.VegaLite()) }},
			{"PNG", func() { s.fig.PNG() }},
			{"SVG", func() { s.fig.SVG() }},
		} {
			b.Run(s.name+"/"+form.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					form.of()
				}
			})
		}
	}
}
