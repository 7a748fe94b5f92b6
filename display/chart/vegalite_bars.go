package chart

import (
	"fmt"
	"image/color"
	"math"
)

func (r rateRun) twin() twin {
	var data []object
	var names, dtypes []string
	for i, b := range r.bars {
		names, dtypes = append(names, b.Name), append(dtypes, b.DType)
		measured := words.yes
		if b.Predicted {
			measured = words.no
		}
		data = append(data, object{"row": i, "name": b.Name, "dtype": b.DType, "median": jsonNumber(b.median), "low": jsonNumber(b.low), "high": jsonNumber(b.high),
			"ratio": jsonNumber(b.median / r.bars[0].median), "measured": measured, "label": r.label(b), "note": b.Note})
	}
	y := rowAxis(names)
	x := quantitative("median", r.unit, "axis", object{"format": "~s"})
	tooltip := tips("name", words.headRun, "dtype", words.headDType, "median", r.unit, "low", words.headLow, "high", words.headHigh, "ratio", words.headRatio, "measured", words.headMeasured, "note", words.headNote)
	param, opacity := filter("dtype")
	color := dtypePalette("dtype", dtypes)
	edge := with(object{}, "field", "dtype", "type", "nominal", "scale", color["scale"], "legend", nil)
	measured := "datum.measured == '" + words.yes + "'"
	return twin{names: names, choices: distinct(dtypes), height: rateRow * len(r.bars), data: data, layers: []object{
		{
			"params": []object{param},
			"mark":   object{"type": "bar", "height": 22},
			"encoding": object{"y": y, "x": x, "color": color, "stroke": edge, "opacity": opacity, "tooltip": tooltip,
				"fillOpacity": object{"condition": object{"test": measured, "value": 1}, "value": .15},
				"strokeDash":  object{"condition": object{"test": measured, "value": []int{1, 0}}, "value": []int{4, 3}}},
		},
		{
			"transform": []object{{"filter": "datum.low < datum.high"}},
			"mark":      object{"type": "rule", "strokeWidth": 1.2, "color": themed(textInk)},
			"encoding":  object{"y": y, "x": object{"field": "low", "type": "quantitative"}, "x2": object{"field": "high"}, "tooltip": tooltip},
		},
		{
			"mark":     object{"type": "text", "align": "left", "dx": 8, "clip": false},
			"encoding": object{"y": y, "x": object{"field": "high", "type": "quantitative"}, "text": object{"field": "label", "type": "nominal"}},
		},
	}}
}

func (s ratioSheet) twin() twin {
	var data []object
	var names, dtypes []string
	for i, b := range s.bars {
		names, dtypes = append(names, b.Name), append(dtypes, b.DType)
		low, high := b.Value*(1-b.Spread/2), b.Value*(1+b.Spread/2)
		o := object{"row": i, "name": b.Name, "dtype": b.DType, "ratio": b.Value, "spread": jsonNumber(b.Spread), "end": b.Value, "label": ratioLabel(b.Value)}
		if positive(low) && positive(high) && low < high {
			o["low"], o["high"] = low, high
			if o["end"] = high; b.Value < 1 {
				o["end"] = low
			}
		}
		data = append(data, o)
	}
	y := rowAxis(names)
	domain := []float64{math.Exp2(-s.reach), math.Exp2(s.reach)}
	x := quantitative("ratio", words.ratioAxis, "scale", object{"type": "log", "base": 2, "domain": domain, "nice": false, "clamp": true},
		"axis", object{"values": octaves(-s.reach, s.reach, 8), "grid": true, "labelExpr": "datum.value < 1 ? '1/' + 1 / datum.value : datum.value"})
	tooltip := tips("name", words.headRun, "dtype", words.headDType, "ratio", words.headRatio, "spread", words.headSpread)
	param, opacity := filter("dtype")
	return twin{names: names, choices: distinct(dtypes), height: ratioRow * len(s.bars), data: data, layers: []object{
		{"mark": object{"type": "rule", "color": themed(neutral)}, "encoding": object{"x": object{"datum": 1}}},
		{
			"params":   []object{param},
			"mark":     object{"type": "bar", "height": 12, "clip": true},
			"encoding": object{"y": y, "x": with(x, "stack", nil), "x2": object{"datum": 1}, "color": dtypePalette("dtype", dtypes), "opacity": opacity, "tooltip": tooltip},
		},
		{
			"transform": []object{{"filter": "isValid(datum.low)"}},
			"mark":      object{"type": "rule", "strokeWidth": 1.2, "color": themed(textInk), "clip": true},
			"encoding":  object{"y": y, "x": object{"field": "low", "type": "quantitative"}, "x2": object{"field": "high"}, "tooltip": tooltip},
		},
		{
			"transform": []object{{"filter": "datum.ratio >= 1"}},
			"mark":      object{"type": "text", "align": "left", "dx": 5},
			"encoding":  object{"y": y, "x": object{"field": "end", "type": "quantitative"}, "text": object{"field": "label", "type": "nominal"}},
		},
		{
			"transform": []object{{"filter": "datum.ratio < 1"}},
			"mark":      object{"type": "text", "align": "right", "dx": -5},
			"encoding":  object{"y": y, "x": object{"field": "end", "type": "quantitative"}, "text": object{"field": "label", "type": "nominal"}},
		},
	}}
}

