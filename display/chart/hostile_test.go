package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// TestHostile checks that any input gives a chart whose SVG is valid XML without NaN.
func TestHostile(t *testing.T) {
	odd := []float64{0, -1, 1, 5e-324, -math.MaxFloat64, math.MaxFloat64, math.Inf(1), math.Inf(-1), nan, 1e-300}
	name := "a\nb\x00\x1b <&\"]]> " + strings.Repeat("W", 300) + "한\xff"
	var scale []ScaleStep
	var lanes []OpDType
	for i, v := range odd {
		scale = append(scale, ScaleStep{Scale: v, After: odd[len(odd)-1-i], Skipped: i%3 == 0, Why: name})
	}
	for i := range 30 {
		lanes = append(lanes, OpDType{Name: name, Module: name, Phase: name, DType: fmt.Sprint(name, i), Casts: -i, Cached: 1 << i, Why: name})
	}
	figs := map[string]*Figure{
		"scale": LossScale(scale), "lanes": DTypes(lanes), "empty op": DTypes([]OpDType{{}}), "loss": Loss([]Series{{Name: name, DType: name, Values: odd}, {Values: odd[:1]}}),
		"wide": Lines(name, []Series{{Values: []float64{5e-324, math.MaxFloat64}}}), "rates": Throughput(name, []Rate{{Name: name, Note: name, Values: odd}, {Values: []float64{math.MaxFloat64, math.MaxFloat64}, Predicted: true}, {}}),
		"sweep": ScaleSweep(Sweep{DType: name, Shares: []ScaleShare{{nan, math.Inf(1), -1}, {2, 0, 5e-324}}, Low: nan, High: math.Inf(1), Taken: odd, At: nan}),
		"heat":  HeatMap(name, []HeatRow{{name, odd}, {name, nil}, {"", odd[6:7]}}, -3), "ratios": Ratios(name, []Ratio{{name, name, math.MaxFloat64, math.MaxFloat64}, {"", "", -1, nan}, {"", "", math.SmallestNonzeroFloat64, -1}}), "bars": Bars(name, name, []Bar{{name, []Part{{name, name, math.MaxFloat64}, {name, name, -1}, {"", "", nan}}}, {}}),
		"ranges":   Ranges([]ValueRange{{name, name, math.Inf(-1), math.Inf(1), true}, {name, name, -1, 0, false}, {"", "", nan, 1, false}, {"", "", 5e-324, math.MaxFloat64, false}}),
		"roofline": Roofline(name, math.MaxFloat64, []Roof{{name, 5e-324}, {name, math.MaxFloat64}}, []RoofPoint{{name, name, math.MaxFloat64, 5e-324, 5e-324, name}, {name, name, 1, 1, 1, ""}, {name, name, nan, -1, 0, ""}}),
		"plot":     Plot(odd, odd, name, odd), "step": Step(odd, odd, name, odd), "scatter": Scatter(odd, odd, name, odd, name), "hist": Hist(odd, 1<<40).YLabel(name), "hist log": Hist(odd).LogX().LogY(),
		"imshow": Imshow([][]float64{odd, odd}).XLabel(name).YLabel(name), "grid": Grid(-1, nil, Hist(odd).Title(name), Plot(), Grid(9, Loss([]Series{{X: odd, Values: odd}}).LogX())).Title(name),
		"numbers":     NumberLine(-math.MaxFloat64, math.MaxFloat64, NumberFormat{name, 0x1p-52, 0x1p-1022, 5e-324, math.MaxFloat64}, NumberFormat{name, 5e-324, 5e-324, 5e-324, 5e-324}, NumberFormat{name, .5, 1, 1e-300, math.MaxFloat64}, NumberFormat{Eps: nan}, NumberFormat{"", .9, 3, 2, 1e300}),
		"numbers log": NumberLine(-1, math.MaxFloat64, NumberFormat{name, 0x1p-52, 0x1p-1022, 5e-324, math.MaxFloat64}, NumberFormat{name, 5e-324, 5e-324, 5e-324, 5e-324}).LogX(), "numbers bad": NumberLine(nan, math.Inf(1), NumberFormat{}),
		"bits": BitFields(nan, []StoredBits{{name, 1, 0, 1<<64 - 1, nan, nan}, {name, 15, 48, 1<<64 - 1, math.Inf(-1), math.Inf(1)}, {name, -1, 3, 0, 0, 0}, {name, 99, 99, 0, 0, 0}, {"", 2, 62, 7, -1, 5e-324}}),
		"sum":  RunningSum(Series{Name: name, DType: name, Values: odd}, []Series{{Name: name, X: odd, Values: odd}, {Values: odd[:1]}, {}}), "sum 0": RunningSum(Series{}, []Series{{Values: odd}}), "residue": Residue([]Series{{Name: name, X: odd, Values: odd}, {Name: name, Values: odd[3:]}}),
		"graph":    CastGraph([]CastNode{{name, name, name, -1, 1 << 60}, {}, {"", name, "", 5, 5}}, []CastEdge{{0, 1, name, name, true}, {1, 0, "", "", false}, {-5, 99, "", "", false}, {0, 2, "", name, false}}),
		"timeline": Timeline([]Span{{name, name, name, name, name, 0, math.MaxFloat64}, {name, "", "", "", "", -5, 5e-324}, {"", "", "", "", "", nan, -1}, {Start: math.Inf(1)}}), "timeline wide": Timeline([]Span{{Start: -math.MaxFloat64}, {Start: math.MaxFloat64}}), "timeline short": Timeline([]Span{{Duration: 5e-324}}),
		"difference": Difference(name, name, []Pair{{name, odd, odd, nil}, {name, odd, odd[3:], odd}, {"", odd[5:], odd, odd[:1]}, {First: odd}}),
		"spectrum":   Spectrum([]float32{math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.Inf(-1)), 0}),
	}
	notes := func(f *Figure) *Figure {
		for _, v := range odd {
			f = f.Text(v, 1, name).Annotate(name, v, v, 1, v).HLine(v, name).VLine(v).HSpan(v, 1).VSpan(v, 2, name)
		}
		return f.XTicks(odd, slices.Repeat([]string{name}, len(odd))...).Legend("upper left")
	}
	errs := []float64{0, 1, 1e300, nan, math.Inf(1), 5e-324, 1, 1, 1, 1}
	for key, f := range map[string]*Figure{"plot": Plot(odd, name, odd), "plot log": Plot(odd, odd, name).LogX().LogY(), "scatter": Scatter(odd, odd), "imshow": Imshow([][]float64{odd, odd}), "hist": Hist(odd, odd[:3], name),
		"box": BoxPlot(odd, name, odd[:1]), "bar": BarPlot(slices.Repeat([]string{name}, len(odd)), odd), "bar log": BarPlot(slices.Repeat([]string{""}, len(odd)), odd).LogY(), "scale": LossScale(scale)} {
		figs["noted "+key] = notes(f)
		figs["limits "+key] = f.XLim(-1e300, 1).YLim(nan, 1e300).Legend("none")
	}
	figs["errors"], figs["errors log"] = Plot(odd, name, odd).ErrorBars(errs, errs).Bands(errs), Scatter(odd, odd).LogY().ErrorBars(errs)
	figs["bar errors"], figs["twin"] = BarPlot(slices.Repeat([]string{name}, len(odd)), odd).ErrorBars(errs), Plot(odd, name).TwinX(Plot(odd, odd, name).YLabel(name))
	figs["twin log"], figs["shared"] = Plot(odd).LogY().TwinX(Step(odd).LogY()), Grid(2, Plot(odd), Scatter(odd, odd), Hist(odd), LossScale(scale)).ShareX().ShareY()
	figs["images"], figs["image"] = Images([][][]float64{{odd, odd}, {odd, odd}}, -3, name, ""), Imshow([][][]float64{{odd[:3], odd[1:4]}, {odd[2:5], odd[3:6]}, {odd[4:7], odd[5:8]}})
	for _, f := range figs {
		f.Bundle()
		f.Data()
	}
	for i, v := range odd {
		figs[fmt.Sprint("scale ", v)] = LossScale([]ScaleStep{{Scale: v}})
		figs[fmt.Sprint("loss ", v)] = Loss([]Series{{Values: []float64{v, odd[(i+1)%len(odd)]}}, {Values: []float64{v}}})
		figs[fmt.Sprint("plot ", v)] = Plot([]float64{v, odd[(i+1)%len(odd)]}, []float64{1, v}, name).LogX().XLabel(name)
		figs[fmt.Sprint("step ", v)] = Step([]float64{v, odd[(i+1)%len(odd)]}, []float64{1, v}, name).LogX().LogY()
		figs[fmt.Sprint("scatter ", v)] = Scatter([]float64{v, odd[(i+1)%len(odd)]}, []float64{v, 2}).LogY()
		figs[fmt.Sprint("hist ", v)] = Hist([]float64{v, odd[(i+1)%len(odd)]}, i*i*i-1)
		figs[fmt.Sprint("imshow ", v)] = Imshow([][]float64{{v, 1}, {odd[(i+1)%len(odd)], 0}})
		figs[fmt.Sprint("numbers ", v)] = NumberLine(v, odd[(i+1)%len(odd)], numberFormats()...)
		figs[fmt.Sprint("bits ", v)] = BitFields(v, []StoredBits{{"float16", 5, 10, uint64(i) << 9, v, odd[(i+1)%len(odd)]}})
		figs[fmt.Sprint("sum ", v)] = RunningSum(Series{Values: []float64{v, 1}}, []Series{{Values: []float64{1, v}}})
		figs[fmt.Sprint("residue ", v)] = Residue([]Series{{Values: []float64{v, odd[(i+1)%len(odd)]}}})
		figs[fmt.Sprint("difference ", v)] = Difference("", "", []Pair{{First: []float64{v}, Second: []float64{odd[(i+1)%len(odd)]}}})
		figs[fmt.Sprint("rate ", v)] = Throughput("", []Rate{{Values: []float64{v}}, {Values: []float64{v, 1}}})
	}
	share := testenv.Share(t, 8)
	for i, name := range slices.Sorted(maps.Keys(figs)) {
		if i%share != 0 {
			continue
		}
		f := figs[name]
		if _, err := json.Marshal(f.VegaLite()); err != nil {
			t.Errorf("%s: the interactive form: %v", name, err)
		}
		readSVG(t, name, f.SVG())
	}
}
