package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"halfnote/internal/text"
)

// Sweep describes the effect of every loss scale on the gradients of a run in one format.
type Sweep struct {
	DType  string       // number format
	Shares []ScaleShare // shares at scale 1, 2, 4 …
	// Low and High bound the safe scales; both are 0 if no scale is safe.
	Low, High float64
	Taken     []float64 // scales that the run used
	At        float64   // scale to highlight; 0 if no scale is highlighted
}

// ScaleShare holds the shares of gradients, from 0 to 1, that a scale leaves too small, subnormal
// and too large.
type ScaleShare struct{ Flushed, Subnormal, Overflow float64 }

// ScaleSweep shows the shares over all scales: the flushed share falls from the left, the
// overflowing share rises to the right, and the safe scales are a band between them. Marks below
// the axis show the scales that the run used.
func ScaleSweep(s Sweep) *Figure {
	if len(s.Shares) == 0 {
		return blank(words.gradNone)
	}
	rows := [][]any{}
	for i, at := range s.Shares {
		rows = append(rows, []any{text.Power(2, i), sharePercent(at.Flushed), sharePercent(at.Subnormal), sharePercent(at.Overflow)})
	}
	f := s.view().figure(s.sentence())
	f.head, f.rows, f.data = []string{words.headScale, words.sweepFlushed, words.bandSubnormal, words.sweepOver}, rows, s.all
	return f
}

func (s Sweep) sentence() string {
	text := fmt.Sprintf(words.sweepNone, s.DType)
	if s.High > 0 {
		text = fmt.Sprintf(words.sweepSafe, s.DType, scaleText(s.Low), scaleText(s.High))
		if s.High == math.Exp2(float64(len(s.Shares)-1)) {
			text += words.sweepEnd
		}
	}
	if i := math.Log2(s.At); s.At >= 1 && i < float64(len(s.Shares)) {
		at := s.Shares[int(i)]
		text += fmt.Sprintf(words.sweepAt, scaleText(s.At), sharePercent(at.Flushed), sharePercent(at.Subnormal), sharePercent(at.Overflow))
	}
	return text
}

// sharePercent formats a share from 0 to 1.
func sharePercent(v float64) string {
	if !finite(v) {
		return short(v)
	}
	n := int(min(max(v, 0), 1) * 1e9)
	if v > 0 && n == 0 {
		n = 1
	}
	return percent(n, 1e9)
}

func (s Sweep) all() (head []string, rows [][]any) {
	for i, at := range s.Shares {
		rows = append(rows, []any{math.Exp2(float64(i)), at.Flushed, at.Subnormal, at.Overflow})
	}
	return []string{words.headScale, words.sweepFlushed, words.bandSubnormal, words.sweepOver}, rows
}

// view returns the shares as lines.
func (s Sweep) view() view {
	last := float64(len(s.Shares)) - .5
	v := view{x: scale{title: words.scale, lo: -.5, hi: last, base: 2}, y: scale{title: words.sweepAxis, lo: 0, hi: 112}, height: 185, zoom: []string{"x"}, // room for the band's name
		facts: []fact{{"kind", words.headBand}, {"scale", words.headScale}, {"share", words.headShare}}, formats: map[string]string{"share": ".4~%"}}
	lines := layer{mark: curves{}}
	for k, of := range []struct {
		kind
		share func(ScaleShare) float64
	}{
		{kind{name: words.sweepFlushed, color: func(t Theme) color.NRGBA { return t.Float16 }}, func(x ScaleShare) float64 { return x.Flushed }},
		{kind{name: words.bandSubnormal, color: func(t Theme) color.NRGBA { return t.Promote }, dashes: []vg.Length{6, 3}}, func(x ScaleShare) float64 { return x.Subnormal }},
		{kind{name: words.sweepOver, color: skipInk, dashes: []vg.Length{2, 2}}, func(x ScaleShare) float64 { return x.Overflow }},
	} {
		v.kinds = append(v.kinds, of.kind)
		for i, at := range s.Shares {
			y := of.share(at)
			if finite(y) {
				y = min(max(y, 0), 1)
			}
			lines.rows = append(lines.rows, row{x: float64(i), y: 100 * y, kind: k, facts: []any{of.name, math.Exp2(float64(i)), y}})
		}
	}
	if s.Low > 0 && s.High >= s.Low && finite(s.High) {
		v.layers = append(v.layers, layer{mark: rects{top: true}, small: true, rows: []row{{x: math.Log2(s.Low) - .5, x2: math.Log2(s.High) + .5, y: 0, y2: 112, color: func(t Theme) color.NRGBA { return t.Normal }, text: words.sweepBand}}})
	}
	v.layers = append(v.layers, lines)
	taken := slices.Clone(s.Taken)
	slices.Sort(taken)
	feet := layer{mark: points{symbol: up, width: 4}}
	for _, scale := range slices.Compact(taken) {
		if e := exponent(scale, 2); e >= -.5 && e <= last {
			feet.rows = append(feet.rows, row{x: e, y: 2.5, color: func(t Theme) color.NRGBA { return t.Float32 }, facts: []any{words.sweepTaken, scale, nil}})
		}
	}
	if len(feet.rows) > 0 {
		v.layers = append(v.layers, feet)
		v.signs = []kind{{name: words.sweepTaken, symbol: up, color: func(t Theme) color.NRGBA { return t.Float32 }}}
	}
	if at := exponent(s.At, 2); at >= -.5 && at <= last {
		v.layers = append(v.layers, layer{mark: rules{width: 1}, rows: []row{{x: at, x2: at, y: 0, y2: 112, color: textInk}}})
	}
	return v
}
