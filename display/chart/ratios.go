package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// Ratio is a bar of [Ratios].
type Ratio struct {
	Name   string
	DType  string // dtype that selects the colour; may be empty
	Value  float64
	Spread float64 // spread of repetitions, as a share of Value
}

// Ratios compares measurements with a peer. Each bar starts at 1, where both are equal, and
// extends to the right if the value is better and to the left if it is worse. The axis is
// logarithmic with base 2.
func Ratios(what string, ratios []Ratio) *Figure {
	s := ratioSheet{}
	better, least, most := 0, Ratio{Value: math.Inf(1)}, Ratio{}
	for _, r := range ratios {
		if !finite(r.Value) || r.Value <= 0 {
			continue
		}
		if s.bars = append(s.bars, r); r.Value >= 1 {
			better++
		}
		if r.Value < least.Value {
			least = r
		}
		if r.Value > most.Value {
			most = r
		}
		s.reach = max(s.reach, math.Abs(math.Log2(r.Value)))
	}
	if len(s.bars) == 0 {
		return blank(fmt.Sprintf(words.ratioNone, capital(what)))
	}
	s.reach = math.Ceil(min(max(s.reach, .5), ratioReach)*2) / 2
	var all [][]any
	for _, b := range s.bars {
		all = append(all, []any{b.Name, b.DType, b.Value, b.Spread})
	}
	sentence := fmt.Sprintf(words.ratioSome, capital(what), better, len(s.bars), ratioText(least.Value), least.Name, ratioText(most.Value), most.Name)
	s.left = len(s.bars) - min(len(s.bars), ratioMost)
	s.bars = s.bars[:min(len(s.bars), ratioMost)]
	f := s.view().figure(sentence)
	f.head, f.rows = []string{words.headRun, words.headDType, words.headRatio, words.headSpread}, cutRows(all, ratioMost)
	f.data = func() ([]string, [][]any) { return f.head, all }
	return f
}

// Dimensions of a chart of ratios.
const (
	ratioMost  = 60 // maximum number of bars
	ratioRow   = 18 // height of a bar
	ratioReach = 5  // maximum powers of two on each side
)

type ratioSheet struct {
	bars  []Ratio
	reach float64 // powers of two on each side
	left  int     // number of omitted bars
}

// view returns the bars, their whiskers and their numbers.
func (s ratioSheet) view() view {
	v := view{x: scale{lo: -s.reach * 1.05, hi: s.reach * 1.05, marked: []plot.Tick{}}, y: scale{title: words.ratioAxis}, height: ratioRow * len(s.bars), least: 340,
		facts: []fact{{"name", words.headRun}, {"dtype", words.headDType}, {"ratio", words.headRatio}, {"spread", words.headSpread}}}
	if s.left > 0 {
		v.y.title += ", " + fmt.Sprintf(words.moreRows, s.left)
	}
	step := 1.
	if s.reach > 2.5 {
		step = 2
	}
	lines := layer{mark: rules{width: .75}}
	for e := -step * math.Floor(s.reach/step); e <= s.reach; e += step {
		v.x.marked = append(v.x.marked, plot.Tick{Value: e, Label: octave(e)})
		lines.rows = append(lines.rows, row{x: e, x2: e, y: -.5, y2: float64(len(s.bars)) - .5, color: gridInk})
	}
	var names []string
	for _, b := range s.bars {
		names = append(names, b.DType)
	}
	kinds, at := kindsOf(names)
	v.kinds = kinds
	bars, ranges := layer{mark: rects{}}, layer{mark: rules{width: 1.2}}
	better, worse := layer{mark: texts{align: 1, gap: 5}}, layer{mark: texts{align: -1, gap: 5}}
	style := Light.style(labelSize, Light.Text)
	place := func(ratio float64) float64 { return min(max(exponent(ratio, 2), -s.reach), s.reach) }
	for i, b := range s.bars {
		v.y.names = append(v.y.names, b.Name)
		y, end, facts := float64(i), place(b.Value), []any{b.Name, b.DType, b.Value, b.Spread}
		from, to := min(end, 0), max(end, 0)
		bars.rows = append(bars.rows, row{x: from, x2: to, y: y - .34, y2: y + .34, kind: at[i], facts: facts})
		if half := b.Value * b.Spread / 2; finite(half) && half > 0 {
			low, high := place(b.Value-half), place(b.Value+half)
			ranges.rows = append(ranges.rows, whiskers(low, high, y, .22, facts)...)
			from, to = min(from, low), max(to, high)
		}
		label := row{x: to, y: y, color: textInk, text: ratioLabel(b.Value)}
		if b.Value < 1 {
			label.x, v.x.lo = from, -s.reach*1.33 // room for the number
			worse.rows = append(worse.rows, label)
			continue
		}
		better.rows = append(better.rows, label)
		v.right = max(v.right, style.Width(label.text)+12)
	}
	v.layers = []layer{lines, bars, baseline(len(s.bars), 1.2), ranges, better, worse}
	return v
}

// octave formats 2^e as a number or a fraction.
func octave(e float64) string {
	if e < 0 {
		return "1/" + short(math.Exp2(-e))
	}
	return short(math.Exp2(e))
}

// ratioLabel formats a ratio for narrow places.
func ratioLabel(r float64) string {
	switch {
	case r >= 1000:
		return ">1000×"
	case r >= 100:
		return short(math.Round(r)) + "×"
	}
	return ratioText(r)
}
