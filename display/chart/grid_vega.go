package chart

import (
	"fmt"
	"regexp"
	"slices"

	"gonum.org/v1/plot/vg"
)

// all returns the figures of the grid. A grid in the grid is replaced with its figures.
func (g grid2) all() (list []*gridPanel) {
	for _, f := range g.figures {
		if f.grid != nil {
			list = append(list, f.grid.all()...)
		} else {
			list = append(list, &gridPanel{Figure: f})
		}
	}
	return list
}

// spec returns the interactive form: the forms of the figures below each other, because Vega-Lite gives charts next to each
// other fixed widths, which a phone has no room for. Figures whose x axis is the same zoom together, and the positions that
// one of them points at are marked in the others.
func (g grid2) spec(points int) spec {
	list := g.all()
	t := spec{}
	left, right := vg.Length(0), vg.Length(0)
	for i, p := range list {
		p.name = fmt.Sprint("p", i)
		if p.body != nil {
			p.form = p.dressed().spec(max(points/len(list), 50))
		}
		if p.form.height == 0 {
			p.form.height = 200
		}
		p.left, p.right = p.form.margins()
		left, right, t.least = max(left, p.left), max(right, p.right), max(t.least, p.form.least)
		if t.reach == nil { // its controls are for all
			t.reach = p.form.reach
		}
		if t.tall == nil {
			t.tall = p.form.tall
		}
		if t.subtitle == "" {
			t.subtitle = p.form.subtitle
		}
		for _, choice := range p.form.choices {
			if !slices.Contains(t.choices, choice) {
				t.choices = append(t.choices, choice)
			}
		}
	}
	t.aside = int(left + right)
	for _, group := range groupsOf(list) {
		t.shared = append(t.shared, linked(group)...)
	}
	for _, p := range list {
		t.panels = append(t.panels, p.unit(left-p.left))
	}
	return t
}

// ownScales keeps the colours and legends of panels apart.
var ownScales = object{"scale": object{"color": "independent", "fill": "independent", "stroke": "independent", "shape": "independent", "size": "independent", "strokeDash": "independent", "opacity": "independent"}}

// gridPanel is a figure in the interactive form of a grid.
type gridPanel struct {
	*Figure
	name        string
	suffix      string // of the names of the parameters that its group shares
	form        spec
	left, right vg.Length // room for labels on both sides of the plot
	zooms       []string  // names of units with a parameter that zooms
	points      []string  // names of units that tell what the pointer is at
	lifted      []object  // other parameters of these units
}

// margins returns the room for labels on both sides of the plot.
func (t spec) margins() (left, right vg.Length) {
	return max(t.left, 14), max(t.right, 8)
}

// groupsOf returns the panels with the same x axis. Other panels are alone.
func groupsOf(list []*gridPanel) (groups [][]*gridPanel) {
	for _, p := range list {
		k := slices.IndexFunc(groups, func(g []*gridPanel) bool {
			a, b := g[0].form, p.form
			return a.reach != nil && b.reach != nil && *a.reach == *b.reach && a.axis == b.axis && a.axis != ""
		})
		if k < 0 {
			k, groups = len(groups), append(groups, nil)
		}
		p.suffix = fmt.Sprint("_", k)
		groups[k] = append(groups[k], p)
	}
	for _, group := range groups {
		for _, p := range group {
			p.rename(len(group) > 1)
		}
	}
	return groups
}

// linked returns the parameters that the panels of a group share.
func linked(group []*gridPanel) (params []object) {
	if len(group) < 2 {
		return nil
	}
	var zooms, points []string
	for _, p := range group {
		zooms, points, params = append(zooms, p.zooms...), append(points, p.points...), append(params, p.lifted...)
	}
	if len(zooms) > 0 {
		params = append(params, with(zoom("x"), "name", "zoom"+group[0].suffix, "views", zooms))
	}
	if len(points) > 0 {
		params = append(params, object{"name": "pointed" + group[0].suffix, "views": points,
			"select": object{"type": "point", "on": "mouseover", "clear": "mouseout", "nearest": true, "fields": []string{"x"}}})
	}
	return params
}

var (
	ownParams  = regexp.MustCompile(`^(zoom|pointed|shown|picked)$`)
	scaleNames = regexp.MustCompile(`\b(scale|domain)\('(x|y)'`)
	sizeNames  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|\b(width|height)\b`)
)

// rename gives the parameters, scales and sizes of a panel separate names. If it shares its x axis, the
// parameters that belong to the axis are left out.
func (p *gridPanel) rename(shared bool) {
	expression := func(e string) string {
		e = scaleNames.ReplaceAllString(e, "${1}('"+p.name+"_${2}'")
		return sizeNames.ReplaceAllStringFunc(e, func(name string) string {
			if name != "height" { // the width of all, or a text
				return name
			}
			return fmt.Sprint(p.form.height)
		})
	}
	own := func(name string) string {
		if shared && (name == "zoom" || name == "pointed") {
			return name + p.suffix
		}
		return name + "_" + p.name
	}
	units := 0
	var copied func(key string, v any) any
	copied = func(key string, v any) any {
		switch v := v.(type) {
		case string:
			switch {
			case slices.Contains([]string{"expr", "test", "filter", "calculate"}, key):
				return expression(v)
			case key == "param" && ownParams.MatchString(v):
				return own(v)
			}
		case object:
			out := object{}
			for k, x := range v {
				out[k] = copied(k, x)
			}
			params, _ := v["params"].([]object)
			if params == nil {
				return out
			}
			var kept []object
			for _, param := range params {
				name := param["name"].(string)
				if shared && (name == "zoom" || name == "pointed") {
					units++
					if out["name"] == nil {
						out["name"] = fmt.Sprint(p.name, "_unit", units)
					}
					if name == "zoom" {
						p.zooms = append(p.zooms, out["name"].(string))
					} else {
						p.points = append(p.points, out["name"].(string))
					}
					continue
				}
				kept = append(kept, with(copied("", param).(object), "name", own(name)))
			}
			if delete(out, "params"); shared && out["name"] != nil { // Vega-Lite 5.6 replaces the parameters of a unit that shares some
				for _, param := range kept {
					p.lifted = append(p.lifted, with(param, "views", []string{out["name"].(string)}))
				}
			} else if kept != nil {
				out["params"] = kept
			}
			return out
		case []object:
			out := make([]object, len(v))
			for i, x := range v {
				out[i] = copied(key, x).(object)
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, x := range v {
				if key == "and" { // a list of tests
					out[i] = copied("test", x)
				} else {
					out[i] = copied(key, x)
				}
			}
			return out
		}
		return v
	}
	p.form.layers = copied("", p.form.layers).([]object)
}

// unit returns the specification of the panel. Its plot begins further right by indent, because labels of others are wider.
func (p *gridPanel) unit(indent vg.Length) object {
	u := object{"name": p.name, "width": narrowest, "height": p.form.height, "data": object{"values": []object{}}, "layer": p.form.layers}
	if p.body == nil {
		u["layer"] = []object{{"data": object{"values": []object{{}}}, "mark": object{"type": "text", "text": words.empty}}}
	}
	if text := p.titleText(); text != "" {
		u["title"] = object{"text": wrapped(p.theme.style(labelSize+1, p.theme.Text), text), "anchor": "start", "frame": "bounds", "fontSize": labelSize + 1, "fontWeight": "normal", "offset": 8, "dx": -float64(indent), "color": themed(textInk)}
	}
	return u
}
