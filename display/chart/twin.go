package chart

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
)

// TwinX returns the figure with the lines of another one over the same x axis, with their own y axis at the right:
//
//	chart.Plot(losses, "loss").TwinX(chart.Plot(scales, "loss scale").LogY())
//
// Both are figures of [Plot], [Step], [Lines] or [Loss]. It panics for others. It is matplotlib.axes.Axes.twinx.
func (f *Figure) TwinX(other *Figure) *Figure {
	if other == nil {
		refuse("TwinX", "the other figure is nil; want one of chart.Plot, chart.Step, chart.Lines or chart.Loss")
	}
	if f.body == nil || other.body == nil { // there is nothing to show of one
		return f
	}
	for _, g := range []*Figure{f, other} {
		if !g.lines || g.axes.twin != nil {
			refuse("TwinX", "the figure %q; want two figures of chart.Plot, chart.Step, chart.Lines or chart.Loss", g)
		}
	}
	if f.axes.logX != other.axes.logX {
		refuse("TwinX", "one of the x axes is logarithmic; want both or none")
	}
	return f.change(func(a *axes) { a.twin = other })
}

// besides adds the sentence and the data of the figure's twin to those of its lines, whose x axis both have.
func (f *Figure) besides(twin *Figure) {
	f.narrow = false // it needs room for labels on both sides
	f.sentence = fmt.Sprintf(words.twinOf, f.sentence, twin.sentence)
	head, rows := f.all()
	more, others := twin.XLabel(f.axes.x).all()
	switch {
	case head[0] == more[0] && slices.EqualFunc(rows, others, func(r, s []any) bool { return r[0] == s[0] }):
		head, rows = slices.Concat(head, more[1:]), slices.Clone(rows)
		for i := range rows {
			rows[i] = slices.Concat(rows[i], others[i][1:])
		}
		f.data = func() ([]string, [][]any) { return head, rows }
	case slices.Equal(head, more):
		f.data = func() ([]string, [][]any) { return head, slices.Concat(rows, others) }
	default:
		both := grid2{figures: []*Figure{{head: head, rows: rows}, {head: more, rows: others}}}
		f.data = func() ([]string, [][]any) { return both.join((*Figure).all) }
	}
}

// twinned returns the view with the rows of another one, whose y axis is at the right. y is the range of the axis of v.
func (v view) twinned(other view, y span) view {
	_, o := other.limits()
	to := func(at float64) float64 {
		if !finite(at) {
			return at
		}
		return y.lo + (at-o.lo)*(y.hi-y.lo)/(o.hi-o.lo)
	}
	for i := range v.kinds {
		if i < len(v.ends) && v.ends[i] == "" && v.y.title != "" {
			v.kinds[i].name = v.distinctBut(i, v.y.title)
		}
	}
	n := len(v.kinds)
	v.layers = slices.Clone(v.layers)
	v.facts = []fact{{"kind", words.headName}, {"at", v.facts[1].title}, {"value", words.headValue}}
	for i, l := range v.layers {
		v.layers[i].rows = l.told(v.kinds, v.x, v.y)
		if m, ok := l.mark.(curves); ok && m.steps { // the lines of the other figure may go straight
			for k := range v.kinds {
				v.kinds[k].steps = true
			}
			m.steps = false
			v.layers[i].mark = m
		}
	}
	steps := slices.ContainsFunc(other.layers, layer.isSteps)
	for i, k := range other.kinds {
		name := k.name
		if i < len(other.ends) && other.ends[i] == "" && other.y.title != "" {
			name = other.y.title
		}
		k.name = v.distinct(fmt.Sprintf(words.twinRight, name))
		if slices.ContainsFunc(v.kinds[:n], func(m kind) bool { return m.color(Light) == k.color(Light) }) {
			k.color = func(t Theme) color.NRGBA { return t.nth(n + i) }
		}
		k.steps = k.steps || steps
		if k.dashes == nil {
			k.dashes = []vg.Length{6, 3}
		}
		v.kinds = append(v.kinds, k)
	}
	for _, l := range other.layers {
		l.rows = l.told(v.kinds[n:], other.x, other.y)
		for i := range l.rows {
			r := &l.rows[i]
			r.y, r.y2, r.kind = to(r.y), to(r.y2), r.kind+n
		}
		if k := slices.IndexFunc(v.layers, layer.isCurves); k >= 0 && l.isCurves() {
			v.layers[k].rows = append(v.layers[k].rows, l.rows...)
			continue
		}
		v.layers = append(v.layers, l)
	}
	labels := layer{mark: texts{side: rightOf, align: 1}, note: true}
	style := Light.style(labelSize, Light.Text)
	for _, tick := range other.y.ticks(5).Ticks(o.lo, o.hi) {
		if tick.Label == "" || tick.Value < o.lo || tick.Value > o.hi {
			continue
		}
		labels.rows = append(labels.rows, row{y: to(tick.Value), kind: len(v.kinds), color: neutral, text: tick.Label})
		v.right = max(v.right, style.Width(tick.Label)+asideGap+4)
	}
	v.layers = append(v.layers, labels)
	v.ends, v.named, v.points = nil, v.corner == nowhere, v.points+other.points
	return v
}

// isSteps reports whether the rows are lines that keep each value up to the next position.
func (l layer) isSteps() bool { m, ok := l.mark.(curves); return ok && m.steps }

// isCurves reports whether the rows are lines.
func (l layer) isCurves() bool { _, ok := l.mark.(curves); return ok }

// told returns rows of which each has its place as facts: those of two axes differ.
func (l layer) told(kinds []kind, x, y scale) []row {
	rows := slices.Clone(l.rows)
	if l.mute || l.note {
		return rows
	}
	for i := range rows {
		r := &rows[i]
		if r.kind >= len(kinds) {
			continue
		}
		facts := []any{kinds[r.kind].name, x.value(r.x), y.value(r.y)}
		if len(r.facts) == 3 {
			facts[1], facts[2] = r.facts[1], r.facts[2]
		}
		r.facts = facts
	}
	return rows
}

// distinctBut returns a name for kind i that differs from those of the others.
func (v view) distinctBut(i int, name string) string {
	others := view{kinds: slices.Delete(slices.Clone(v.kinds), i, i+1)}
	return others.distinct(name)
}
