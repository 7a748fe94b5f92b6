package chart

import (
	"fmt"
	"image/color"
)

// GradientLayer describes the gradient of a parameter in half precision.
type GradientLayer struct {
	Name     string // parameter name, for example "fc1.weight"
	DType    string // dtype that the gradient was computed in; may be empty
	Elements int
	// Counts of elements that are 0 in any dtype, flushed to 0, below the smallest normal number,
	// and inf or NaN; the remaining elements are normal numbers.
	Zeros, Flushed, Subnormal, Infinite int
	Note                                string // short remark, for example "flushed"
}

// GradientLayers shows the gradients of a model, one bar per parameter: the fraction of elements
// that are normal, subnormal, flushed to zero, already zero, inf or NaN.
func GradientLayers(layers []GradientLayer) *Figure {
	if len(layers) == 0 {
		return blank(words.layersNone)
	}
	f := layerView(layers[:min(len(layers), layerMost)]).figure(layerSentence(layers))
	f.head, f.rows = []string{words.headParam, words.headDType, words.sweepFlushed, words.layersZero, words.bandSubnormal, words.notFinite, words.headNote}, nil
	for _, l := range layers {
		f.rows = append(f.rows, []any{l.Name, l.DType, percent(l.Flushed, l.Elements-l.Zeros), percent(l.Zeros, l.Elements), percent(l.Subnormal, l.Elements), percent(l.Infinite, l.Elements), l.Note})
	}
	f.rows = cutRows(f.rows, 40)
	f.data = func() (head []string, rows [][]any) {
		for _, l := range layers {
			rows = append(rows, []any{l.Name, l.DType, l.Elements, l.Zeros, l.Flushed, l.Subnormal, l.Infinite, l.Note})
		}
		return []string{words.headParam, words.headDType, words.count, words.layersZero, words.sweepFlushed, words.bandSubnormal, words.notFinite, words.headNote}, rows
	}
	return f
}

func layerSentence(layers []GradientLayer) string {
	worst := layers[0]
	share := func(l GradientLayer) float64 { return float64(l.Flushed) / float64(max(l.Elements-l.Zeros, 1)) }
	for _, l := range layers {
		if share(l) > share(worst) {
			worst = l
		}
	}
	if worst.Flushed == 0 {
		return counted(len(layers), words.layersFineOne, words.layersFine)
	}
	return fmt.Sprintf(words.layersWorst, worst.Name, percent(worst.Flushed, worst.Elements-worst.Zeros))
}

// Dimensions of the chart.
const (
	layerMost = 40 // maximum number of bars
	layerRow  = 20 // height of a bar
)

// layerParts are the parts of a bar, from the left.
var layerParts = []struct {
	kind
	of func(GradientLayer) int
}{
	{kind{name: words.layersNormal, color: func(t Theme) color.NRGBA { return t.BFloat16 }}, func(l GradientLayer) int { return l.Elements - l.Zeros - l.Flushed - l.Subnormal - l.Infinite }},
	{kind{name: words.bandSubnormal, color: func(t Theme) color.NRGBA { return t.BFloat16 }, faint: true}, func(l GradientLayer) int { return l.Subnormal }},
	{kind{name: words.layersZero, color: gridInk}, func(l GradientLayer) int { return l.Zeros }},
	{kind{name: words.sweepFlushed, color: func(t Theme) color.NRGBA { return t.Float16 }}, func(l GradientLayer) int { return l.Flushed }},
	{kind{name: words.notFinite, color: skipInk, faint: true}, func(l GradientLayer) int { return l.Infinite }},
}

// layerView returns the bars.
func layerView(layers []GradientLayer) view {
	v := view{x: scale{bare: true, lo: 0, hi: 1}, height: layerRow * len(layers),
		facts: []fact{{"name", words.headParam}, {"dtype", words.headDType}, {"kind", words.headPart}, {"count", words.count}, {"elements", words.headElements}, {"share", words.headShare}, {"note", words.headNote}}}
	for _, p := range layerParts {
		v.kinds = append(v.kinds, p.kind)
	}
	parts, notes := layer{mark: rects{}}, layer{mark: texts{align: 1, side: rightOf}, small: true}
	style := Light.style(smallSize, Light.Text)
	for i, l := range layers {
		v.y.names = append(v.y.names, l.Name)
		sum := 0.
		for k, p := range layerParts {
			n := p.of(l)
			share := float64(n) / float64(max(l.Elements, 1))
			if share > 0 {
				parts.rows = append(parts.rows, row{x: sum, x2: sum + share, y: float64(i) - .3, y2: float64(i) + .3, kind: k, facts: []any{l.Name, l.DType, p.name, n, l.Elements, percent(n, l.Elements), l.Note}})
			}
			sum += share
		}
		if l.Note != "" {
			note := fit(style, printable(l.Note), 140)
			notes.rows = append(notes.rows, row{y: float64(i), color: neutral, text: note})
			v.right = max(v.right, style.Width(note)+asideGap+4)
		}
	}
	v.layers = []layer{parts, notes}
	return v
}