// stack returns the layers of bars that are stacked from parts, which have a row, a part, a value
// and its sum with the parts before it.
func stack(names []string, parts []string, roles []role, faint map[string]bool, x object, tooltip []object) []object {
	param, opacity := filter("part")
	filled := object{"value": 1}
	if tests := faintTest(faint); tests != "" {
		filled = object{"condition": object{"test": tests, "value": .35}, "value": 1}
	}
	edge := palette("part", parts, roles)
	return []object{{
		"params": []object{param},
		"mark":   object{"type": "bar", "height": 14, "strokeWidth": 1},
		"encoding": object{"y": rowAxis(names), "x": x, "x2": object{"field": "to"}, "color": palette("part", parts, roles), "stroke": edge,
			"fillOpacity": filled, "opacity": opacity, "tooltip": tooltip},
	}}
}

// faintTest returns the expression for the parts that have the colour of an earlier part.
func faintTest(faint map[string]bool) string {
	if len(faint) == 0 {
		return ""
	}
	return "indexof(" + quoted(faint) + ", datum.part) >= 0"
}

func (s barSheet) twin() twin {
	var data []object
	var names, parts []string
	var roles []role
	faint := map[string]bool{}
	seen := map[string]bool{}
	for _, k := range s.kinds {
		parts = append(parts, k.Name)
		d, _ := dtypeOf(k.DType)
		if k.DType == "" {
			d.color = neutral
		}
		roles = append(roles, d.color)
		faint[k.Name], seen[k.DType] = seen[k.DType], true
	}
	for i, b := range s.bars {
		names = append(names, b.Name)
		sum := 0.
		for _, k := range s.kinds {
			for _, p := range b.Parts {
				if p.Name == k.Name && p.Value > 0 && finite(p.Value) {
					data = append(data, object{"row": i, "name": b.Name, "part": p.Name, "dtype": p.DType, "value": p.Value, "from": sum, "to": sum + p.Value})
					sum += p.Value
				}
			}
		}
	}
	tooltip := tips("name", words.headOp, "part", words.headPart, "dtype", words.headDType, "value", words.headValue+" ("+s.unit+")")
	x := quantitative("from", s.unit, "axis", object{"format": "~s"})
	t := twin{names: names, choices: parts, height: barRow * len(s.bars), data: data, layers: stack(names, parts, roles, faint, x, tooltip)}
	var totals []object
	for i, b := range s.bars {
		totals = append(totals, object{"row": i, "total": b.total, "label": amount(b.total, s.unit)})
	}
	t.layers = append(t.layers, object{"data": object{"values": totals}, "mark": object{"type": "text", "align": "left", "dx": 8},
		"encoding": object{"y": rowAxis(names), "x": object{"field": "total", "type": "quantitative"}, "text": object{"field": "label", "type": "nominal"}}})
	return t
}

func (s layerSheet) twin() twin {
	var data []object
	var names, parts []string
	roles := []role{
		func(t Theme) color.NRGBA { return t.BFloat16 }, func(t Theme) color.NRGBA { return t.BFloat16 }, gridInk,
		func(t Theme) color.NRGBA { return t.Float16 }, skipInk,
	}
	kinds := s.parts(Light)
	for _, p := range kinds {
		parts = append(parts, p.name)
	}
	for i, l := range s.shown {
		names = append(names, l.Name)
		sum := 0.
		for _, p := range kinds {
			share := float64(p.of(l)) / float64(max(l.Elements, 1))
			if share > 0 {
				data = append(data, object{"row": i, "name": l.Name, "dtype": l.DType, "part": p.name, "count": p.of(l), "elements": l.Elements, "share": share, "from": sum, "to": sum + share, "note": l.Note})
			}
			sum += share
		}
	}
	tooltip := tips("name", words.headParam, "dtype", words.headDType, "part", words.headPart, "count", words.count, "elements", words.headElements, "note", words.headNote)
	tooltip = append(tooltip, object{"field": "share", "title": words.headShare, "format": ".3~%"})
	x := quantitative("from", words.headShare, "axis", object{"format": "%"}, "scale", object{"domain": []int{0, 1}})
	return twin{names: names, choices: parts, height: layerRow * len(s.shown), data: data, layers: stack(names, parts, roles, map[string]bool{words.bandSubnormal: true, words.notFinite: true}, x, tooltip)}
}

// quoted returns the true keys as an array of Vega's expression language.
func quoted(keys map[string]bool) string {
	list := "["
	for k, yes := range keys {
		if yes {
			if len(list) > 1 {
				list += ", "
			}
			list += fmt.Sprintf("%q", k)
		}
	}
	return list + "]"
}
