// Package chart draws what mixed precision does: which dtype each operation ran
// in, what the loss scaler did, what float16 loses of the gradients, what speed it
// bought. Charts take plain numbers and know nothing of tensors.
//
// Each function returns a [Figure]. The one sentence that says what the figure
// shows is its title, its alt text and the start of its text:
//
//	fig := chart.Throughput("samples/s", []chart.Rate{
//		{Name: "float32", DType: "float32", Values: []float64{1000}},
//		{Name: "autocast", DType: "float16", Values: []float64{2310}},
//	})
//	fmt.Println(fig)  // Against float32 at 1000 samples/s: autocast 2.31×
//	fig.With(chart.Dark).SVG()
//
// One colour stands for one dtype in every chart, and never alone: the dtype's
// letter, a dash pattern, a mark or a label says the same. Numbers that are not
// finite are drawn, as a mark at the edge, because they are what one looks for.
// No input makes a chart panic; one without data says so.
package chart
