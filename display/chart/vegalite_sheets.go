package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
)

func (h heatMap) twin() twin {
	merge := (len(h.rows)*h.columns + mostPoints - 1) / mostPoints // columns of a cell
	data := newRows("row", "name", "from", "to", "share")
	var names []string
	for i, r := range h.rows {
		names = append(names, r.Name)
		for from := 0; from < len(r.Values); from += merge {
			cell := r.Values[from:min(from+merge, len(r.Values))]
			data.whole(i)
			data.string(r.Name)
			data.whole(from * h.steps)
			data.whole((from + len(cell)) * h.steps)
			if at := largest(cell); at >= 0 {
				data.number(cell[at])
			} else {
				data.value(nil)
			}
		}
	}
	var scale []object
	for _, p := range []float64{0, .25, .5, .75, 1} {
		scale = append(scale, themed(func(t Theme) color.NRGBA { return h.shade(t, math.Pow(10, -4+4*p)) }))
	}
	y := rowAxis(names)
	over := reach{0, float64(h.columns * h.steps)}
	x := quantitative("from", words.heatSteps, "scale", object{"domain": over.domain(false), "nice": false}, "axis", object{"tickMinStep": 1})
	tooltip := append(tips("name", words.headOp, "from", words.headColumn), object{"field": "share", "title": words.headShare, "format": ".4~%"})
	t := twin{names: names, reach: &over, height: heatHeight * len(h.rows), rows: data, layers: []object{
		{
			"params":    []object{zoom("x")},
			"transform": []object{{"filter": "isValid(datum.share)"}},
			"mark":      object{"type": "rect", "clip": true, "stroke": themed(gridInk), "strokeWidth": .3},
			"encoding": object{"x": x, "x2": object{"field": "to"}, "y": y, "tooltip": tooltip,
				"color": object{"condition": object{"test": "datum.share > 0", "field": "share", "type": "quantitative", "title": h.what,
					"scale":  object{"type": "log", "domain": []float64{1e-4, 1e-3, 1e-2, 1e-1, 1}, "range": scale, "clamp": true},
					"legend": object{"format": "~%", "values": []float64{1e-3, 1e-2, 1e-1, 1}, "gradientLength": 140}}, "value": "transparent"}},
		},
		{
			"transform": []object{{"filter": "!isValid(datum.share)"}},
			"mark":      object{"type": "rect", "clip": true, "height": 2, "color": themed(gridInk)},
			"encoding":  object{"x": x, "x2": object{"field": "to"}, "y": y, "tooltip": tips("name", words.headOp, "from", words.headColumn)},
		},
	}}
	if merge > 1 {
		t.subtitle = fewer(data.n, len(h.rows)*h.columns)
	}
	return t
}

func (r roofline) twin() twin {
	data := newRows("name", "dtype", "intensity", "rate", "flops", "bytes", "seconds", "share", "bound")
	var lines, levels []object
	var dtypes []string
	left, right := r.roofs[0].Rate/r.bandwidth/16, r.roofs[len(r.roofs)-1].Rate/r.bandwidth*8
	low := r.roofs[0].Rate / 30
	for _, p := range r.points {
		dtypes = append(dtypes, p.DType)
		at, rate := p.FLOPs/p.Bytes, p.FLOPs/p.Seconds
		left, right, low = min(left, at/2), max(right, at*2), min(low, rate/2.5)
	}
	least := 0. // of those that take the most time
	if n := len(r.points); n > mostPoints {
		var seconds []float64
		for _, p := range r.points {
			seconds = append(seconds, p.Seconds)
		}
		slices.Sort(seconds)
		least = seconds[n-mostPoints]
	}
	for _, p := range r.points {
		if p.Seconds < least || data.n == mostPoints {
			continue
		}
		data.add(p.Name, p.DType, p.FLOPs/p.Bytes, p.FLOPs/p.Seconds, p.FLOPs, p.Bytes, p.Seconds, p.Seconds/r.seconds, p.Bound)
	}
	top := r.roofs[len(r.roofs)-1].Rate
	slope := []object{{"intensity": max(left, low/r.bandwidth), "rate": max(left, low/r.bandwidth) * r.bandwidth}, {"intensity": top / r.bandwidth, "rate": top}}
	for _, f := range r.roofs {
		dtypes = append(dtypes, f.DType)
		lines = append(lines, object{"intensity": f.Rate / r.bandwidth, "rate": f.Rate, "dtype": f.DType}, object{"intensity": right, "rate": f.Rate, "dtype": f.DType})
		levels = append(levels, object{"intensity": right, "rate": f.Rate, "dtype": f.DType})
	}
	colors := dtypePalette("dtype", dtypes)
	over := reach{math.Log(left), math.Log(right)}
	x := quantitative("intensity", words.roofIntensity, "scale", object{"type": "log", "base": 2, "domain": over.domain(true), "nice": false},
		"axis", object{"values": octaves(math.Log2(left), math.Log2(right), 8), "labelExpr": powerLabels(2, true)})
	y := quantitative("rate", words.roofRate, "scale", object{"type": "log", "domain": []float64{low, top * 1.8}, "nice": false},
		"axis", object{"values": powers(10, math.Log10(low), math.Log10(top)+.25, 8), "labelExpr": powerLabels(10, true)})
	param, opacity := filter("dtype")
	var dashes [][]float64
	for _, n := range distinct(dtypes) {
		d, _ := dtypeOf(n)
		dashes = append(dashes, dashesOf(d.dashes))
	}
	return twin{choices: distinct(dtypes), reach: &over, height: 240, rows: data, subtitle: fewer(data.n, len(r.points)), layers: []object{
		{"data": object{"values": slope}, "mark": object{"type": "line", "strokeWidth": 1.5, "clip": true, "color": themed(neutral)}, "encoding": object{"x": x, "y": y}},
		{"data": object{"values": lines}, "mark": object{"type": "line", "strokeWidth": 1.5, "clip": true},
			"encoding": object{"x": x, "y": y, "color": colors, "opacity": opacity, "tooltip": tips("dtype", words.headDType, "rate", words.roofRate),
				"strokeDash": object{"field": "dtype", "type": "nominal", "scale": object{"domain": distinct(dtypes), "range": dashes}, "legend": nil}}},
		{"data": object{"values": levels}, "mark": object{"type": "text", "align": "left", "dx": 6},
			"encoding": object{"x": x, "y": y, "text": object{"field": "dtype", "type": "nominal"}, "color": colors, "opacity": opacity}},
		{
			"params": []object{zoom("x", "y"), param},
			"mark":   object{"type": "point", "filled": true, "clip": true, "opacity": 1},
			"encoding": object{"x": x, "y": y, "color": colors, "opacity": opacity,
				"size":    object{"field": "share", "type": "quantitative", "scale": object{"domain": []int{0, 1}, "range": []int{20, 250}}, "legend": nil},
				"tooltip": append(tips("name", words.headOp, "dtype", words.headDType, "intensity", words.roofIntensity, "rate", words.roofRate, "seconds", words.headSeconds, "bound", words.headBound), object{"field": "share", "title": words.headShare, "format": ".3~%"})},
		},
	}}
}

