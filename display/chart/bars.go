package chart

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Bar is a sum of parts.
type Bar struct {
	Name  string
	Parts []Part
}

// Part is a part of a bar. Parts with the same name have the same kind.
type Part struct {
	Name  string
	DType string // dtype that selects the colour; may be empty
	Value float64
}

// Bars shows totals of a quantity such as "memory", in a unit such as "B", one bar each, divided
// into parts. Parts of later kinds are lighter, so that neighbours of the same colour can be told apart.
func Bars(what, unit string, bars []Bar) *Figure {
	s := barSheet{what: what, unit: unit}
	for _, b := range bars {
		total := 0.0
		for _, p := range b.Parts {
			if p.Value > 0 && finite(p.Value) {
				total += p.Value
				s.kind(p)
			}
		}
		s.bars = append(s.bars, bar{b, total})
		s.most = max(s.most, total)
	}
	if len(s.bars) > barMost {
		s.bars = s.bars[:barMost]
	}
	title := capital(what)
	if s.most == 0 {
		return blank(fmt.Sprintf(words.barNone, title))
	}
	f := s.view().figure(fmt.Sprintf(words.barTotal, title, s.sentence()))
	f.head, f.rows = []string{words.headOp, words.headPart, words.headDType, words.headValue}, nil
	for _, b := range bars {
		for _, p := range b.Parts {
			f.rows = append(f.rows, []any{b.Name, p.Name, p.DType, p.Value})
		}
	}
	all := f.rows
	f.data = func() ([]string, [][]any) { return f.head, all }
	f.rows = cutRows(f.rows, 40)
	return f
}

// Dimensions of a bar chart.
const (
	barMost = 20 // maximum number of bars
	barRow  = 22 // height of a bar
)

type bar struct {
	Bar
	total float64
}

type barSheet struct {
	what, unit string
	bars       []bar
	kinds      []Part // sum of each kind
	most       float64
}

// kind adds p to the sum of its kind.
func (s *barSheet) kind(p Part) {
	for i := range s.kinds {
		if s.kinds[i].Name == p.Name {
			s.kinds[i].Value += p.Value
			return
		}
	}
	s.kinds = append(s.kinds, p)
}

func (s barSheet) sentence() string {
	all := 0.0
	for _, k := range s.kinds {
		all += k.Value
	}
	text := ""
	for i, k := range s.kinds {
		if i > 0 {
			text += words.listAnd
		}
		text += fmt.Sprintf(words.barPart, k.Name, amount(k.Value, s.unit), shareText(k.Value/all))
	}
	return text
}

// view returns the bars.
func (s barSheet) view() view {
	v := view{x: scale{bare: true, lo: 0, hi: s.most}, height: barRow * len(s.bars),
		facts: []fact{{"name", words.headOp}, {"kind", words.headPart}, {"dtype", words.headDType}, {"value", strings.TrimSpace(words.headValue + " " + s.unit)}}}
	seen := map[string]bool{}
	for _, k := range s.kinds {
		d, _ := dtypeOf(k.DType)
		v.kinds = append(v.kinds, kind{name: k.Name, color: d.color, faint: seen[k.DType]})
		seen[k.DType] = true
	}
	parts, totals := layer{mark: rects{}}, layer{mark: texts{align: 1, gap: 8}}
	style := Light.style(labelSize, Light.Text)
	for i, b := range s.bars {
		v.y.names = append(v.y.names, b.Name)
		sum := 0.
		for k, kind := range s.kinds {
			for _, p := range b.Parts {
				if p.Name == kind.Name && p.Value > 0 && finite(p.Value) {
					parts.rows = append(parts.rows, row{x: sum, x2: sum + p.Value, y: float64(i) - .32, y2: float64(i) + .32, kind: k, facts: []any{b.Name, p.Name, p.DType, p.Value}})
					sum += p.Value
				}
			}
		}
		total := fit(style, amount(b.total, s.unit), labelMost)
		totals.rows = append(totals.rows, row{x: sum, y: float64(i), color: textInk, text: total})
		v.right = max(v.right, style.Width(total)+12)
	}
	v.layers = []layer{parts, totals, baseline(len(s.bars), .75)}
	return v
}

// baseline is the line of a width at 0 on which n bars stand.
func baseline(n int, width vg.Length) layer {
	return layer{mark: rules{width: width}, rows: []row{{y: -.45, y2: float64(n) - .55, color: neutral}}}
}

// whiskers returns the lines of a range, which extend half to each side at its ends.
func whiskers(low, high, y, half float64, facts []any) []row {
	line := row{color: textInk, facts: facts, x: low, y: y, x2: high, y2: y}
	first, last := line, line
	first.x2, first.y, first.y2 = low, y-half, y+half
	last.x, last.y, last.y2 = high, y-half, y+half
	return []row{line, first, last}
}
