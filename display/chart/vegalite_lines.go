package chart

import (
	"fmt"
	"image/color"
	"math"
)

// Paths of marks, in a square from -1 to 1, as Vega draws them.
const (
	crossPath = "M-.8,-.8L.8,.8M-.8,.8L.8,-.8"
	upPath    = "M-1,.8L1,.8L0,-1Z"
	downPath  = "M-1,-.8L1,-.8L0,1Z"

	hollowPath = "M0,-.9L.9,0L0,.9L-.9,0Z"
)

// edgeRows are rows of values without a place. Their first columns are "low" and "x".
type edgeRows struct {
	*rows
	high, low bool // whether there are values at the upper edge, at the lower one
}

// add begins a row.
func (e *edgeRows) add(low bool, x float64) {
	e.high, e.low = e.high || !low, e.low || low
	e.bool(low)
	e.number(x)
}

// marks returns the layer of the values: marks at the edges of the plot, those at the lower edge in a colour.
func (e *edgeRows) marks(x any, below role, tooltip []object) object {
	edge := func(low bool, path string, ink role, at any) object {
		return object{
			"transform": []object{{"filter": object{"field": "low", "equal": low}}},
			"mark":      object{"type": "point", "filled": true, "size": 70, "opacity": 1, "clip": true, "shape": path, "color": themed(ink)},
			"encoding":  object{"x": x, "y": object{"value": at}, "tooltip": tooltip},
		}
	}
	var layers []object
	if e.high {
		layers = append(layers, edge(false, upPath, skipInk, 6))
	}
	if e.low {
		layers = append(layers, edge(true, downPath, below, object{"expr": "height - 6"}))
	}
	return object{"data": e.data(), "layer": layers}
}

// valueText returns the text of a value that may not be finite.
func valueText(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return fmt.Sprint(v)
}

func (r *scaleRun) twin() twin {
	n := len(r.steps)
	scales := make([]float64, n)
	for i, s := range r.steps {
		scales[i] = s.Scale
	}
	keep := map[int]bool{}
	kept := decimate(scales, mostPoints/2)
	for _, i := range kept {
		keep[i] = true
	}
	type kind struct {
		name, path string
		color      role
		at         []int
	}
	kinds := []kind{
		{words.legendSkip, crossPath, skipInk, r.skips},
		{words.legendGrow, upPath, func(t Theme) color.NRGBA { return t.BFloat16 }, r.grows},
		{words.legendShrink, downPath, neutral, r.sinks},
	}
	events := newRows("step", "x", "scale", "after", "event", "why", "y")
	var names, paths []string
	var roles []role
	for _, k := range kinds {
		if len(k.at) == 0 {
			continue
		}
		names, paths, roles = append(names, k.name), append(paths, k.path), append(roles, k.color)
		at := k.at
		if most := mostPoints / 8; len(at) > most { // those at equal distances
			var some []int
			for i := range most {
				some = append(some, at[i*len(at)/most])
			}
			at = some
		}
		for _, i := range at {
			s := r.steps[i]
			x, y := float64(i)+.5, s.Scale
			if k.name != words.legendSkip {
				x, y = float64(i+1), math.Sqrt(s.Scale)*math.Sqrt(s.After)
			}
			if !positive(y) {
				y = nan
			}
			events.add(i, x, jsonNumber(s.Scale), jsonNumber(s.After), k.name, s.Why, jsonNumber(y))
			keep[i] = true
			if i+1 < n {
				keep[i+1] = true
			}
		}
	}
	data := newRows("step", "scale", "after", "skipped")
	lo, hi := math.Inf(1), math.Inf(-1)
	point := func(step int, scale, after float64, skipped bool) {
		if positive(scale) {
			lo, hi = min(lo, math.Log2(scale)), max(hi, math.Log2(scale))
		} else {
			scale = nan
		}
		data.whole(step)
		data.number(scale)
		data.number(after)
		data.bool(skipped)
	}
	for i, s := range r.steps {
		if keep[i] {
			point(i, s.Scale, s.After, s.Skipped)
		}
	}
	shown := data.n
	point(n, r.steps[n-1].After, r.steps[n-1].After, false)
	if lo > hi {
		lo, hi = 0, 1
	}
	lo, hi = math.Floor(lo), math.Ceil(hi)
	if pad := 3 - (hi - lo); pad > 0 {
		lo, hi = lo-math.Ceil(pad/2), hi+math.Ceil(pad/2)
	}
	over := reach{0, float64(n)}
	x := quantitative("step", words.step, "scale", object{"nice": false, "domain": over.domain(false)}, "axis", object{"tickMinStep": 1, "tickCount": 8, "format": "d"})
	y := quantitative("scale", words.scale,
		"scale", object{"type": "log", "base": 2, "nice": false, "domain": []float64{math.Exp2(lo - .25), math.Exp2(hi + .5)}},
		"axis", object{"values": octaves(lo, hi, 8), "labelExpr": powerLabels(2, true)})
	t := twin{rows: data, choices: names, reach: &over, layers: []object{
		{
			"params":   []object{zoom("x")},
			"mark":     object{"type": "line", "interpolate": "step-after", "strokeWidth": 2, "clip": true, "color": themed(func(t Theme) color.NRGBA { return t.Float32 })},
			"encoding": object{"x": x, "y": y},
		},
		{
			"params": []object{pointed("x")},
			"mark":   object{"type": "rule", "clip": true, "color": themed(neutral)},
			"encoding": object{"x": x, "tooltip": tips("step", words.headStep, "scale", words.headScale, "after", words.headAfter, "skipped", words.skipped),
				"opacity": object{"condition": object{"param": "pointed", "empty": false, "value": .7}, "value": 0}},
		},
	}}
	if events.n > 0 {
		param, opacity := filter("event")
		t.layers = append(t.layers, object{
			"data":   events.data(),
			"params": []object{param},
			"mark":   object{"type": "point", "size": 60, "strokeWidth": 1.8},
			"encoding": object{
				"x": quantitative("x", words.step), "y": quantitative("y", words.scale),
				"stroke": palette("event", names, roles), "fill": palette("event", names, roles), "opacity": opacity,
				"shape":   object{"field": "event", "type": "nominal", "scale": object{"domain": names, "range": paths}, "title": nil},
				"tooltip": tips("step", words.headStep, "event", words.headEvent, "scale", words.headScale, "after", words.headAfter, "why", words.headWhy),
			},
		})
	}
	t.subtitle = fewer(shown, n)
	return t
}
