package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Roof is a device's peak rate in a dtype.
type Roof struct {
	DType string
	Rate  float64 // peak rate in FLOP/s
}

// RoofPoint is a measured operation.
type RoofPoint struct {
	Name, DType  string
	FLOPs, Bytes float64
	Seconds      float64
	Bound        string // "compute", "memory" or "launch"
}

// Roofline shows operations below the roofs of a device with a bandwidth in bytes per second:
// their FLOP per byte and their rate (S. Williams and others, "Roofline: an insightful visual
// performance model", 2009). Left of a roof's edge an operation is bound by memory, right of it
// by arithmetic; one below both is bound by something else. The area of a dot grows with its
// share of the time.
func Roofline(device string, bandwidth float64, roofs []Roof, points []RoofPoint) *Figure {
	r := roofline{bandwidth: bandwidth}
	for _, p := range points {
		if positive(p.FLOPs/p.Bytes) && positive(p.FLOPs/p.Seconds) && positive(p.Seconds) {
			r.points = append(r.points, p)
			r.seconds += p.Seconds
		}
	}
	for _, f := range roofs {
		if positive(f.Rate) && positive(f.Rate/bandwidth) && !slices.ContainsFunc(r.roofs, func(g Roof) bool { return g.Rate == f.Rate }) {
			r.roofs = append(r.roofs, f)
		}
	}
	if len(r.points) == 0 || len(r.roofs) == 0 || !positive(bandwidth) {
		return blank(fmt.Sprintf(words.roofNone, device))
	}
	slices.SortFunc(r.roofs, func(a, b Roof) int { return cmp.Compare(a.Rate, b.Rate) })
	f := r.view().figure(fmt.Sprintf(words.roofBound, device, r.bounds()))
	f.head, f.rows = []string{words.headOp, words.headDType, words.headFLOPs, words.headBytes, words.headSeconds, words.headBound}, nil
	for _, p := range r.points {
		f.rows = append(f.rows, []any{p.Name, p.DType, p.FLOPs, p.Bytes, p.Seconds, p.Bound})
	}
	all := f.rows
	f.data = func() ([]string, [][]any) { return f.head, all }
	f.rows = cutRows(f.rows, 40)
	return f
}

// positive reports whether the logarithms of x, and of sums with other such numbers, are finite.
func positive(x float64) bool { return x > 1e-150 && x < 1e150 }

type roofline struct {
	bandwidth float64
	roofs     []Roof
	points    []RoofPoint
	seconds   float64
}

// bounds states the share of time of each bound.
func (r roofline) bounds() string {
	var names []string
	time := map[string]float64{}
	for _, p := range r.points {
		if time[p.Bound] == 0 {
			names = append(names, p.Bound)
		}
		time[p.Bound] += p.Seconds
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(time[b], time[a]) })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %s", shareText(time[n]/r.seconds), n)
	}
	return strings.Join(names, words.listAnd)
}

// view returns the roofs as lines and the operations as points.
func (r roofline) view() view {
	top := r.roofs[len(r.roofs)-1].Rate
	x := span{-4, math.Log2(top/r.bandwidth) + 3}
	y := span{math.Log10(r.roofs[0].Rate) - 1.5, math.Log10(top) + .2}
	for _, q := range r.points {
		at, rate := math.Log2(q.FLOPs/q.Bytes), math.Log10(q.FLOPs/q.Seconds)
		x, y = span{min(x.lo, at-1), max(x.hi, at+1)}, span{min(y.lo, rate-.4), max(y.hi, rate+.2)}
	}
	v := view{x: scale{title: words.roofIntensity, base: 2, lo: x.lo, hi: x.hi}, y: scale{title: words.roofRate, base: 10, lo: y.lo, hi: y.hi}, height: 205, zoom: []string{"x", "y"}, points: len(r.points),
		facts: []fact{{"name", words.headOp}, {"dtype", words.headDType}, {"flops", words.headFLOPs}, {"bytes", words.headBytes}, {"seconds", words.headSeconds}, {"bound", words.headBound}, {"share", words.headShare}}}
	shown := r.points
	if len(shown) > mostPoints { // those that take the most time
		shown = slices.Clone(shown)
		slices.SortStableFunc(shown, func(a, b RoofPoint) int { return cmp.Compare(b.Seconds, a.Seconds) })
		shown = shown[:mostPoints]
	}
	var names []string
	for _, q := range shown {
		names = append(names, q.DType)
	}
	for _, f := range r.roofs {
		names = append(names, f.DType)
	}
	kinds, at := kindsOf(names)
	for i, k := range kinds {
		if k.name != "float32" && k.name != "float64" {
			kinds[i].symbol = diamond
		}
	}
	v.kinds = kinds
	operations := layer{mark: points{}}
	for i, q := range shown {
		share := q.Seconds / r.seconds
		operations.rows = append(operations.rows, row{x: math.Log2(q.FLOPs / q.Bytes), y: math.Log10(q.FLOPs / q.Seconds), kind: at[i], size: 2 + 7*math.Sqrt(share),
			facts: []any{q.Name, q.DType, q.FLOPs, q.Bytes, q.Seconds, q.Bound, shareText(share)}})
	}
	edge := func(rate float64) float64 { return math.Log2(rate / r.bandwidth) }
	first := max(x.lo, (y.lo-math.Log10(r.bandwidth))/math.Log10(2)) // where the slope enters the plot
	slope := layer{mark: rules{}, rows: []row{{x: first, y: math.Log10(r.bandwidth) + first*math.Log10(2), x2: edge(top), y2: math.Log10(top), color: neutral}}}
	levels, labels := layer{mark: rules{}}, layer{mark: texts{align: 1, side: rightOf}}
	var tags []tag
	for i, f := range r.roofs {
		level := math.Log10(f.Rate)
		levels.rows = append(levels.rows, row{x: edge(f.Rate), x2: x.hi, y: level, y2: level, kind: at[len(shown)+i], facts: []any{f.DType, f.DType, nil, nil, nil, nil, nil}})
		tags = append(tags, tag{y: vg.Length((level - y.lo) / (y.hi - y.lo) * float64(v.height)), text: f.DType})
	}
	spread(tags, labelSize+3, 0, vg.Length(v.height))
	style := Light.style(labelSize, Light.Text)
	for i, g := range tags {
		labels.rows = append(labels.rows, row{y: y.lo + float64(g.y)*(y.hi-y.lo)/float64(v.height), kind: at[len(shown)+i], text: g.text})
		v.right = max(v.right, style.Width(g.text)+asideGap+4)
	}
	v.layers = []layer{slope, levels, labels, operations}
	return v
}
