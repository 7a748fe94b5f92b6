package chart

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
// into parts. Parts of later kinds are hatched to keep neighbours of the same colour apart.
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
	f := &Figure{
		theme: Light, sentence: fmt.Sprintf(words.barTotal, title, s.sentence()), height: keyHeight + barRow*len(s.bars) + 4, draw: s.draw, twin: s.twin,
		head: []string{words.headOp, words.headPart, words.headDType, words.headValue},
	}
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

// look returns the drawing function of kind i.
func (s barSheet) look(t Theme, i int) func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) {
	d, _ := dtypeOf(s.kinds[i].DType)
	col := d.color(t)
	if s.kinds[i].DType == "" {
		col = t.Neutral
	}
	for _, k := range s.kinds[:i] {
		if k.DType == s.kinds[i].DType {
			return func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { hatched(c, x0, y0, x1, y1, col) }
		}
	}
	return func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { c.FillPolygon(col, rectangle(x0, y0, x1, y1)) }
}

func (s barSheet) draw(t Theme, c draw.Canvas) {
	var entries []key
	for i, k := range s.kinds {
		look := s.look(t, i)
		entries = append(entries, key{func(c *draw.Canvas, p vg.Point, r vg.Length, _ colour) { look(c, p.X-r, p.Y-r, p.X+r, p.Y+r) }, t.Text, k.Name})
	}
	c = keys(t, c, "", entries)
	name, value := t.style(labelSize, t.Text), t.style(labelSize, t.Text)
	name.XAlign = draw.XRight
	var names, values vg.Length
	for _, b := range s.bars {
		names = max(names, min(name.Width(b.Name), 180))
		values = max(values, value.Width(amount(b.total, s.unit)))
	}
	left, right := c.Min.X+names+10, c.Max.X-values-12
	for i, b := range s.bars {
		mid := c.Max.Y - barRow*(vg.Length(i)+.5)
		x := left
		for k, kind := range s.kinds {
			for _, p := range b.Parts {
				if w := (right - left) * vg.Length(p.Value/s.most); p.Name == kind.Name && w > 0 && finite(p.Value) {
					s.look(t, k)(&c, x, mid-7, x+w, mid+7)
					x += w
				}
			}
		}
		write(&c, name, vg.Point{X: left - 8, Y: mid}, fit(name, b.Name, names))
		write(&c, value, vg.Point{X: x + 8, Y: mid}, amount(b.total, s.unit))
	}
	c.StrokeLine2(draw.LineStyle{Color: t.Neutral, Width: .75}, left, c.Min.Y+2, left, c.Max.Y)
}
