package chart

import (
	"image/color"
	"math"

	"halfnote/internal/text"
)

// formatBands returns the layer of float16's ranges behind data over exponents of two: lost,
// subnormal, normal, infinite. Their names stand at the top of the plot, or above it.
func formatBands(above bool) object {
	over := math.Log2(65520)
	bands := []struct {
		from, to float64
		name     string
		fill     role
	}{
		{gradLo, -25, words.bandLost, func(t Theme) color.NRGBA { return t.Lost }},
		{-25, -14, words.bandSubnormal, func(t Theme) color.NRGBA { return t.Subnormal }},
		{-14, over, words.bandNormal, func(t Theme) color.NRGBA { return t.Normal }},
		{over, gradHi + 1, words.bandInfinite, func(t Theme) color.NRGBA { return t.Infinite }},
	}
	var data []object
	var layers []object
	for _, b := range bands {
		data = append(data, object{"from": b.from, "to": b.to, "middle": (b.from + b.to) / 2, "band": b.name})
		layers = append(layers, object{
			"transform": []object{{"filter": object{"field": "band", "equal": b.name}}},
			"mark":      object{"type": "rect", "color": themed(b.fill), "clip": true},
			"encoding":  object{"x": object{"field": "from", "type": "quantitative"}, "x2": object{"field": "to"}, "tooltip": tips("band", words.headBand)},
		})
	}
	name, at := object{"type": "text", "fontSize": smallSize, "baseline": "top", "clip": true}, 4
	if above {
		name, at = object{"type": "text", "fontSize": smallSize, "baseline": "bottom"}, -4
	}
	layers = append(layers, object{
		"mark":     name,
		"encoding": object{"x": object{"field": "middle", "type": "quantitative"}, "y": object{"value": at}, "opacity": object{"condition": object{"test": "room < 480", "value": 0}, "value": 1}, "text": object{"field": "band", "type": "nominal"}},
	})
	return object{"data": object{"values": data}, "layer": layers}
}

func (s *spectrum) twin() twin {
	all := float64(max(s.all_, 1))
	bar := func(from, to float64, n int, name string) object {
		return object{"from": from, "to": to, "count": n, "share": float64(n) / all, "name": name}
	}
	var data []object
	for i, n := range s.bins {
		if n > 0 {
			e := gradLo + i
			data = append(data, bar(float64(e), float64(e+1), n, text.Power(2, e)+" … "+text.Power(2, e+1)))
		}
	}
	var odd []object
	if s.zero > 0 {
		odd = append(odd, bar(gradZero-.5, gradZero+.5, s.zero, words.bandZero))
	}
	var bad []object
	if s.bad > 0 {
		bad = append(bad, bar(gradBad-.5, gradBad+.5, s.bad, words.notFinite))
	}
	over := reach{gradZero - 1.5, gradBad + 1.5}
	x := quantitative("from", words.gradAxis, "scale", object{"domain": over.domain(false), "nice": false, "zero": false},
		"axis", object{"values": []float64{gradZero, -40, -32, -24, -16, -8, 0, 8, 16, gradBad},
			"labelExpr": "datum.value == -43 ? '0' : datum.value == 22 ? '" + words.gradBad + "' : " + powerLabels(2, false)})
	y := quantitative("count", words.count)
	tooltip := append(tips("name", words.gradAxis, "count", words.count), object{"field": "share", "title": words.headShare, "format": ".3~%"})
	layer := func(r role, values []object) object {
		return object{"data": object{"values": values}, "mark": object{"type": "bar", "color": themed(r), "clip": true, "binSpacing": 1},
			"encoding": object{"x": x, "x2": object{"field": "to"}, "y": y, "y2": object{"datum": 0}, "tooltip": tooltip}}
	}
	main := layer(func(t Theme) color.NRGBA { return t.Float32 }, data)
	main["params"] = []object{zoom("x")}
	return twin{data: []object{}, reach: &over, layers: []object{formatBands(false), main, layer(neutral, odd), layer(skipInk, bad)}}
}

