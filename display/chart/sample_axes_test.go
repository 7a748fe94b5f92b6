package chart

import (
	"errors"
	"math"
)

// axesSamples returns charts whose axes a reader has changed, and those of one's own data.
func axesSamples() []sample {
	x, a, b, errs := make([]float64, 50), make([]float64, 50), make([]float64, 50), make([]float64, 50)
	scale := make([]float64, 50)
	for i := range x {
		x[i], a[i], b[i], errs[i], scale[i] = float64(i)/5, math.Exp(-float64(i)/15)+.02, math.Exp(-float64(i)/10)+.03, .05+.001*float64(i), math.Exp2(float64(16-i/10))
	}
	gaps := append([]float64{nan, .5, math.Inf(1)}, a[3:]...)
	long := []string{"encoder.layer.0.weight", "encoder.layer.1.weight", "encoder.layer.2.weight", "encoder.layer.3.weight", "encoder.layer.4.weight", "encoder.layer.5.weight"}
	return []sample{
		{"axes-annotated", Plot(x, b, "loss").Annotate("scale halved", x[20], b[20], 6, .8).Text(1, .2, "a text").HLine(.5, "half").VLine(3, "warm-up ends").VSpan(7, 9, "cooling").HSpan(.9, 1)},
		{"axes-annotated-log", Plot(x, b, "loss").LogY().Annotate("here", 2, .5, 6, .8).HLine(.1, "a tenth").VSpan(3, 4)},
		{"axes-annotated-matrix", Imshow(board(30, 30)).Annotate("here", 2, 2, 4, 4).VLine(2.5).Text(0, 5, "a text")},
		{"axes-annotated-bars", Bars("memory", "B", memoryBars()).VLine(3e8, "limit").Text(1e8, 0, "a text")},
		{"axes-errors", Plot(x, gaps, "mean", x, b, "other").Bands(errs, nil).ErrorBars(nil, [][]float64{errs, a})},
		{"axes-errors-log", Plot(x, a, "mean").Bands(b).ErrorBars(a).LogY()},
		{"axes-errors-points", Scatter(x, a, "a", x, b, "b").ErrorBars(errs).Legend("upper right")},
		{"axes-legend", Plot(x, a, "train", x, b, "valid").Legend("lower left").YLabel("loss")},
		{"axes-legend-above", Plot(x, a, "train", x, gaps, "valid").Legend("above")},
		{"axes-legend-none", Plot(x, a, "train", x, b, "valid").Legend("none")},
		{"axes-limits", Plot(x, a, "a", x, gaps, "b").XLim(2, 8).YLim(.01, .5).VLine(20).Text(9, .1, "outside").XTicks([]float64{0, math.Pi, 2 * math.Pi}, "0", "π", "2π")},
		{"axes-limits-log", Scatter(x, a).LogY().YLim(.1, nan).XLim(nan, 5).YTicks([]float64{.1, .3, 1})},
		{"axes-limits-errors", Plot(x, a).Bands(errs).XLim(1, 4).YLim(.5, .9)},
		{"axes-shared", Grid(2, Plot(x, a), Plot(x, b), Scatter(x[:20], b[:20])).ShareX().ShareY()},
		{"axes-ticks", Imshow([][]float64{{1, 2, 3}, {4, 5, 6}}).XTicks(nil, "2^10", "bfloat16", "float8_e4m3fn").YTicks(nil, "cat", "a longer name").XLabel("predicted").YLabel("true")},
		{"axes-ticks-long", Imshow(board(2, 6)).XTicks(nil, long...)},
		{"axes-twin", Plot(x, a, "loss").TwinX(Step(x, scale, "loss scale").LogY()).XLabel("epoch")},
		{"axes-errors-steps", Step(x[:8], b[:8], "rate").Bands(errs[:8])},
		{"axes-twin-grid", Grid(2, Plot(x, a, "loss").Bands(errs).TwinX(Step(x, scale, "loss scale").LogY()), Plot(x, a), Plot(x, b)).ShareX()},
		{"axes-twin-unnamed", Plot(x, gaps).TwinX(Plot(x, errs).YLabel("error")).YLabel("loss").Legend("upper left")},
		{"barplot", BarPlot([]string{"float32", "bfloat16", "float16"}, []float64{.91, .9, .88}).ErrorBars([]float64{.01, .02, .015}).YLabel("accuracy").YLim(.8, 1)},
		{"barplot-groups", BarPlot([]string{"float32", "bfloat16", "float16"}, []float64{3, 2, 1}, "forward", []float64{6, -4, nan}, "backward").YLabel("ms").ErrorBars(nil, [][]float64{{1, 2, 1}, {2, 1, 0}})},
		{"barplot-log", BarPlot([]string{"a", "b", "c"}, []float64{1e-3, 100, 0}).LogY()},
		{"barplot-long", BarPlot(long, []int{1, 2, 3, 4, 5, 6})},
		{"barplot-none", BarPlot(nil2, []int{})},
		{"boxplot", BoxPlot(normal(100), "float32", append(normal(50), 9, 10, nan), "bfloat16", []float64{nan}, "none")},
		{"boxplot-one", BoxPlot([]float64{3}).YLabel("seconds")},
		{"hist-sets", Hist(normal(500), "float32", append(normal(300), nan, 3, 3.5), "bfloat16", 30)},
		{"hist-sets-log", Hist([]int{1, 10, 100}, "a", []int{0, 1, 1000}, "b").LogX().LogY()},
		{"images", Images(pictures(6, 1, 8, 8), 4, "0, not 1", "1", "2", "3", "a long label of a picture", "5")},
		{"images-colour", Imshow(pictures(1, 3, 24, 32)[0])},
		{"images-large", Images(pictures(2, 3, 300, 500), 2)},
		{"images-grid", Grid(2, Images(pictures(5, 3, 5, 9), 3), Plot(a))},
		{"table-plot", Plot(columns{}, "step", "loss", "dtype")},
		{"table-scatter", Scatter(columns{}, "step", "loss", "accuracy")},
		{"table-hist", Hist(columns{}, "loss", "dtype", 4)},
		{"table-boxplot", BoxPlot(columns{}, "loss", "dtype").Title("Losses")},
		{"table-barplot", BarPlot(columns{}, "dtype", "loss", "accuracy")},
	}
}

var nil2 []string

// pictures returns pictures with a pattern.
func pictures(n, channels, height, width int) [][][][]float64 {
	list := make([][][][]float64, n)
	for i := range list {
		list[i] = make([][][]float64, channels)
		for c := range list[i] {
			for y := range height {
				row := make([]float64, width)
				for x := range row {
					row[x] = math.Mod(float64(x*(c+1+i)+y*(3-c)), 32) / 32
				}
				list[i][c] = append(list[i][c], row)
			}
		}
	}
	list[0][0][1][1] = nan
	return list
}

// columns is a table.
type columns struct{}

func (columns) Names() []string { return []string{"step", "loss", "accuracy", "dtype"} }

func (columns) Numbers(name string) ([]float64, error) {
	list, found := map[string][]float64{"step": {0, 1, 2, 3, 4, 5}, "loss": {3, 2, 1, 3.1, 2.2, nan}, "accuracy": {.1, .2, .3, .1, .2, .4}}[name]
	if !found {
		return nil, errors.New(`data: csv: column "dtype", row 0: found "float32"; want a number`)
	}
	return list, nil
}

func (columns) Texts(string) []string {
	return []string{"float32", "float32", "float32", "bfloat16", "bfloat16", "bfloat16"}
}

func (c columns) IsNumeric(name string) bool { return name != "dtype" }
