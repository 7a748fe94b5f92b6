package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"halfnote/amp"
	"halfnote/display"
	"halfnote/tensor"
)

// FormatLayer is a linear layer that a recipe quantises.
type FormatLayer struct {
	Module string
	Source string  // line of the cell that calls it first, if known
	High   float64 // error when only this layer stays in bfloat16
	Low    float64 // error when only this layer is quantised
	Work   float64 // FLOPs of its forward product
}

// FormatSet is the result of [Search] for one recipe.
type FormatSet struct {
	Recipe  amp.Policy
	Keep    []FormatLayer // layers that must stay in bfloat16
	Layers  []FormatLayer // all layers that the recipe quantises
	Before  float64       // error with all layers quantised
	After   float64       // error with the layers of Keep in bfloat16
	Without float64       // error with all layers in bfloat16
	// Found is false if the budget cannot be met, not even with all layers in bfloat16.
	Found bool
	// Smallest reports that no smaller set meets the budget. Otherwise no single layer can be left out.
	Smallest bool
	Runs     int
	Policy   amp.Policy // recipe with the layers of Keep in bfloat16
	Code     string     // how to write it
}

// FormatSearch is the result of [Search].
type FormatSearch struct {
	Sets   []FormatSet // one of each recipe
	Budget float64
	of     string // name of the compared values
}

// Search finds, for each recipe, the fewest linear layers that must stay in bfloat16 for a step to stay within an error budget, by default 0.05. Recipes are policies
// such as amp.MXFP8() and amp.NVFP4(), by default these two; the reference is the step in float32.
//
//	diagnose.Search(net, func() (loss *tensor.Tensor) {
//		amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })
//		return loss
//	}, diagnose.PrecisionSetOptions{Gradients: true, Budget: 0.1}, amp.NVFP4())
//
// step is that of [MinimalFP32Set], which has the same options. Layers are known by their path in containers such as nn.Sequential; those
// without a path stay quantised.
//
// It panics with an *[amp.Error] if the step opens no region, is not deterministic, or a policy quantises no layer of it.
func Search(net any, step func() *tensor.Tensor, o PrecisionSetOptions, recipes ...amp.Policy) *FormatSearch {
	needStep("Search", step != nil)
	needLayers("Search", net, "")
	o.Budget, o.Scale, o.MaxRuns = cmp.Or(o.Budget, 0.05), cmp.Or(o.Scale, 1), cmp.Or(o.MaxRuns, 300)
	if len(recipes) == 0 {
		recipes = []amp.Policy{amp.MXFP8(), amp.NVFP4()}
	}
	s := newSearcher("Search", net, step, o)
	defer s.start.restore(s.parts)
	r := &FormatSearch{Budget: o.Budget, of: "result"}
	if o.Gradients {
		r.of = "gradients"
	}
	for _, recipe := range recipes {
		r.Sets = append(r.Sets, s.formats(recipe))
	}
	return r
}

// formats searches for one recipe.
func (s *searcher) formats(recipe amp.Policy) FormatSet {
	s.runs = 0
	set := FormatSet{Recipe: recipe, Policy: recipe, Layers: s.quantised(recipe)}
	if !s.policy.IsEnabled() {
		panic(&amp.Error{Code: "no_region", Call: "Search", Why: "the step opens no region that casts", Cure: "run its forward pass and loss in amp.Autocast(amp.BFloat16, …)"})
	}
	if len(set.Layers) == 0 {
		panic(&amp.Error{Code: "no_layers", Call: "Search", Why: fmt.Sprintf("%v quantises no linear layer with a path", recipe), Cure: "give recipes such as amp.NVFP4(), and a net of containers such as nn.Sequential"})
	}
	with := func(high []bool) trial {
		p, cost := recipe, 0.0
		for i, l := range set.Layers {
			if high[i] {
				p, cost = l.kept(p), cost+l.Work
			}
		}
		return trial{s.error(s.run(func(q amp.Policy) amp.Policy {
			if !q.IsEnabled() {
				return q
			}
			return p
		})), cost}
	}
	n := len(set.Layers)
	m := &minimal{n: n, budget: s.o.Budget, most: s.o.MaxRuns, known: map[string]trial{}, try: with}
	all := func(high bool, but int) []bool {
		in := make([]bool, n)
		for i := range in {
			in[i] = high != (i == but)
		}
		return in
	}
	set.Before, set.Without = m.of(all(false, -1)).err, m.of(all(true, -1)).err
	for i := range set.Layers {
		set.Layers[i].High, set.Layers[i].Low = m.of(all(false, i)).err, m.of(all(true, i)).err
	}
	in, smallest := m.find()
	set.Found, set.Smallest, set.After = in != nil, smallest, set.Before
	if in != nil {
		set.After = m.of(in).err
		for _, i := range members(in) {
			set.Keep = append(set.Keep, set.Layers[i])
			set.Policy = set.Layers[i].kept(set.Policy)
		}
	}
	set.Code, set.Runs = set.Policy.GoString(), s.runs
	return set
}