func (s Sweep) twin() twin {
	kinds := []struct {
		name   string
		of     func(ScaleShare) float64
		color  role
		dashes []float64
	}{
		{words.sweepFlushed, func(x ScaleShare) float64 { return x.Flushed }, func(t Theme) color.NRGBA { return t.Float16 }, []float64{1, 0}},
		{words.bandSubnormal, func(x ScaleShare) float64 { return x.Subnormal }, func(t Theme) color.NRGBA { return t.Promote }, []float64{6, 3}},
		{words.sweepOver, func(x ScaleShare) float64 { return x.Overflow }, skipInk, []float64{2, 2}},
	}
	var data []object
	var names []string
	var roles []role
	var dashes [][]float64
	for _, k := range kinds {
		names, roles, dashes = append(names, k.name), append(roles, k.color), append(dashes, k.dashes)
		for i, at := range s.Shares {
			v := k.of(at)
			if finite(v) {
				v = min(max(v, 0), 1)
			}
			data = append(data, object{"exponent": i, "scale": math.Exp2(float64(i)), "what": k.name, "share": jsonNumber(v)})
		}
	}
	over := reach{-.5, float64(len(s.Shares)) - .5}
	x := quantitative("exponent", words.scale, "scale", object{"nice": false, "domain": over.domain(false)},
		"axis", object{"tickMinStep": 1, "labelExpr": powerLabels(2, false)})
	y := quantitative("share", words.sweepAxis, "axis", object{"format": "%"}, "scale", object{"domain": []int{0, 1}})
	tooltip := append(tips("what", words.headBand, "scale", words.headScale), object{"field": "share", "title": words.headShare, "format": ".4~%"})
	param, opacity := filter("what")
	var layers []object
	if s.Low > 0 && s.High >= s.Low && finite(s.High) {
		layers = append(layers, object{
			"data":     object{"values": []object{{"from": math.Log2(s.Low) - .5, "to": math.Log2(s.High) + .5, "low": s.Low, "high": s.High, "band": words.sweepBand}}},
			"mark":     object{"type": "rect", "clip": true, "color": themed(func(t Theme) color.NRGBA { return t.Normal })},
			"encoding": object{"x": object{"field": "from", "type": "quantitative"}, "x2": object{"field": "to"}, "tooltip": tips("band", words.headBand, "low", words.headLow, "high", words.headHigh)},
		})
	}
	layers = append(layers,
		object{
			"params": []object{zoom("x"), param},
			"mark":   object{"type": "line", "strokeWidth": 1.8, "clip": true},
			"encoding": object{"x": x, "y": y, "color": palette("what", names, roles, "legend", strokes), "opacity": opacity,
				"strokeDash": object{"field": "what", "type": "nominal", "scale": object{"domain": names, "range": dashes}, "title": nil, "legend": strokes}},
		},
		object{
			"params": []object{pointed("x", "y")},
			"mark":   object{"type": "point", "filled": true, "size": 60, "clip": true},
			"encoding": object{"x": x, "y": y, "color": palette("what", names, roles, "legend", strokes), "tooltip": tooltip,
				"opacity": object{"condition": object{"param": "pointed", "empty": false, "value": 1}, "value": 0}},
		})
	var taken []object
	seen := map[float64]bool{}
	for _, v := range s.Taken {
		if !seen[v] && positive(v) {
			seen[v] = true
			taken = append(taken, object{"exponent": math.Log2(v), "scale": v, "what": words.sweepTaken})
		}
	}
	if len(taken) > 0 {
		layers = append(layers, object{"data": object{"values": taken},
			"mark":     object{"type": "point", "shape": upPath, "filled": true, "size": 50, "opacity": 1, "color": themed(func(t Theme) color.NRGBA { return t.Float32 })},
			"encoding": object{"x": x, "y": object{"value": object{"expr": "height - 5"}}, "tooltip": tips("what", words.headEvent, "scale", words.headScale)}})
	}
	if s.At > 0 && finite(s.At) {
		layers = append(layers, object{"data": object{"values": []object{{"exponent": math.Log2(s.At)}}}, "mark": object{"type": "rule", "color": themed(textInk), "clip": true}, "encoding": object{"x": x}})
	}
	return twin{data: data, layers: layers, choices: names, reach: &over}
}

func (s rangeSheet) twin() twin {
	var data, bad []object
	var names, dtypes []string
	place := func(v float64) float64 { return min(max(math.Log2(v), gradLo), gradHi+1) }
	for i, r := range s {
		names, dtypes = append(names, r.Name), append(dtypes, r.DType)
		o := object{"row": i, "name": r.Name, "dtype": r.DType, "smallest": jsonNumber(r.Min), "largest": jsonNumber(r.Max), "bad": map[bool]string{true: words.yes, false: words.no}[r.Bad]}
		if r.Min > 0 && r.Max >= r.Min {
			o["from"], o["to"] = place(r.Min), max(place(r.Max), place(r.Min)+.15)
		}
		if data = append(data, o); r.Bad {
			bad = append(bad, object{"row": i, "at": gradHi + .4, "name": r.Name, "bad": words.notFinite})
		}
	}
	tooltip := tips("name", words.headOp, "dtype", words.headDType, "smallest", words.headSmallest, "largest", words.headLargest, "bad", words.notFinite)
	x := quantitative("from", words.gradAxis, "scale", object{"domain": []float64{gradLo, gradHi + 1}, "nice": false, "zero": false},
		"axis", object{"tickMinStep": 1, "labelExpr": powerLabels(2, false)})
	y := rowAxis(names)
	param, opacity := filter("dtype")
	layers := []object{formatBands(true), {
		"params":   []object{param},
		"mark":     object{"type": "bar", "height": 8, "clip": true},
		"encoding": object{"x": x, "x2": object{"field": "to"}, "y": y, "color": dtypePalette("dtype", dtypes), "opacity": opacity, "tooltip": tooltip},
	}}
	if len(bad) > 0 {
		layers = append(layers, object{"data": object{"values": bad}, "mark": object{"type": "point", "shape": crossPath, "size": 40, "strokeWidth": 1.8, "color": themed(skipInk), "opacity": 1},
			"encoding": object{"x": object{"field": "at", "type": "quantitative"}, "y": y, "tooltip": tips("name", words.headOp, "bad", words.notFinite)}})
	}
	return twin{names: names, choices: distinct(dtypes), above: 14, height: rangeRow * len(s), data: data, layers: layers}
}
