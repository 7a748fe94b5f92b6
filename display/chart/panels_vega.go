package chart

import (
	"encoding/json"
	"fmt"
)

// zoomAndPick returns the parameters that zoom all panels, and that hold the steps selected in one of them by dragging with Shift.
func zoomAndPick() []object {
	const drag = "[mousedown[%sevent.shiftKey], window:mouseup] > window:mousemove!"
	all := zoom("x")
	all["select"].(object)["translate"] = fmt.Sprintf(drag, "!")
	return []object{all, {"name": "picked", "select": object{"type": "interval", "encodings": []string{"x"}, "on": fmt.Sprintf(drag, ""), "zoom": false}}}
}

// values returns the layers that show what all panels hold at the step under the pointer: points, a line through
// them, and the values at the right edge.
func (u *unit) values() []object {
	at := object{"type": "point", "on": "mousemove", "clear": "mouseout", "nearest": true, "fields": []string{"x"}}
	seen := func(tests ...object) object { return object{"condition": tests, "value": 0} }
	pointed := object{"param": "pointed", "empty": false, "value": 1}
	rule, text := u.encoding("opacity", seen(with(object{}, "param", "pointed", "empty", false, "value", .4))), u.encoding("color", u.colors)
	delete(rule, "y")
	delete(rule, "tooltip")
	delete(text, "tooltip")
	names := u.namesOf(func(kind) bool { return true })
	places, _ := json.Marshal(u.linked) // finite numbers can be encoded
	y := with(object{}, "field", "top", "type", "quantitative", "axis", nil, "scale", text["y"].(object)["scale"])
	return []object{
		{"name": "area", "params": []object{{"name": "pointed", "select": at}}, "transform": []object{{"filter": "isValid(datum.y)"}},
			"mark":     object{"type": "point", "filled": true, "size": 40, "clip": true},
			"encoding": u.encoding("color", u.colors, "opacity", seen(pointed, object{"param": "picked", "empty": false, "value": 1}, object{"test": "datum.alone", "value": 1}))},
		{"mark": object{"type": "rule", "clip": true, "color": themed(neutral)}, "encoding": rule},
		{"mark": object{"type": "text", "align": "right", "clip": false, "fontWeight": "bold"},
			"transform": []object{{"filter": object{"param": "pointed", "empty": false}}, {"calculate": fmt.Sprintf("%s[indexof(%s, datum.kind)]", places, names), "as": "top"}},
			"encoding":  with(text, "x", object{"value": object{"expr": "width"}}, "y", y, "text", object{"field": "text", "type": "nominal"})},
	}
}
