package chart

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lucasb-eyer/go-colorful"

	"halfnote/internal/testenv"
)

// deficiencies are the matrices that turn linear RGB colours into those that people without one
// kind of cones see. They are from Machado, Oliveira and Fernandes, "A physiologically-based model
// for simulation of color vision deficiency" (2009), for severity 1.
var deficiencies = map[string][3][3]float64{
	"none":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// seen returns c as a person with a colour vision deficiency sees it.
func seen(c color.NRGBA, m [3][3]float64) colorful.Color {
	x, _ := colorful.MakeColor(c)
	r, g, b := x.LinearRgb()
	row := func(m [3]float64) float64 { return m[0]*r + m[1]*g + m[2]*b }
	return colorful.LinearRgb(row(m[0]), row(m[1]), row(m[2])).Clamped()
}

// TestColourBlindness checks that the colours of the dtypes that have one differ for readers with
// each kind of colour blindness. A difference of 10 in CIEDE2000 is seen at a glance.
func TestColourBlindness(t *testing.T) {
	for name, th := range themes {
		for kind, m := range deficiencies {
			for i, a := range dtypes[:6] {
				for _, b := range dtypes[:i] {
					if a.letter == "e5" && b.letter == "64" { // both neutral: their letters and dashes differ
						continue
					}
					d := 100 * seen(a.color(th), m).DistanceCIEDE2000(seen(b.color(th), m))
					t.Logf("%s, %s: %s and %s differ by %.1f", name, kind, a.name, b.name, d)
					if d < 10 {
						t.Errorf("%s, %s: %s and %s differ by %.1f, want at least 10", name, kind, a.name, b.name, d)
					}
				}
			}
		}
	}
}

// TestRandomLabels checks that every text is inside the picture and apart from the others, for
// random data of all magnitudes under names of all lengths, alone and in panels of half and a third
// of the width.
func TestRandomLabels(t *testing.T) {
	share := testenv.Share(t, 20)
	for seed := 0; seed < 1000; seed += share {
		r := random{rand.New(rand.NewPCG(uint64(seed), 1))}
		var panels []*Figure
		for range 3 {
			panels = append(panels, r.panel())
		}
		checkTexts(t, fmt.Sprintf("seed %d, alone", seed), panels[0])
		checkTexts(t, fmt.Sprintf("seed %d, in halves", seed), Grid(2, panels[:2]...))
		checkTexts(t, fmt.Sprintf("seed %d, in thirds", seed), Grid(3, panels...))
		checkTexts(t, fmt.Sprintf("seed %d, wide", seed), r.wide())
	}
}

// random makes charts of random data.
type random struct{ *rand.Rand }

// values returns numbers of one magnitude, some of them not finite.
func (r random) values() []float64 {
	scale, shift := math.Pow(10, float64(r.IntN(40)-20)), float64(r.IntN(3)-1)*math.Pow(10, float64(r.IntN(12)-6))
	list := make([]float64, 1+r.IntN(40))
	for i := range list {
		switch list[i] = r.NormFloat64()*scale + shift; r.IntN(30) {
		case 0:
			list[i] = nan
		case 1:
			list[i] = math.Inf(r.IntN(2)*2 - 1)
		}
	}
	return list
}

// name returns some words.
func (r random) name() string {
	words := []string{"loss", "validation accuracy", "layer.12.attention.output.dense", "float16", "Größe", "x", "gradient of the first convolution", ""}
	return strings.TrimSpace(words[r.IntN(len(words))] + " " + words[r.IntN(len(words))])
}

func (r random) dtype() string { return dtypes[r.IntN(len(dtypes))].name }

func (r random) series() (list []Series) {
	for range 1 + r.IntN(4) {
		list = append(list, Series{Name: r.name(), DType: r.dtype(), Values: r.values()})
	}
	return list
}

// panel returns a chart that can share a row.
func (r random) panel() *Figure {
	var f *Figure
	switch r.IntN(9) {
	case 6:
		values := r.values()
		names := make([]string, len(values))
		for i := range names {
			names[i] = r.name()
		}
		f = BarPlot(names, values, r.name())
	case 7:
		f = BoxPlot(r.values(), r.name(), r.values(), r.name())
	case 8:
		x, y := r.values(), r.values()
		n := min(len(x), len(y))
		f = Plot(x[:n], y[:n], r.name()).TwinX(Plot(x[:n], y[:n]).YLabel(r.name()))
	case 0:
		f = Loss(r.series())
	case 1:
		f = Lines(r.name(), r.series())
	case 2:
		x, y := r.values(), r.values()
		n := min(len(x), len(y))
		f = Plot(x[:n], y[:n], r.name(), r.values())
	case 3:
		x, y := r.values(), r.values()
		n := min(len(x), len(y))
		f = Scatter(x[:n], y[:n], r.name())
	case 4:
		f = Hist(r.values(), 1+r.IntN(60))
	default:
		rows := make([][]float64, 1+r.IntN(12))
		width := 1 + r.IntN(12)
		for i := range rows {
			rows[i] = make([]float64, width)
			copy(rows[i], r.values())
		}
		f = Imshow(rows)
	}
	if r.IntN(2) == 0 {
		f = f.XLabel(r.name()).YLabel(r.name())
	}
	if r.IntN(3) == 0 {
		f = f.Title(r.name() + " " + r.name() + " " + r.name())
	}
	if r.IntN(3) == 0 {
		f = f.LogY()
	}
	if r.IntN(4) == 0 {
		f = f.Legend([]string{"upper left", "lower right", "above", "none"}[r.IntN(4)])
	}
	return f
}

// wide returns a chart that takes the whole width.
func (r random) wide() *Figure {
	n := 1 + r.IntN(9)
	switch r.IntN(7) {
	case 0:
		list := make([]Rate, n)
		for i := range list {
			v := r.values()
			for k := range v {
				v[k] = math.Abs(v[k])
			}
			list[i] = Rate{Name: r.name(), DType: r.dtype(), Values: v, Predicted: r.IntN(2) == 0, Note: r.name()}
		}
		return Throughput(r.name(), list)
	case 1:
		list := make([]ValueRange, n)
		for i := range list {
			v := r.values()
			list[i] = ValueRange{Name: r.name(), DType: r.dtype(), Min: math.Abs(v[0]), Max: math.Abs(v[len(v)-1])}
		}
		return Ranges(list)
	case 2:
		list := make([]Ratio, n)
		for i := range list {
			list[i] = Ratio{r.name(), r.dtype(), math.Abs(r.values()[0]), r.Float64()}
		}
		return Ratios(r.name(), list)
	case 3:
		list := make([]HeatRow, n)
		for i := range list {
			list[i] = HeatRow{r.name(), r.values()}
		}
		return HeatMap(r.name(), list, 1)
	case 4:
		list := make([]Bar, n)
		for i := range list {
			list[i] = Bar{Name: r.name()}
			for range r.IntN(4) {
				list[i].Parts = append(list[i].Parts, Part{r.name(), r.dtype(), math.Abs(r.values()[0])})
			}
		}
		return Bars(r.name(), r.name(), list)
	case 5:
		list := make([]ScaleStep, n*20)
		for i := range list {
			list[i] = ScaleStep{Scale: math.Exp2(float64(r.IntN(60) - 20)), Skipped: r.IntN(9) == 0}
		}
		return LossScale(list)
	}
	list := make([]OpDType, n*7)
	for i := range list {
		list[i] = OpDType{Name: r.name(), Module: r.name(), DType: r.dtype(), Casts: r.IntN(3), Why: r.name()}
	}
	return DTypes(list)
}
