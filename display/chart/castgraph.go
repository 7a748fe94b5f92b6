package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// CastNode is a box of [CastGraph]: an input, a module or an operation outside of all modules.
type CastNode struct {
	Name   string
	DType  string // dtype that it computes in
	Ops    string // its operations, for example "linear, relu"
	Casts  int    // casts inside: of its parameters and between its operations
	Cached int    // the same from autocast's cache
}

// CastEdge is a tensor that one node computes and a later one reads.
type CastEdge struct {
	From, To int    // indices of the nodes
	DType    string // dtype of the tensor
	Cast     string // dtype that it is cast to for the reader; "" if it is not cast
	Cached   bool   // the cast came from autocast's cache
}

// CastGraph shows how tensors flow through a network and where they are cast: a box for each node, from
// the top to the bottom, and a line in the colour of its dtype for each tensor, with ◆ where it is cast and ◇ where the cast came
// from autocast's cache. Nodes are given in the order in which they run.
func CastGraph(nodes []CastNode, edges []CastEdge) *Figure {
	g := castGraph{nodes: nodes[:min(len(nodes), graphNodes)], left: max(len(nodes)-graphNodes, 0)}
	for _, e := range edges {
		if e.From >= 0 && e.From < e.To && e.To < len(g.nodes) && !slices.Contains(g.edges, e) {
			g.edges = append(g.edges, e)
		}
	}
	if len(nodes) == 0 {
		return blank(words.graphNone)
	}
	g.place()
	f := g.view().figure(g.sentence(nodes, edges))
	f.data = func() (head []string, rows [][]any) {
		for _, n := range g.nodes {
			rows = append(rows, nodeFacts(n))
		}
		for _, e := range g.edges {
			rows = append(rows, g.edgeFacts(e))
		}
		return []string{words.headModule, words.headReader, words.headOps, words.headDType, words.headCastTo, words.headCasts, words.headCached}, rows
	}
	f.rows = nil
	for i, n := range g.nodes {
		var from []string
		for _, e := range g.edges {
			if e.To == i {
				from = append(from, strings.TrimSpace(g.nodes[e.From].Name+" "+e.text()))
			}
		}
		f.rows = append(f.rows, []any{n.Name, n.Ops, n.DType, strings.Join(from, words.listAnd), n.Casts, n.Cached})
	}
	f.head, f.rows = []string{words.headModule, words.headOps, words.headDType, words.headReads, words.headCastsInside, words.headCached}, cutRows(f.rows, 40)
	return f
}

// Dimensions of a graph, in units that are about a pixel.
const (
	graphNodes = 60  // maximum number of boxes
	graphWidth = 600 // width of the plot
	graphBox   = 150 // maximum width of a box
	graphRow   = 44  // height of a row
	graphLane  = 9   // distance of lines that pass boxes
)

type castGraph struct {
	nodes []CastNode
	edges []CastEdge
	left  int // nodes that are not shown
	// For each node, its row, its centre and half its width.
	row  []int
	x, w []float64
	rows int
}

// place puts every node one row below the lowest node that it reads from.
func (g *castGraph) place() {
	g.row, g.x, g.w = make([]int, len(g.nodes)), make([]float64, len(g.nodes)), make([]float64, len(g.nodes))
	for i := range g.nodes {
		for _, e := range g.edges {
			if e.To == i {
				g.row[i] = max(g.row[i], g.row[e.From]+1)
			}
		}
		g.rows = max(g.rows, g.row[i]+1)
	}
	for i := range g.nodes { // inputs stand above their first reader
		first := g.rows
		reads := false
		for _, e := range g.edges {
			reads = reads || e.To == i
			if e.From == i {
				first = min(first, g.row[e.To])
			}
		}
		if !reads && first < g.rows {
			g.row[i] = first - 1
		}
	}
	for r := range g.rows {
		var list []int
		for i := range g.nodes {
			if g.row[i] == r {
				list = append(list, i)
			}
		}
		if k := g.main(list); k >= 0 && len(list) <= 3 { // inputs to both sides of the only module
			for j, i := range list {
				g.x[i], g.w[i] = .4*graphWidth, graphBox/2
				if j != k {
					g.x[i] -= (graphBox + 14) * float64(1-2*((j-k+3)%3-1))
				}
			}
			continue
		}
		for k, i := range list {
			n := float64(len(list))
			g.x[i] = graphWidth * (.4 + (float64(k)-(n-1)/2)*.8/max(n, 2))
			g.w[i] = min(graphBox, .8*graphWidth/n-10) / 2
		}
	}
}