// opRowsMost is the maximum number of rows of operations in an interactive figure.
const opRowsMost = 300

func (s step) twin() twin {
	rows := fold(s.ops)
	var phases []string
	for _, op := range rows {
		if !slices.Contains(phases, op.Phase) {
			phases = append(phases, op.Phase)
		}
	}
	var shown []*folded
	for _, phase := range phases { // the backward pass comes last, as in the picture
		for i := range rows {
			if rows[i].Phase == phase && len(shown) < opRowsMost {
				shown = append(shown, &rows[i])
			}
		}
	}
	var data []object
	var names, lanes []string
	for _, op := range shown {
		lanes = append(lanes, op.DType)
	}
	lanes = distinct(lanes)
	slices.SortStableFunc(lanes, func(a, b string) int {
		_, i := dtypeOf(a)
		_, j := dtypeOf(b)
		return i - j
	})
	phase := ""
	for _, op := range shown {
		if op.Phase != phase {
			phase = op.Phase
			names = append(names, strings.ToUpper(phase))
		}
		line := opLine{op: *op}
		d, _ := dtypeOf(op.DType)
		data = append(data, object{"row": len(names), "op": op.Name, "module": op.Module, "phase": op.Phase, "dtype": op.DType, "letter": d.letter,
			"times": op.times, "casts": op.Casts, "cached": op.Cached, "marks": castMarks(op.OpDType), "why": op.Why})
		names = append(names, strings.TrimSpace(line.name()+"  "+op.Module))
	}
	rowsField := rowAxis(names)
	x := object{"field": "dtype", "type": "nominal", "title": nil, "scale": object{"domain": lanes}, "axis": object{"orient": "top", "labelAngle": 0, "grid": true, "domain": false, "ticks": false}}
	tooltip := tips("op", words.headOp, "module", words.headModule, "phase", words.headPhase, "times", words.headTimes, "dtype", words.headDType, "casts", words.headCasts, "cached", words.headCached, "why", words.headWhy)
	colors := dtypePalette("dtype", lanes)
	param, opacity := filter("dtype")
	return twin{names: names, choices: lanes, least: 230 + 50*len(lanes), height: opRow * (len(names) + 1), data: data, layers: []object{
		{"mark": object{"type": "line", "interpolate": "step", "strokeWidth": 1, "color": themed(neutral)},
			"encoding": object{"x": x, "y": rowsField, "order": object{"field": "row", "type": "quantitative"}, "detail": object{"field": "phase", "type": "nominal"}}},
		{
			"params":   []object{param},
			"mark":     object{"type": "rect", "width": boxWidth, "height": 12},
			"encoding": object{"x": x, "y": rowsField, "color": colors, "opacity": opacity, "tooltip": tooltip},
		},
		{"mark": object{"type": "text", "fontSize": smallSize, "color": themed(backgroundInk)},
			"encoding": object{"x": x, "y": rowsField, "text": object{"field": "letter", "type": "nominal"}, "tooltip": tooltip}},
		{"mark": object{"type": "text", "align": "right", "dx": -boxWidth/2 - 5},
			"encoding": object{"x": x, "y": rowsField, "text": object{"field": "marks", "type": "nominal"}, "color": colors, "opacity": opacity}},
		{"mark": object{"type": "text", "align": "left", "dx": 8, "fontSize": smallSize, "color": themed(neutral)},
			"encoding": object{"x": object{"value": "width"}, "y": rowsField, "text": object{"field": "why", "type": "nominal"}}},
	}, subtitle: fewer(len(shown), len(rows))}
}

// castMarks returns a diamond for each cast of an operation, hollow if it came from the cache, or
// numbers of them if there are many.
func castMarks(op OpDType) string {
	casts, cached := max(op.Casts, 0), max(op.Cached, 0)
	switch {
	case casts > 3 || cached > 3 || casts+cached > 3:
		text := ""
		if casts > 0 {
			text = fmt.Sprint(casts, "◆ ")
		}
		if cached > 0 {
			text += fmt.Sprint(cached, "◇")
		}
		return strings.TrimSpace(text)
	}
	return strings.Repeat("◆", casts) + strings.Repeat("◇", cached)
}
