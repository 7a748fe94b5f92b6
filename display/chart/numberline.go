package chart

import (
	"fmt"
	"math"
	"strings"

	"halfnote/internal/text"
)

// NumberFormat describes a binary floating-point format. Its numbers from 2^e to 2^(e+1) are Eps·2^e apart,
// those below Tiny are Subnormal apart. The values are those of tensor.FInfo.
type NumberFormat struct {
	Name      string // dtype that selects the colour, for example "float16"
	Eps       float64
	Tiny      float64 // smallest positive normal number
	Subnormal float64 // smallest positive number
	Max       float64 // largest finite number
}

// NumberLine shows the numbers that formats have between two values, a row for each format, and the gaps
// between them: a line for each number, or an area where they are too close to tell apart, light where
// they are subnormal. [Figure.LogX] shows their magnitudes on a logarithmic axis with base 2; a lower
// limit that is not positive becomes the smallest positive number.
func NumberLine(from, to float64, formats ...NumberFormat) *Figure {
	return numberLine{from: from, to: to, formats: formats}.figure()
}

type numberLine struct {
	axes
	from, to float64
	formats  []NumberFormat
}

// Dimensions of a number line.
const (
	lineFormats = 12  // maximum number of formats
	lineTicks   = 250 // numbers across the plot that can be told apart
	lineRow     = 34  // height of a row
)

// gaps is a set of neighbouring numbers that are the same distance apart.
type gaps struct {
	from, to  float64 // first number, and the number after the last
	gap       float64
	count     float64
	subnormal bool
}

func (f NumberFormat) sound() bool {
	return f.Eps > 0 && f.Eps < 1 && f.Subnormal > 0 && f.Tiny >= f.Subnormal && f.Max >= f.Tiny && finite(f.Max)
}

// between returns the positive numbers from lo to hi.
func (f NumberFormat) between(lo, hi float64) (list []gaps) {
	hi = min(hi, f.Max)
	for e := math.Ilogb(max(lo, f.Subnormal)); e <= math.Ilogb(max(hi, f.Subnormal)); e++ {
		g := gaps{gap: max(f.Subnormal, math.Ldexp(f.Eps, e)), subnormal: math.Ldexp(1, e) < f.Tiny}
		g.from = math.Ceil(max(lo, math.Ldexp(1, e))/g.gap) * g.gap
		end := math.Ldexp(1, e+1)
		if end > hi {
			end = math.Floor(hi/g.gap)*g.gap + g.gap
		}
		if g.to = end; g.to > g.from && g.from >= f.Subnormal {
			g.count = (g.to - g.from) / g.gap
			list = append(list, g)
		}
	}
	return list
}

// within returns the numbers from lo to hi in order. Zero is among the first positive ones.
func (f NumberFormat) within(lo, hi float64) (list []gaps) {
	if lo < 0 {
		for _, g := range f.between(max(-hi, 0), -lo) {
			g.from, g.to = -g.to+g.gap, -g.from+g.gap
			list = append([]gaps{g}, list...)
		}
	}
	if hi >= 0 {
		positive := f.between(max(lo, 0), hi)
		if lo <= 0 {
			positive = append([]gaps{{from: 0, to: f.Subnormal, gap: f.Subnormal, count: 1, subnormal: true}}, positive...)
		}
		list = append(list, positive...)
	}
	return list
}

