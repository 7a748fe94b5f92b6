package chart

import (
	"math"
	"slices"
)

// data returns some rows of a layer, the places of their texts, and those of lines and points without a place.
func (v view) data(l layer, kept []int) (list, labels *rows, bad *edgeRows) {
	lines, boxes := l.mark == curves || l.mark == stairs, l.mark == rects || l.mark == rules
	own, one := l.ink()
	has := func(is func(row) bool) bool { return slices.ContainsFunc(l.rows, is) }
	colored, faint, told := own != nil && !one, has(func(r row) bool { return r.faint }), has(func(r row) bool { return r.facts != nil })
	names := []string{"x", "y"}
	for _, c := range []struct {
		name string
		is   bool
	}{{"kind", len(v.kinds) > 0}, {"light", colored}, {"dark", colored}, {"faint", faint}} {
		if c.is {
			names = append(names, c.name)
		}
	}
	edge := []string{"low", "x"}
	for _, f := range v.facts {
		if told && !f.placed() {
			names = append(names, f.key)
		}
		if f.key != "x" {
			edge = append(edge, f.key)
		}
	}
	bad, labels = &edgeRows{rows: newRows(edge...)}, newRows(append(names, "text", "wide")...)
	ascends := lines && l.ascends() // Vega-Lite orders rows by their x
	switch {
	case boxes:
		names = append(names, "x2", "y2")
	case lines && ascends:
		names = append(names, "alone")
	case lines:
		names = append(names, "alone", "index")
	case l.sized():
		names = append(names, "size")
	}
	list = newRows(names...)
	list.text = slices.Grow(list.text, 12*len(names)*len(kept))
	alone := map[int]bool{} // points without neighbours, through which no line goes
	for at, i := range kept {
		joined := func(k int) bool {
			return k >= 0 && k < len(kept) && l.rows[kept[k]].kind == l.rows[i].kind && finite(l.rows[kept[k]].x) && finite(l.rows[kept[k]].y)
		}
		if lines && !joined(at-1) && !joined(at+1) {
			alone[i] = true
		}
	}
	write := func(to *rows, r row, x, y float64) {
		to.number(v.x.rounded(x))
		to.number(v.y.rounded(y))
		if r.kind < len(v.kinds) {
			to.string(v.kinds[r.kind].name)
		} else if len(v.kinds) > 0 {
			to.value(nil)
		}
		if colored {
			to.color(r.color(Light))
			to.color(r.color(Dark))
		}
		if faint {
			to.bool(r.faint)
		}
		for k, f := range v.facts {
			if told && !f.placed() {
				to.value(r.fact(k))
			}
		}
	}
	order := func(alone bool, index int) {
		if alone {
			list.bool(true)
		} else {
			list.next()
		}
		if !ascends {
			list.whole(index)
		}
	}
	for at, i := range kept {
		r := l.rows[i]
		if before := at - 1; lines && before >= 0 && !finite(r.y) && finite(r.x) && v.stairs(l, r) { // the last value holds up to the gap
			if held := l.rows[kept[before]]; held.kind == r.kind && finite(held.x) && finite(held.y) {
				write(list, held, r.x, held.y)
				order(false, i)
			}
		}
		switch {
		case !finite(r.x) || boxes && !(finite(r.y) && finite(r.x2) && finite(r.y2)):
			continue
		case (lines || l.mark == points) && !finite(r.y) && !l.gaps:
			bad.add(math.IsInf(r.y, -1), r.x)
			for k, f := range v.facts {
				if f.key != "x" {
					bad.value(r.fact(k))
				}
			}
			if !lines {
				continue
			}
		}
		write(list, r, r.x, r.y)
		at := r
		switch {
		case lines:
			order(alone[i], i)
		case l.sized():
			list.number(4 * r.size * r.size)
		case boxes:
			list.number(r.x2)
			list.number(r.y2)
			switch at.x, at.y = r.x2, r.y2; {
			case l.top && v.y.names != nil:
				at.x, at.y = (r.x+r.x2)/2, min(r.y, r.y2)
			case l.top:
				at.x, at.y = (r.x+r.x2)/2, max(r.y, r.y2)
			case l.mark == rects:
				at.x, at.y = (r.x+r.x2)/2, (r.y+r.y2)/2
			}
		}
		if r.text != "" {
			write(labels, r, at.x, at.y)
			labels.string(printable(r.text))
			if l.mark == texts {
				labels.number(r.wide)
			} else {
				labels.number(math.Abs(r.x2 - r.x))
			}
		}
	}
	return list, labels, bad
}

