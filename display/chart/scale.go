package chart

import (
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// scale is an axis of a view.
type scale struct {
	title  string
	lo, hi float64     // limits; if equal, those of the marks, or all names
	base   int         // positions are exponents of this base; 0: they are the values
	names  []string    // names of the rows 0, 1, …, from the top; nil for an axis of numbers
	widest vg.Length   // width of the widest name; 0: not measured
	most   vg.Length   // width of the widest name in the picture; 0: labelMost
	whole  bool        // only whole numbers are marked
	margin float64     // margin around the marks, as a share of their range
	plain  bool        // without a line and ticks
	bare   bool        // without ticks
	notes  []string    // lines below a bare axis in the interactive form
	marked []plot.Tick // the ticks; nil: round numbers or powers
	slant  vg.Length   // height that labels at an angle need in addition; 0: they are level
}

// limits returns the limits of the axis for marks in a range, which may be empty.
func (s scale) limits(at span) span {
	switch {
	case s.names != nil:
		return span{min(s.lo, -.5), float64(len(s.names)) - .5}
	case s.lo < s.hi:
		return span{s.lo, s.hi}
	}
	if at.lo > at.hi {
		return span{0, 1}
	}
	at.lo, at.hi = max(at.lo, -1e200), min(at.hi, 1e200)
	at.lo, at.hi = logLimits(at.lo, at.hi, s.base > 0)
	if at.lo < at.hi {
		pad := (at.hi - at.lo) * s.margin
		return span{at.lo - pad, at.hi + pad}
	}
	return span{at.lo - max(1, math.Abs(at.lo)*1e-6), at.hi + max(1, math.Abs(at.hi)*1e-6)}
}

// down reports whether positions on a y axis count from the top.
func (s scale) down() bool { return s.names != nil || s.bare }

// labelMost is the maximum width of a label of an axis.
const labelMost = 220

// ticks returns the ticks in a picture: about n of an axis of numbers, or the names.
func (s scale) ticks(n int) plot.Ticker {
	switch {
	case s.names != nil:
		style := Light.style(labelSize, Light.Text)
		var list plot.ConstantTicks
		for i, name := range s.names {
			if name != "" {
				list = append(list, plot.Tick{Value: -float64(i), Label: fit(style, printable(name), orWidth(s.most, labelMost))})
			}
		}
		return list
	case s.marked != nil:
		return plot.ConstantTicks(s.marked)
	case s.base > 0:
		return powerTicks{s.base}
	}
	return roundTicks{n, s.whole}
}

// channel returns the encoding of a field of positions, "x" or "y", in a specification.
func (s scale) channel(field string, at span) object {
	limits, ticks := []float64{at.lo, at.hi}, map[string]int{"x": 8, "y": 5}[field]
	axis := any(object{"tickCount": ticks})
	switch {
	case s.names != nil:
		rows := make([]int, len(s.names))
		for i := range rows {
			rows[i] = i
		}
		list, _ := json.Marshal(printables(s.names)) // strings can be encoded
		axis = object{"labelExpr": string(list) + "[datum.value]", "values": rows, "domain": false, "ticks": false, "grid": false, "labelColor": themed(textInk), "labelPadding": 6}
	case s.bare && s.notes != nil:
		axis = object{"labels": false, "ticks": false, "domain": false, "titleAnchor": "start", "titleAlign": "left", "titleFontSize": smallSize, "titlePadding": 8}
	case s.bare:
		axis = nil
	case s.marked != nil:
		at, labels := []float64{}, []string{}
		for _, t := range s.marked {
			at, labels = append(at, t.Value), append(labels, t.Label)
		}
		values, _ := json.Marshal(at) // finite numbers and strings can be encoded
		list, _ := json.Marshal(printables(labels))
		axis = object{"values": at, "labelExpr": fmt.Sprintf("%s[indexof(%s, datum.value)]", list, values)}
		if s.slant > 0 {
			axis = with(axis.(object), "labelAngle", -slantAngle, "labelAlign", "right", "labelBaseline", "middle")
		}
	case s.base > 0:
		axis = object{"tickMinStep": 1, "tickCount": 8, "labelExpr": "datum.value == floor(datum.value) ? " + powerLabels(s.base) + " : ''"}
	case s.whole:
		axis = object{"tickMinStep": 1, "tickCount": ticks, "labelExpr": "datum.value == floor(datum.value) ? format(datum.value, ',') : ''"}
	}
	if field == "y" && s.down() {
		limits = []float64{at.hi, at.lo}
	}
	if s.plain {
		axis = with(axis.(object), "domain", false, "ticks", false, "titleAnchor", "start")
	}
	var title any
	if s.title != "" {
		title = s.title
	} else if s.notes != nil {
		title = s.notes
	}
	return object{"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": object{"domain": limits, "nice": false, "zero": false}}
}

// room returns the width of the labels of a y axis in the interactive form.
func (s scale) room(at span) (width vg.Length) {
	style := Light.style(labelSize, Light.Text)
	if s.names == nil && !s.bare {
		for _, k := range s.ticks(5).Ticks(at.lo, at.hi) {
			width = max(width, style.Width(k.Label)+16)
		}
	}
	widest := s.widest
	if widest == 0 {
		for _, name := range s.names {
			widest = max(widest, style.Width(name))
		}
	}
	if widest > 0 {
		width = max(width, min(widest, labelMost)+10)
	}
	return width
}

// rounded returns a position on the axis with the digits that a picture needs. The exact number is a fact of the row if it is
// not the position.
func (s scale) rounded(at float64) float64 {
	if s.base > 0 {
		return math.Round(at*1e6) / 1e6
	}
	return at
}

// value returns the number at a position on the axis.
func (s scale) value(at float64) float64 {
	if s.base > 0 {
		return math.Pow(float64(s.base), at)
	}
	return at
}

// powerLabels labels an axis of exponents with the powers of a base.
func powerLabels(base int) string {
	const e = "datum.value"
	label := fmt.Sprintf("'%d' + (%s < 0 ? '⁻' : '')", base, e)
	for _, unit := range []int{1000, 100, 10, 1} {
		digit := fmt.Sprintf("substring('⁰¹²³⁴⁵⁶⁷⁸⁹', floor(abs(%s) / %d) %% 10, floor(abs(%s) / %d) %% 10 + 1)", e, unit, e, unit)
		if unit > 1 {
			digit = fmt.Sprintf("(abs(%s) >= %d ? %s : '')", e, unit, digit)
		}
		label += " + " + digit
	}
	return label
}

// exponent returns the position of x on an axis of exponents of base, or x itself if base is 0.
func exponent(x float64, base int) float64 {
	switch {
	case base == 0:
		return place(x, false)
	case x <= 0:
		return math.Inf(-1)
	case base == 2:
		return math.Log2(x)
	}
	return math.Log(x) / math.Log(float64(base))
}