func (n numberLine) figure() *Figure {
	lo, hi := n.from, n.to
	var formats []NumberFormat
	for _, f := range n.formats {
		if f.sound() && len(formats) < lineFormats {
			formats = append(formats, f)
		}
	}
	if n.logX && !(lo > 0) && len(formats) > 0 {
		lo = formats[0].Subnormal
		for _, f := range formats {
			lo = min(lo, f.Subnormal)
		}
	}
	if !(lo < hi) || !finite(lo) || !finite(hi) || !finite(hi-lo) || len(formats) == 0 {
		return blank(fmt.Sprintf(words.numbersNone, short(lo), short(hi)))
	}
	base := 0
	if n.logX {
		base = 2
	}
	v := view{x: scale{title: n.axes.x, base: base, lo: exponent(lo, base), hi: exponent(hi, base)}, height: lineRow * len(formats), right: 120, least: 360, zoom: []string{"x"},
		facts: []fact{{"format", words.headFormat}, {"from", words.headFrom}, {"to", words.headTo}, {"gap", words.headGap}, {"numbers", words.headNumbers}}}
	var said []string
	apart := (v.x.hi - v.x.lo) / lineTicks
	lines, areas := layer{mark: rules{width: 1}}, layer{mark: rects{}}
	ends := layer{mark: texts{align: 1, side: rightOf}, small: true}
	var rows [][]any
	for i, f := range formats {
		v.y.names = append(v.y.names, f.Name)
		d, _ := dtypeOf(f.Name)
		v.kinds = append(v.kinds, kind{name: fmt.Sprint(i, " ", f.Name), color: d.color, quiet: true})
		y := float64(i)
		list := f.within(lo, hi)
		least, most, count := math.Inf(1), 0., 0.
		for _, g := range list {
			least, most, count = min(least, g.gap), max(most, g.gap), count+g.count
			first, next := exponent(max(g.from, g.gap/2), base), exponent(max(g.from, g.gap/2)+g.gap, base)
			if base == 0 {
				first, next = g.from, g.from+g.gap
			}
			if (next-first) < apart && g.count > 1 {
				areas.add(row{x: first, x2: min(exponent(g.to, base), v.x.hi), y: y - .3, y2: y + .3, kind: i, faint: g.subnormal, facts: []any{f.Name, g.from, g.to, g.gap, g.count}})
				continue
			}
			for k := range int(min(g.count, 4*lineTicks)) {
				at := g.from + float64(k)*g.gap
				if x := exponent(at, base); finite(x) {
					lines.rows = append(lines.rows, row{x: x, x2: x, y: y - .3, y2: y + .3, kind: i, facts: []any{f.Name, at, at + g.gap, g.gap, 1.}})
				}
			}
		}
		label := gapText(least, most)
		if count == 0 {
			label = words.numbersMissing
		}
		ends.rows = append(ends.rows, row{y: y, kind: len(formats), color: textInk, text: label})
		said = append(said, fmt.Sprintf(words.numbersOf, countText(count), f.Name))
		rows = append(rows, []any{f.Name, countText(count), gapAmount(least), gapAmount(most)})
	}
	v.layers = []layer{areas, lines, ends}
	fig := v.figure(fmt.Sprintf(words.numbersAre, gapAmount(lo), gapAmount(hi), strings.Join(said, words.listAnd)))
	fig.head, fig.rows = []string{words.headFormat, words.headNumbers, words.headGapLeast, words.headGapMost}, rows
	fig.axes, fig.remake = n.axes, func(a axes) *Figure {
		n.axes = a
		return n.figure()
	}
	return fig
}

// add appends a row, or extends the last one if the row continues it.
func (l *layer) add(r row) {
	if n := len(l.rows); n > 0 {
		last := &l.rows[n-1]
		if last.kind == r.kind && last.faint == r.faint && last.y == r.y && last.x2 >= r.x {
			last.x2 = r.x2
			last.facts = append([]any(nil), last.facts...)
			last.facts[2], last.facts[3], last.facts[4] = r.facts[2], max(last.facts[3].(float64), r.facts[3].(float64)), last.facts[4].(float64)+r.facts[4].(float64)
			return
		}
	}
	l.rows = append(l.rows, r)
}

// gapText returns the distances between neighbouring numbers.
func gapText(least, most float64) string {
	if least == most {
		return fmt.Sprintf(words.numbersGap, gapAmount(least))
	}
	return fmt.Sprintf(words.numbersGaps, gapAmount(least), gapAmount(most))
}

// gapAmount formats a power of two that is not near 1 in exponent form.
func gapAmount(v float64) string {
	if v < 0 {
		return "−" + gapAmount(-v)
	}
	if v >= 1./8 && v <= 1024 || v == 0 {
		return short(v)
	}
	return scaleText(v)
}

// countText formats a number of numbers, which may be huge.
func countText(n float64) string {
	if n < 1e7 {
		return text.Thousands(int(n))
	}
	e := math.Floor(math.Log10(n))
	return fmt.Sprintf("%.2f·%s", n/math.Pow(10, e), text.Power(10, int(e)))
}