// main returns the index of the only node of a row that is not an input, −1 if there are several or none.
func (g *castGraph) main(list []int) int {
	at := -1
	for k, i := range list {
		if g.nodes[i].Ops != "" {
			if at >= 0 {
				return -1
			}
			at = k
		}
	}
	return at
}

// text returns the cast of an edge as the table shows it.
func (e CastEdge) text() string {
	switch {
	case e.Cast == "":
		return ""
	case e.Cached:
		return "◇ " + e.Cast
	}
	return "◆ " + e.Cast
}

func (g *castGraph) sentence(nodes []CastNode, edges []CastEdge) string {
	count := map[string]int{}
	between, inside, cached := 0, 0, 0
	for _, n := range nodes {
		inside += n.Casts
		cached += n.Cached
		if n.Ops != "" { // inputs compute nothing
			count[n.DType]++
		}
	}
	for _, e := range edges {
		switch {
		case e.Cached:
			cached++
		case e.Cast != "":
			between++
		}
	}
	var parts []string
	for _, d := range byUse(count) {
		parts = append(parts, fmt.Sprintf(words.opsIn, count[d], d))
	}
	text := fmt.Sprintf(words.graphOf, strings.Join(parts, words.listAnd), counted(between, words.opsOneCast, words.opsCasts), inside)
	if cached > 0 {
		text += words.listAnd + fmt.Sprintf(words.opsCached, cached)
	}
	return text
}

func nodeFacts(n CastNode) []any { return []any{n.Name, "", n.Ops, n.DType, "", n.Casts, n.Cached} }

func (g *castGraph) edgeFacts(e CastEdge) []any {
	facts := []any{g.nodes[e.From].Name, g.nodes[e.To].Name, "", e.DType, e.Cast, 0, 0}
	switch {
	case e.Cached:
		facts[6] = 1
	case e.Cast != "":
		facts[5] = 1
	}
	return facts
}

// fitPath returns a path without as many of its first names as do not fit.
func fitPath(s text.Style, path string, width vg.Length) string {
	whole := path
	for s.Width(path) > width {
		_, rest, ok := strings.Cut(strings.TrimPrefix(path, "…"), ".")
		if !ok {
			return fit(s, whole, width)
		}
		path = "…" + rest
	}
	return path
}