// ascends reports whether the positions of each kind ascend.
func (l layer) ascends() bool {
	last := map[int]float64{}
	for _, r := range l.rows {
		if before, ok := last[r.kind]; !finite(r.x) || ok && r.x < before {
			return false
		}
		last[r.kind] = r.x
	}
	return true
}

// rounded returns a position on the axis with the digits that a picture needs. The exact number is a fact of the row if it is
// not the position.
func (s scale) rounded(at float64) float64 {
	if s.base > 0 {
		return math.Round(at*1e6) / 1e6
	}
	return at
}

// stairs reports whether the line of a row is constant up to the next row.
func (v view) stairs(l layer, r row) bool {
	return l.mark == stairs || r.kind < len(v.kinds) && v.kinds[r.kind].stairs
}

// sized reports whether the points of the layer have different sizes.
func (l layer) sized() bool { return l.mark == points && len(l.rows) > 0 && l.rows[0].size > 0 }

// fact returns the value of a fact, nil if the row has none.
func (r row) fact(k int) any {
	if k < len(r.facts) {
		return r.facts[k]
	}
	return nil
}

// placed reports whether a row's place or kind is the fact.
func (f fact) placed() bool { return f.key == "x" || f.key == "y" || f.key == "kind" }

// shown returns the indices of the rows that the interactive form holds. Lines are thinned one by one. Points with many facts
// are fewer, because these take most of the time and of the file.
func (v view) shown(l layer, most int) (kept []int) {
	if l.mark == points {
		columns := 3
		for _, f := range v.facts {
			if !f.placed() {
				columns++
			}
		}
		most = min(most, 4*mostPoints/columns)
	}
	if l.mark != curves && l.mark != stairs {
		all := 0
		for _, other := range v.layers {
			if other.mark == l.mark {
				all += len(other.rows)
			}
		}
		return l.some(max(len(l.rows)*min(most, all)/max(all, 1), 50))
	}
	rows := map[int][]int{}
	for i, r := range l.rows {
		rows[r.kind] = append(rows[r.kind], i)
	}
	for k := range len(v.kinds) {
		y := make([]float64, len(rows[k]))
		for i, at := range rows[k] {
			y[i] = l.rows[at].y
		}
		for _, i := range decimate(y, max(most/len(rows), 8)) {
			kept = append(kept, rows[k][i])
		}
	}
	return kept
}

// some returns about most indices of rows: the extremes, and others that are evenly spread, but not at equal
// distances, which could agree with a pattern of the rows: multiples of the golden ratio.
func (l layer) some(most int) (kept []int) {
	if len(l.rows) <= most {
		for i := range l.rows {
			kept = append(kept, i)
		}
		return kept
	}
	var xs, ys []float64
	for _, r := range l.rows {
		xs, ys = append(xs, r.x), append(ys, r.y)
	}
	for i := range max(most-4, 0) {
		_, at := math.Modf(float64(i) / math.Phi)
		kept = append(kept, int(at*float64(len(l.rows))))
	}
	for _, list := range [][]float64{xs, ys} {
		at := spanOf(list)
		kept = append(kept, max(slices.Index(list, at.lo), 0), max(slices.Index(list, at.hi), 0))
	}
	kept = append(kept, max(slices.IndexFunc(ys, func(y float64) bool { return !finite(y) }), 0))
	slices.Sort(kept)
	return slices.Compact(kept)
}
