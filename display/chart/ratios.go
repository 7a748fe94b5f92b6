package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	f := &Figure{
		theme:    Light,
		sentence: fmt.Sprintf(words.ratioSome, capital(what), better, len(s.bars), ratioText(least.Value), least.Name, ratioText(most.Value), most.Name),
		head:     []string{words.headRun, words.headDType, words.headRatio, words.headSpread},
	}
	for _, r := range s.bars {
		f.rows = append(f.rows, []any{r.Name, r.DType, r.Value, r.Spread})
	}
	all := f.rows
	f.data = func() ([]string, [][]any) { return f.head, all }
	f.rows = cutRows(f.rows, ratioMost)
	s.left = len(s.bars) - min(len(s.bars), ratioMost)
	s.bars = s.bars[:min(len(s.bars), ratioMost)]
	f.height, f.draw, f.twin = keyHeight+ratioRow*len(s.bars)+4, s.draw, s.twin
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

func (s ratioSheet) draw(t Theme, c draw.Canvas) {
	axis := words.ratioAxis
	if s.left > 0 {
		axis += ", " + fmt.Sprintf(words.moreRows, s.left)
	}
	c = keys(t, c, axis, nil)
	name, value, scale := t.style(labelSize, t.Text), t.style(labelSize, t.Text), t.style(smallSize, t.Neutral)
	name.XAlign, scale.XAlign = draw.XRight, draw.XCenter
	var names vg.Length
	for _, b := range s.bars {
		names = max(names, min(name.Width(b.Name), 290))
	}
	left, right := c.Min.X+names+46, c.Max.X-52
	x := func(ratio float64) vg.Length {
		at := max(-s.reach, min(s.reach, math.Log2(ratio)))
		return left + (right-left)*vg.Length((at+s.reach)/(2*s.reach))
	}
	step := 1.
	if s.reach > 2.5 {
		step = 2
	}
	for e := -step * math.Floor(s.reach/step); e <= s.reach; e += step {
		col, w := t.Grid, vg.Length(.75)
		if e == 0 {
			col, w = t.Neutral, 1.2
		}
		c.StrokeLine2(draw.LineStyle{Color: col, Width: w}, x(math.Exp2(e)), c.Min.Y+2, x(math.Exp2(e)), c.Max.Y)
		write(&c, scale, vg.Point{X: x(math.Exp2(e)), Y: c.Max.Y + 6}, octave(e))
	}
	for i, b := range s.bars {
		mid := c.Max.Y - ratioRow*(vg.Length(i)+.5)
		d, _ := dtypeOf(b.DType)
		col, end := d.color(t), x(b.Value)
		if b.DType == "" {
			col = t.Neutral
		}
		from, to := x(1), end
		if to < from {
			from, to = to, from
		}
		c.FillPolygon(col, rectangle(from, mid-6, max(to, from+1), mid+6))
		if half := b.Value * b.Spread / 2; finite(half) && half > 0 {
			low, high := x(max(b.Value-half, math.Exp2(-s.reach))), x(b.Value+half)
			whisker(&c, low, high, mid, t.Text)
			from, to = min(from, low), max(to, high)
		}
		write(&c, name, vg.Point{X: c.Min.X + names, Y: mid}, fit(name, b.Name, names))
		if b.Value < 1 {
			value.XAlign = draw.XRight
			write(&c, value, vg.Point{X: from - 5, Y: mid}, ratioLabel(b.Value))
		} else {
			value.XAlign = draw.XLeft
			write(&c, value, vg.Point{X: to + 5, Y: mid}, ratioLabel(b.Value))
		}
	}
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