func (g *castGraph) view() view {
	v := view{x: scale{lo: 0, hi: graphWidth, bare: true}, y: scale{lo: -.5, hi: float64(g.rows) - .5, bare: true}, height: graphRow * g.rows, least: 480,
		facts: []fact{{"module", words.headModule}, {"to", words.headReader}, {"ops", words.headOps}, {"dtype", words.headDType}, {"cast", words.headCastTo}, {"casts", words.headCasts}, {"cached", words.headCached}}}
	var list []string
	for _, n := range g.nodes {
		list = append(list, n.DType)
	}
	for _, e := range g.edges {
		list = append(list, e.DType, e.Cast)
	}
	kinds, at := kindsOf(list)
	for i := range kinds {
		kinds[i].dashes = nil // lines between boxes are short
	}
	v.kinds = kinds

	const half = .27 // half the height of a box
	lines, boxes := layer{mark: rules{width: 1.6}}, layer{mark: rects{}}
	casts := layer{mark: points{symbol: diamond, width: 4.5}, small: true}
	cached := layer{mark: points{symbol: hollowDiamond, width: 4.5}, small: true}
	notes := layer{mark: texts{align: 1}, small: true}
	alone := map[int]int{} // nodes of each row
	for _, r := range g.row {
		alone[r]++
	}
	passing := 0
	ends := map[int]int{} // lines that reach a node so far
	for i, e := range g.edges {
		k := at[len(g.nodes)+2*i]
		facts := g.edgeFacts(e)
		x0, y0, x1, y1 := g.x[e.From], float64(g.row[e.From])+half, g.x[e.To], float64(g.row[e.To])-half
		aside := float64((ends[e.To] + 1) / 2 * (1 - 2*(ends[e.To]%2))) // 0, −1, 1, −2 …
		if x0 != x1 && ends[e.To] > 0 {                                 // from the side that the line comes from
			aside = math.Copysign(aside, x0-x1)
		}
		x1 += max(min(14*aside, g.w[e.To]-6), 6-g.w[e.To])
		ends[e.To]++
		path := [][2]float64{{x0, y0}, {x1, y1}}
		if g.row[e.To] > g.row[e.From]+1 { // to the left of the boxes between
			side := x0
			for n := range g.nodes {
				if g.row[n] > g.row[e.From] && g.row[n] < g.row[e.To] {
					side = min(side, g.x[n]-g.w[n])
				}
			}
			passing++
			side = max(side-graphLane*float64(1+passing%6), 2)
			path = [][2]float64{{x0, y0}, {side, y0 + .23}, {side, y1 - .23}, {x1, y1}}
		}
		for j := range path[1:] {
			a, b := path[j], path[j+1]
			lines.rows = append(lines.rows, row{x: a[0], y: a[1], x2: b[0], y2: b[1], kind: k, facts: facts})
		}
		if e.Cast == "" {
			continue
		}
		a, b := path[len(path)-2], path[len(path)-1]
		mark := row{x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, kind: at[len(g.nodes)+2*i+1], text: e.Cast, facts: facts}
		if alone[g.row[e.From]] > 1 || alone[g.row[e.To]] > 1 || ends[e.To] > 1 || len(path) > 2 {
			mark.text = "" // it would overlap another edge
		}
		if e.Cached {
			cached.rows = append(cached.rows, mark)
		} else {
			casts.rows = append(casts.rows, mark)
		}
	}
	label, small := Light.style(labelSize, Light.Text), Light.style(smallSize, Light.Text)
	for i, n := range g.nodes {
		y := float64(g.row[i])
		boxes.rows = append(boxes.rows, row{x: g.x[i] - g.w[i], x2: g.x[i] + g.w[i], y: y - half, y2: y + half, kind: at[i], faint: n.Ops == "",
			text: fitPath(label, printable(n.Name), vg.Length(g.w[i]*2*.9-6)), facts: nodeFacts(n)})
		if alone[g.row[i]] > 1 {
			continue
		}
		note := n.Ops
		if n.Ops == n.Name {
			note = ""
		}
		if n.Casts+n.Cached > 0 {
			note = strings.TrimSpace(note + "  " + castMarks(OpDType{Casts: n.Casts, Cached: n.Cached}))
		}
		if note != "" {
			notes.rows = append(notes.rows, row{x: g.x[i] + g.w[i] + 10, y: y, color: neutral, text: fit(small, printable(note), vg.Length((graphWidth-g.x[i]-g.w[i])*.9-12))})
		}
	}
	for _, sign := range []struct {
		of   layer
		text string
		kind
	}{{casts, "◆", kind{name: words.legendCast, symbol: diamond, color: textInk}}, {cached, "◇", kind{name: words.legendCached, symbol: hollowDiamond, color: textInk}}} {
		if len(sign.of.rows) > 0 || slices.ContainsFunc(notes.rows, func(r row) bool { return strings.Contains(r.text, sign.text) }) {
			v.signs = append(v.signs, sign.kind)
		}
	}
	for _, l := range []layer{boxes, lines, casts, cached, notes} {
		if len(l.rows) > 0 {
			v.layers = append(v.layers, l)
		}
	}
	return v
}