// kept returns p with the layer in bfloat16.
func (l FormatLayer) kept(p amp.Policy) amp.Policy {
	return p.WithIn(l.Module, "linear", amp.LowerPrecision)
}

// quantised returns the layers that a recipe quantises.
func (s *searcher) quantised(recipe amp.Policy) []FormatLayer {
	var list []FormatLayer
	defer observer{operation: func(e tensor.Event) {
		if e.Backward || e.Op.Name != "quantized_linear" || e.Module == "" {
			return
		}
		i := slices.IndexFunc(list, func(l FormatLayer) bool { return l.Module == e.Module })
		if i < 0 {
			i = len(list)
			list = append(list, FormatLayer{Module: e.Module, Source: e.Source})
		}
		list[i].Work += 2 * float64(e.Operands[0].Numel()) * float64(e.Operands[1].Shape()[0])
	}}.watch()()
	s.run(func(p amp.Policy) amp.Policy {
		if p.IsEnabled() {
			s.policy = p
			return recipe
		}
		return p
	})
	return list
}

// String returns a sentence on each recipe.
func (r *FormatSearch) String() string {
	var lines []string
	for _, s := range r.Sets {
		line := fmt.Sprintf("%v: error of the %s %s, budget %s", s.Recipe, r.of, errorText(s.Before), errorText(r.Budget))
		var names []string
		for _, l := range s.Keep {
			names = append(names, l.Module)
		}
		switch {
		case !s.Found:
			line += fmt.Sprintf(": exceeded even with all %d layers in bfloat16, whose error is %s", len(s.Layers), errorText(s.Without))
		case len(names) == 0:
			line += fmt.Sprintf(": all %d layers may be quantised", len(s.Layers))
		default:
			certain := "no single one of them can be left out"
			if s.Smallest {
				certain = "no smaller set is enough"
			}
			line += fmt.Sprintf(": %d of %d layers must stay in bfloat16, %s: the error is then %s; %s.\n%s", len(names), len(s.Layers), strings.Join(names, ", "), errorText(s.After), certain, s.Code)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Table lists the layers of each recipe, with the errors when a layer alone is quantised and when it alone is not.
func (r *FormatSearch) Table() display.Bundle {
	var rows [][]any
	for _, s := range r.Sets {
		for _, l := range s.Layers {
			mark := ""
			if slices.ContainsFunc(s.Keep, func(k FormatLayer) bool { return k.Module == l.Module }) {
				mark = "●"
			}
			rows = append(rows, []any{s.Recipe.String(), mark, l.Module, l.Source, errorText(l.Low), errorText(l.High), int64(l.Work)})
		}
	}
	return display.Table([]string{"recipe", "stays in bfloat16", "layer", "called in", "error when it alone is quantised", "error when it alone is not", "FLOPs"}, rows)
}

// HTML returns the sentences and the table.
func (r *FormatSearch) HTML() string {
	return paragraph(r.String()) + r.Table().Data["text/html"].(string)
}
