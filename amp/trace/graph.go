package trace

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/display/chart"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// Timeline shows the operations of the last complete step on a time axis, with a separate lane for casts.
// rec.Step(7).Timeline() shows one step. A recording waits for each operation, so those of a GPU do not overlap.
func (r *Recorder) Timeline() *chart.Figure {
	_, ops := r.Workload()
	var spans []chart.Span
	for _, op := range ops {
		s := chart.Span{Name: op.Name, Module: op.Module, Lane: op.phase(), Device: string(op.Device), DType: op.ranIn().String(), Start: op.Start.Seconds(), Duration: op.Duration.Seconds()}
		if op.Name == "cast" {
			s.Name, s.Lane = castName(op.In[0], op.Out), "casts"
		}
		spans = append(spans, s)
		for _, c := range op.Cast {
			if !c.Cached && !c.Promotion && c.Duration > 0 {
				spans = append(spans, chart.Span{Name: castName(c.From, c.To), Module: op.Module, Lane: "casts", Device: s.Device, DType: c.To.String(), Start: c.Start.Seconds(), Duration: c.Duration.Seconds()})
			}
		}
	}
	return chart.Timeline(spans)
}

func castName(from, to tensor.DType) string { return text.Sprintf("%v → %v", from, to) }

// graphBoxes is the number of boxes above which CastGraph joins modules.
const graphBoxes = 30

// CastGraph shows the forward pass of the last complete step as a graph: its modules in the order in which they
// run, the tensors that they pass on, and the casts. Modules of a large network are joined with those next to
// them in the same block. Operations outside of modules have separate boxes.
func (r *Recorder) CastGraph() *chart.Figure {
	_, ops := r.Workload()
	ops = slices.DeleteFunc(ops, func(op OpRecord) bool { return op.phase() != "forward" })
	depth := 1
	for _, op := range ops {
		depth = max(depth, 1+strings.Count(op.Module, "."))
	}
	g := newFlow(ops, depth)
	for depth > 1 && len(g.nodes) > graphBoxes {
		depth--
		g = newFlow(ops, depth)
	}
	return chart.CastGraph(g.records())
}

// flow is the way of tensors through modules. The index of an input is negative: −1, −2 …
type flow struct {
	nodes  []flowNode
	inputs []tensor.DType
	edges  []chart.CastEdge
	makers map[int]int // node or input, by ID of its result
}

type flowNode struct {
	module        string
	ops           []string // distinct operations
	dtypes        map[tensor.DType]int
	casts, cached int
}

// newFlow follows operations of a forward pass through modules of at most depth names.
func newFlow(ops []OpRecord, depth int) *flow {
	g := &flow{makers: map[int]int{}}
	for _, op := range ops {
		module := op.Module
		if names := strings.Split(module, "."); len(names) > depth {
			module = strings.Join(names[:depth], ".")
		}
		if n := len(g.nodes); n == 0 || g.nodes[n-1].module != module {
			g.nodes = append(g.nodes, flowNode{module: module, dtypes: map[tensor.DType]int{}})
		}
		g.add(&op)
	}
	return g
}

// add adds an operation to the last node.
func (g *flow) add(op *OpRecord) {
	here := len(g.nodes) - 1
	n := &g.nodes[here]
	n.dtypes[op.ranIn()]++
	if op.Name == "cast" {
		n.casts++
	} else if !slices.Contains(n.ops, op.Name) {
		n.ops = append(n.ops, op.Name)
	}
	for i, id := range op.InIDs {
		e := chart.CastEdge{DType: op.In[i].String()}
		for _, c := range op.Cast {
			if c.Operand == i && !c.Promotion { // a promotion is an operation in its own right
				id, e.Cast, e.Cached = c.ID, c.To.String(), c.Cached
			}
		}
		from, known := g.makers[id]
		if !known && !op.isParameter(i) && op.In[i] != tensor.Bool && len(op.InShapes[i]) > 0 { // masks and single numbers, such as a loss scale, are left out
			g.inputs = append(g.inputs, op.In[i])
			from, known = -len(g.inputs), true
			g.makers[id] = from
		}
		switch {
		case known && from != here:
			e.From, e.To = from, here
			g.edges = append(g.edges, e)
		case e.Cached:
			n.cached++
		case e.Cast != "":
			n.casts++
		}
	}
	g.makers[op.ID] = here
}

// isParameter reports whether operand i is a parameter or a buffer, if it is not the result of an operation. The
// input of a module is its first operand, or its integers.
func (op *OpRecord) isParameter(i int) bool {
	if op.Param == "" || !op.In[i].IsFloat() {
		return false
	}
	return i > 0 || slices.ContainsFunc(op.In, func(d tensor.DType) bool { return !d.IsFloat() })
}

// records returns the nodes and edges for the chart, inputs first.
func (g *flow) records() (nodes []chart.CastNode, edges []chart.CastEdge) {
	for i, d := range g.inputs {
		name := "input"
		if i > 0 {
			name = fmt.Sprint("input ", i+1)
		}
		nodes = append(nodes, chart.CastNode{Name: name, DType: d.String()})
	}
	for _, n := range g.nodes {
		most := tensor.Float32
		for _, d := range tensor.DTypes() {
			if n.dtypes[d] > n.dtypes[most] {
				most = d
			}
		}
		if len(n.ops) == 0 {
			n.ops = []string{"cast"}
		}
		c := chart.CastNode{Name: n.module, DType: most.String(), Ops: strings.Join(n.ops, ", "), Casts: n.casts, Cached: n.cached}
		if c.Name == "" {
			c.Name = c.Ops
		}
		nodes = append(nodes, c)
	}
	place := func(i int) int {
		if i < 0 {
			return -i - 1
		}
		return len(g.inputs) + i
	}
	for _, e := range g.edges {
		e.From, e.To = place(e.From), place(e.To)
		edges = append(edges, e)
	}
	return nodes, edges
}
