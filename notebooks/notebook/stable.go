package notebook

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// timing is the tag of a cell whose output shows times, which differ from run to run.
const timing = "timing"

// keepTimes takes over the outputs of cells tagged timing from an earlier run of the same code cells, with the states of
// their widgets, and returns the number of these cells. It keeps nothing if a cell of the earlier run failed.
func (nb *Notebook) keepTimes(old *Notebook) (kept int) {
	list, before := nb.CodeCells(), old.CodeCells()
	same := slices.EqualFunc(list, before, func(c, was *Cell) bool { return c.Source == was.Source && was.completed() })
	if !same {
		return 0
	}
	states, earlier := nb.widgetStates(), old.widgetStates()
	var keep func(model string)
	keep = func(model string) {
		if state, ok := earlier[model]; ok && states != nil && !reflect.DeepEqual(states[model], state) {
			states[model] = state
			walkReferences(state, "", func(_, other string) { keep(other) })
		}
	}
	for i, c := range list {
		if !c.HasTag(timing) || !slices.EqualFunc(c.Outputs, before[i].Outputs, func(o, was *Output) bool { return o.widget() == was.widget() }) && (c.showsWidget() || before[i].showsWidget()) {
			continue // widgets of other names have states that the notebook lacks
		}
		c.Outputs = before[i].Outputs
		for _, o := range c.Outputs {
			keep(o.widget())
		}
		kept++
	}
	return kept
}

func (c *Cell) showsWidget() bool {
	return slices.ContainsFunc(c.Outputs, func(o *Output) bool { return o.widget() != "" })
}

// widgetStates returns the saved states of widgets by the names of their models; nil if there are none.
func (nb *Notebook) widgetStates() map[string]any {
	all, _ := nb.Metadata["widgets"].(map[string]any)
	saved, _ := all[widgetState].(map[string]any)
	states, _ := saved["state"].(map[string]any)
	return states
}

// widget returns the model of the widget that an output shows; "" if it shows none.
func (o *Output) widget() string {
	view, _ := o.Data[widgetView].(map[string]any)
	model, _ := view["model_id"].(string)
	return model
}

// modelReference begins a widget's reference to another in its state.
const modelReference = "IPY_MODEL_"

// nameModels gives the widgets of a notebook names that depend only on the cells that show them, in place
// of the random ones that kernels make. It returns the renamed states.
func nameModels(cells []*Cell, states map[string]any) map[string]any {
	names := map[string]string{}
	var visit func(model, path string)
	visit = func(model, path string) {
		if _, known := states[model]; !known || names[model] != "" {
			return
		}
		names[model] = modelName(path)
		walkReferences(states[model], "", func(key, other string) { visit(other, path+key) })
	}
	for _, c := range cells {
		for i, o := range c.Outputs {
			visit(o.widget(), fmt.Sprintf("%s/%d", c.ID, i))
		}
	}
	rename := func(s string) string {
		model, refers := strings.CutPrefix(s, modelReference)
		name, known := names[model]
		switch {
		case known && refers:
			return modelReference + name
		case known:
			return name
		}
		return s
	}
	// Links between widgets are models that no widget refers to: their content names them.
	for _, model := range slices.Sorted(maps.Keys(states)) {
		if names[model] == "" {
			content, _ := json.Marshal(renamed(states[model], rename)) // states came as JSON
			for n := 0; names[model] == ""; n++ {
				if name := modelName(fmt.Sprint(string(content), n)); !slices.Contains(slices.Collect(maps.Values(names)), name) {
					names[model] = name
				}
			}
		}
	}
	for _, c := range cells {
		for _, o := range c.Outputs {
			if model := o.widget(); names[model] != "" {
				o.Data[widgetView].(map[string]any)["model_id"] = names[model]
			}
		}
	}
	result := map[string]any{}
	for model, state := range states {
		result[names[model]] = renamed(state, rename)
	}
	return result
}

func modelName(path string) string {
	h := fnv.New128a()
	h.Write([]byte(path))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// walkReferences calls f with the path and the model of each reference in a state, in the order of its keys.
func walkReferences(v any, path string, f func(path, model string)) {
	switch v := v.(type) {
	case string:
		if model, ok := strings.CutPrefix(v, modelReference); ok {
			f(path, model)
		}
	case []any:
		for i, e := range v {
			walkReferences(e, fmt.Sprintf("%s/%d", path, i), f)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			walkReferences(v[k], path+"/"+k, f)
		}
	}
}

// renamed returns v with each string replaced.
func renamed(v any, rename func(string) string) any {
	switch v := v.(type) {
	case string:
		return rename(v)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = renamed(e, rename)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = renamed(e, rename)
		}
		return m
	}
	return v
}
