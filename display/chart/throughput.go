package chart

import (
	"fmt"
	"slices"
	"strings"
)

// Rate is one bar of [Throughput].
type Rate struct {
	Name  string // name of the run
	DType string // dtype that selects the colour, for example "float16"; may be empty
	// Values holds one rate per repetition, in the chart's unit. The bar shows their median, its
	// whisker the minimum and maximum.
	Values    []float64
	Predicted bool   // predicted by a model rather than measured: the bar is light
	Note      string // short remark next to the number, for example "emulated on the CPU"
}

// Throughput compares rates in a unit such as "samples/s"; higher is better. The first rate is
// the reference of the ratios.
func Throughput(unit string, rates []Rate) *Figure {
	if len(rates) == 0 {
		return blank(words.rateNone)
	}
	r := rateRun{unit: unit}
	for _, rate := range rates {
		r.bars = append(r.bars, newRateBar(rate))
	}
	head := []string{words.headRun, unit, words.headLow, words.headHigh, words.headRatio, words.headMeasured}
	var rows [][]any
	for _, b := range r.bars {
		measured := words.yes
		if b.Predicted {
			measured = words.no
		}
		rows = append(rows, []any{b.Name, rateText(b.median), rateText(b.low), rateText(b.high), r.ratio(b), measured})
	}
	f := r.view().figure(r.sentence())
	f.head, f.rows, f.data = head, rows, r.all
	return f
}

// rateRow is the height of a bar with its gap.
const rateRow = 34

type rateBar struct {
	Rate
	median, low, high float64 // NaN if there is no finite value
}

func newRateBar(r Rate) rateBar {
	var v []float64
	for _, x := range r.Values {
		if finite(x) {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return rateBar{r, nan, nan, nan}
	}
	slices.Sort(v)
	n := len(v)
	return rateBar{r, (v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}

type rateRun struct {
	unit string
	bars []rateBar
}

func (r rateRun) ratio(b rateBar) string { return ratioLabel(b.median / r.bars[0].median) }

func (r rateRun) sentence() string {
	name := func(b rateBar) string {
		if b.Predicted {
			return fmt.Sprintf(words.ratePredicted, b.Name)
		}
		return b.Name
	}
	first := r.bars[0]
	if len(r.bars) == 1 {
		return fmt.Sprintf(words.rateOne, name(first), rateText(first.median), r.unit)
	}
	var others []string
	for _, b := range r.bars[1:] {
		others = append(others, name(b)+" "+r.ratio(b))
	}
	return fmt.Sprintf(words.rateAgainst, name(first), rateText(first.median), r.unit, strings.Join(others, words.listAnd))
}

func (r rateRun) all() (head []string, rows [][]any) {
	for _, b := range r.bars {
		for i, v := range b.Values {
			rows = append(rows, []any{b.Name, b.DType, i, v, !b.Predicted, b.Note})
		}
	}
	return []string{words.headRun, words.headDType, words.headRepetition, r.unit, words.headMeasured, words.headNote}, rows
}

// view returns the bars, their whiskers and their numbers.
func (r rateRun) view() view {
	v := view{x: scale{bare: true, lo: 0, hi: 1}, height: rateRow * len(r.bars),
		facts: []fact{{"name", words.headRun}, {"dtype", words.headDType}, {"median", r.unit}, {"low", words.headLow}, {"high", words.headHigh}, {"ratio", words.headRatio}, {"measured", words.headMeasured}, {"note", words.headNote}}}
	var names []string
	for _, b := range r.bars {
		names = append(names, b.DType)
	}
	kinds, at := kindsOf(names)
	v.kinds = kinds
	bars, letters := layer{mark: rects{}}, layer{mark: texts{align: 1, gap: 6, widest: 30}}
	ranges, numbers, notes := layer{mark: rules{width: 1.2}}, layer{mark: texts{align: 1, gap: 8}}, layer{mark: texts{align: 1, gap: 8}, small: true}
	label, small := Light.style(labelSize, Light.Text), Light.style(smallSize, Light.Text)
	most := 0.
	predicted := false
	for i, b := range r.bars {
		y, measured := float64(i), words.yes
		if b.Predicted {
			predicted, measured = true, words.no
		}
		v.y.names = append(v.y.names, b.Name)
		facts := []any{b.Name, b.DType, b.median, b.low, b.high, r.ratio(b), measured, b.Note}
		end, number := 0., row{y: y, color: textInk, text: r.label(b)}
		if finite(b.median) {
			end = max(b.median, 0)
			bars.rows = append(bars.rows, row{x2: end, y: y - .32, y2: y + .32, kind: at[i], faint: b.Predicted, facts: facts})
			if d, _ := dtypeOf(b.DType); b.DType != "" && end > 0 {
				letter := row{y: y, wide: end, color: backgroundInk, text: d.letter}
				if b.Predicted {
					letter.color = textInk
				}
				letters.rows = append(letters.rows, letter)
			}
			if b.low < b.high {
				low := max(b.low, 0)
				end = max(end, b.high)
				ranges.rows = append(ranges.rows, whiskers(low, b.high, y, .12, facts)...)
			}
		}
		most, number.x = max(most, end), end
		v.right = max(v.right, label.Width(number.text)+12)
		if b.Note != "" {
			number.y -= .17
			note := fit(small, printable(b.Note), 180)
			notes.rows = append(notes.rows, row{x: end, y: y + .22, color: neutral, text: note})
			v.right = max(v.right, small.Width(note)+12)
		}
		numbers.rows = append(numbers.rows, number)
	}
	if most > 0 {
		v.x.hi = most
	}
	if predicted {
		v.signs = append(v.signs, kind{name: words.legendPredicted, symbol: faintSquare, color: neutral, faint: true})
	}
	if len(ranges.rows) > 0 {
		v.signs = append(v.signs, kind{name: words.legendRange, symbol: whisker, color: textInk})
	}
	v.layers = []layer{bars, letters, ranges, numbers, notes, baseline(len(r.bars), .75)}
	return v
}

func (r rateRun) label(b rateBar) string {
	if len(r.bars) == 1 || !finite(b.median) {
		return rateText(b.median)
	}
	return rateText(b.median) + "   " + r.ratio(b)
}

func rateText(v float64) string {
	if !finite(v) {
		return words.rateUnknown
	}
	return short(v)
}
