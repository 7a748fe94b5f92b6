package chart

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
func (e *edgeRows) marks(x any, below role, tooltip any) object {
	edge := func(low bool, s *symbol, ink role, at any) object {
		return object{
			"transform": []object{{"filter": object{"field": "low", "equal": low}}},
			"mark":      object{"type": "point", "filled": true, "opacity": 1, "clip": false, "shape": s.path, "color": themed(ink)},
			"encoding":  object{"x": x, "y": object{"value": at}, "size": insidePlot, "tooltip": tooltip},
		}
	}
	var layers []object
	if e.high {
		layers = append(layers, edge(false, up, skipInk, 6))
	}
	if e.low {
		layers = append(layers, edge(true, down, below, object{"expr": "height - 6"}))
	}
	return object{"data": e.data(), "layer": layers}
}

// insidePlot is the size of marks that are not clipped: those at the first and the last position would be cut in half.
var insidePlot = object{"condition": object{"test": "inrange(datum.x, domain('x'))", "value": 70}, "value": 0}
