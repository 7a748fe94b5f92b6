// Package chart draws the effects of mixed precision: the dtype of each operation, the moves of
// the loss scale, the gradients that float16 loses, and the speed-up. It does not depend on tensors.
//
// Charts of your own numbers take one line, with matplotlib's names. [Plot], [Step], [Scatter], [Hist] and [Imshow]
// take slices and tensors, and [Grid] puts several charts into one:
//
//	chart.Plot(losses).XLabel("step").LogY()
//	chart.Plot(train, "train", valid, "valid")
//	chart.Step(epochs, rates)
//	chart.Scatter(x, y)
//	chart.Hist(net.Weight)
//	chart.Imshow(confusion).XLabel("predicted").YLabel("true")
//	chart.Grid(2, chart.Plot(losses), chart.Hist(weights))
//
// [BarPlot], [BoxPlot] and [Images] are further ones, and all of them take columns of a table by name. Methods of [Figure] change the axes:
// [Figure.XTicks], [Figure.YLim], [Figure.Legend], [Figure.Annotate], [Figure.HLine], [Figure.ErrorBars], [Figure.TwinX] and others, and
// [Figure.ShareX] those of a grid. docs/matplotlib.md has them next to matplotlib's.
//
// Number formats and their sums have charts too: [NumberLine], [BitFields], [RunningSum], [Residue] and
// [Difference]. Package amp/experiment computes their data.
//
// Each function returns a [Figure]. One sentence states what the figure shows; it is the title,
// the alt text and the start of the figure's text:
//
//	fig := chart.Throughput("samples/s", []chart.Rate{
//		{Name: "float32", DType: "float32", Values: []float64{1000}},
//		{Name: "autocast", DType: "float16", Values: []float64{2310}},
//	})
//	fmt.Println(fig)  // Against float32 at 1000 samples/s: autocast 2.31×
//	fig.With(chart.Dark).SVG()
//	fig.Interactive()  // exact values under the pointer, zoom, a legend that filters
//
// Each colour stands for one dtype in every chart, and a letter, dash pattern, mark or label
// always repeats it. Non-finite numbers, which readers look for, are drawn as a mark at the edge.
// Charts do not panic for any numbers; arguments that are no data, such as a function, or lists of different lengths, do. A chart
// without data shows that it is empty.
package chart
