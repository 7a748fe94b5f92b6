package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"halfnote/internal/text"
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
	f := s.view().figure(s.sentence())
	f.head, f.rows, f.data = []string{words.headBand, words.count, words.headShare}, rows, s.all
	return f
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

// view returns the bars over the bands of float16.
func (s *spectrum) view() view {
	v := view{x: scale{title: words.gradAxis, lo: gradZero - 1.5, hi: gradBad + 1.5}, y: scale{title: words.count, lo: 0, whole: true}, height: 185, zoom: []string{"x"},
		facts: []fact{{"exponent", words.headExponent}, {"name", words.gradAxis}, {"count", words.count}, {"share", words.headShare}}}
	v.x.marked = append(powerTicks{2}.Ticks(gradLo, gradHi+1), plot.Tick{Value: gradZero, Label: "0"}, plot.Tick{Value: gradBad, Label: words.gradBad})
	v.y.hi = float64(max(slices.Max(s.bins[:]), s.zero, s.bad, 1)) * 1.18 // room for the bands' names
	bars := layer{mark: rects{}}
	add := func(from float64, n int, exponent any, name string, ink role) {
		if n > 0 {
			bars.rows = append(bars.rows, row{x: from + .05, x2: from + .95, y: 0, y2: float64(n), color: ink, facts: []any{exponent, name, n, percent(n, s.all_)}})
		}
	}
	for i, n := range s.bins {
		e := gradLo + i
		add(float64(e), n, e, text.Power(2, e)+" … "+text.Power(2, e+1), func(t Theme) color.NRGBA { return t.Float32 })
	}
	add(gradZero-.5, s.zero, nil, words.bandZero, neutral)
	add(gradBad-.5, s.bad, nil, words.notFinite, skipInk)
	v.layers = []layer{formatBands(0, v.y.hi), bars}
	return v
}
