package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Spectrum shows the magnitudes of the gradients of one step and their fate in float16: lost
// below 2⁻²⁵, less exact as subnormals below 2⁻¹⁴, infinite from 65520. It is the histogram of
// "Mixed Precision Training" (Micikevicius et al., ICLR 2018, figure 3).
func Spectrum(grads []float32) *Figure {
	if len(grads) == 0 {
		return blank(words.gradNone)
	}
	s := newSpectrum(grads)
	rows := [][]any{}
	for _, r := range []struct {
		name string
		n    int
	}{
		{words.bandZero, s.zero}, {words.bandLost, s.lost}, {words.bandSubnormal, s.subnormal},
		{words.bandNormal, s.normal}, {words.bandInfinite, s.over}, {words.notFinite, s.bad},
	} {
		rows = append(rows, []any{r.name, r.n, percent(r.n, len(grads))})
	}
	return &Figure{theme: Light, sentence: s.sentence(), height: 240, draw: s.draw, twin: s.twin,
		head: []string{words.headBand, words.count, words.headShare}, rows: rows, data: s.all}
}

// Exponents on the axis; values outside count with the outermost bar.
const (
	gradLo = -40
	gradHi = 19

	gradZero = gradLo - 3. // position of the bar of zeros
	gradBad  = gradHi + 3. // position of the bar of inf and NaN
)

type spectrum struct {
	bins                               [gradHi - gradLo + 1]int
	zero, lost, subnormal, normal, bad int
	over                               int
	all_                               int
}

func newSpectrum(grads []float32) *spectrum {
	s := &spectrum{all_: len(grads)}
	for _, g := range grads {
		a := math.Abs(float64(g))
		switch {
		case !finite(a):
			s.bad++
			continue
		case a == 0:
			s.zero++
			continue
		case a <= 0x1p-25: // a tie rounds to even, which is 0
			s.lost++
		case a < 0x1p-14:
			s.subnormal++
		case a < 65520: // larger values round to infinity
			s.normal++
		default:
			s.over++
		}
		s.bins[min(max(math.Ilogb(a), gradLo), gradHi)-gradLo]++
	}
	return s
}

func (s *spectrum) sentence() string {
	some := s.lost + s.subnormal + s.normal + s.over
	parts := []string{words.gradFine}
	if s.lost > 0 || s.over > 0 {
		parts[0] = fmt.Sprintf(words.gradShare, percent(s.lost, some))
	}
	if s.over > 0 {
		parts = append(parts, fmt.Sprintf(words.gradOver, percent(s.over, some)))
	}
	if s.zero > 0 {
		parts = append(parts, fmt.Sprintf(words.gradZero, percent(s.zero, s.all_)))
	}
	if s.bad > 0 {
		parts = append(parts, fmt.Sprintf(words.lineAll, percent(s.bad, s.all_)))
	}
	return strings.Join(parts, words.listAnd)
}

func (s *spectrum) all() (head []string, rows [][]any) {
	for i, n := range s.bins {
		rows = append(rows, []any{gradLo + i, n})
	}
	return []string{words.headExponent, words.count}, rows
}

func (s *spectrum) draw(t Theme, c draw.Canvas) {
	c = keys(t, c, words.count, nil)
	p := t.plot()
	p.X.Label.Text = words.gradAxis
	p.X.Tick.Marker = gradTicks{}
	style := t.style(smallSize, t.Text)
	p.Add(band{gradLo, -25, t.Lost, words.bandLost, style}, band{-25, -14, t.Subnormal, words.bandSubnormal, style},
		band{-14, math.Log2(65520), t.Normal, words.bandNormal, style}, band{math.Log2(65520), gradHi + 1, t.Infinite, words.bandInfinite, style})
	most := max(slices.Max(s.bins[:]), s.zero, s.bad, 1)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = gradZero-1.5, gradBad+1.5, 0, float64(most)*1.18 // room for the bands' names
	p.Add(bins{s.bins[:], gradLo, t.Float32}, bins{[]int{s.zero}, gradZero - .5, t.Neutral}, bins{[]int{s.bad}, gradBad - .5, t.Skip})
	p.Draw(c)
}

// band is a named vertical strip.
type band struct {
	from, to float64
	fill     colour
	name     string
	style    text.Style
}

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	from, to := x(b.from), x(b.to)
	c.FillPolygon(b.fill, rectangle(from, c.Min.Y, to, c.Max.Y))
	b.style.XAlign, b.style.YAlign = draw.XCenter, draw.YTop
	c.FillText(b.style, vg.Point{X: (from + to) / 2, Y: c.Max.Y - 4}, fit(b.style, b.name, to-from))
}

// bins is a histogram with one bar of width 1 per count; the first bar is at from.
type bins struct {
	count []int
	from  float64
	fill  colour
}

func (b bins) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, n := range b.count {
		if n > 0 {
			at := b.from + float64(i)
			c.FillPolygon(b.fill, rectangle(x(at)+.6, y(0), x(at+1)-.6, max(y(float64(n)), y(0)+.75)))
		}
	}
}

// gradTicks marks the exponents and the two bars next to them.
type gradTicks struct{}

func (gradTicks) Ticks(lo, hi float64) []plot.Tick {
	return append(powerTicks{2}.Ticks(gradLo, gradHi+1),
		plot.Tick{Value: gradZero, Label: "0"}, plot.Tick{Value: gradBad, Label: words.gradBad})
}
