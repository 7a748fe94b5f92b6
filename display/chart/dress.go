package chart

import (
	"slices"

	"gonum.org/v1/plot/vg"
)

// dressed returns the view with what a reader has set of its axes, and on them.
func (v view) dressed(a axes, r room) view {
	if a.corner != "" {
		v.corner, v.ends, v.named = a.corner, nil, a.corner == nowhere
	}
	if t := a.xTicks; t != nil && !v.x.bare {
		v.x.marked, v.x.slant = t.marks(v.x.base), vg.Length(a.slant())
	}
	if t := a.yTicks; t != nil {
		if v.y.names != nil {
			v.y.names, v.y.widest = t.names(len(v.y.names)), 0
		} else {
			v.y.marked = t.marks(v.y.base)
		}
	}
	limited := a.xLim != (span{}) || a.yLim != (span{})
	if !limited && len(a.notes) == 0 && a.twin == nil {
		return v
	}
	x, y := v.limits()
	for _, n := range a.notes { // they belong to what the axes show
		fromX, fromY, toX, toY := n.at(v)
		x.hold(fromX)
		x.hold(toX)
		y.hold(fromY)
		y.hold(toY)
	}
	var twin view
	if a.twin != nil {
		twin = a.twin.viewFor(r)
		other, _ := twin.limits()
		x.hold(other.lo)
		x.hold(other.hi)
	}
	if !v.rigid {
		x = x.within(a.xLim, v.x.base)
	}
	if !v.y.down() {
		y = y.within(a.yLim, v.y.base)
		v.y.lo, v.y.hi = y.lo, y.hi
	}
	v.x.lo, v.x.hi, v.cut = x.lo, x.hi, limited
	if a.twin != nil {
		v = v.twinned(twin, y)
	}
	return v.noted(a.notes, x, y)
}

// viewFor returns the view of a figure with the axes that a reader has set, for a room.
func (f *Figure) viewFor(r room) view {
	switch b := f.body.(type) {
	case view:
		return b.dressed(f.axes, r)
	case fitted:
		return b(r).dressed(f.axes, r)
	}
	return view{}
}

// dressed returns the drawing with what a reader has set of its axes.
func (f *Figure) dressed() body {
	switch f.body.(type) {
	case view, fitted:
		return fitted(f.viewFor)
	}
	return f.body
}

// inside returns the view without what lies outside of the plot. Curves and areas are cut when they are drawn.
func (v view) inside() view {
	x, y := v.limits()
	in := func(at float64, s span) bool { return !finite(at) || at >= s.lo && at <= s.hi }
	layers := slices.Clone(v.layers)
	for i, l := range layers {
		t := l.mark.traits(l)
		if t.aside || t.clips {
			continue
		}
		layers[i].rows = nil
		for _, r := range l.rows {
			switch {
			case !t.extends && !t.segment && in(r.x, x) && in(r.y, y):
				layers[i].rows = append(layers[i].rows, r)
			case t.segment && r.clip(x, y), t.extends && !t.segment && r.overlaps(x, y):
				layers[i].rows = append(layers[i].rows, r)
			}
		}
	}
	v.layers = layers
	return v
}

// overlaps reports whether the rectangle from (x, y) to (x2, y2) has a part within limits.
func (r row) overlaps(x, y span) bool {
	return max(r.x, r.x2) >= x.lo && min(r.x, r.x2) <= x.hi && max(r.y, r.y2) >= y.lo && min(r.y, r.y2) <= y.hi
}

// clip cuts the line from (x, y) to (x2, y2) at limits, and reports whether a part is left. It is Liang and Barsky's algorithm.
func (r *row) clip(x, y span) bool {
	from, to := 0., 1.
	dx, dy := r.x2-r.x, r.y2-r.y
	for _, axis := range []struct {
		at, by float64
		span
	}{{r.x, dx, x}, {r.y, dy, y}} {
		if axis.by == 0 {
			if axis.at < axis.lo || axis.at > axis.hi {
				return false
			}
			continue
		}
		a, b := (axis.lo-axis.at)/axis.by, (axis.hi-axis.at)/axis.by
		from, to = max(from, min(a, b)), min(to, max(a, b))
	}
	if !(from <= to) {
		return false
	}
	r.x, r.y, r.x2, r.y2 = r.x+from*dx, r.y+from*dy, r.x+to*dx, r.y+to*dy
	return true
}
