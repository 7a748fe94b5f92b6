package optim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// StateDict returns the optimizer's state for a checkpoint: torch's state_dict with names
// joined by dots. Settings of group 0 are param_groups.0.lr, param_groups.0.betas.0 and so
// on, float64, bool or string; param_groups.0.params is its number of parameters, as float64. The
// state of parameter 3, counted over all groups, is state.3.step, a float64, and
// state.3.exp_avg, a *tensor.Tensor. Tensors share memory with the optimizer: Clone them to
// keep their values.
func (o *Optimizer) StateDict() map[string]any {
	state := map[string]any{}
	for i, g := range o.groups {
		prefix := fmt.Sprintf("param_groups.%d.", i)
		state[prefix+"params"] = float64(len(g.params))
		for _, s := range o.saved() {
			state[prefix+s.name] = s.value(g)
		}
	}
	records := o.remembered()
	for i, p := range o.Params() {
		for name, value := range records[p] {
			state[fmt.Sprintf("state.%d.%s", i, name)] = value
		}
	}
	return state
}

// saved returns the settings in a state dict.
func (o *Optimizer) saved() []setting { return o.named(append(slices.Clone(o.takes), "initial_lr")) }

// LoadStateDict restores the result of StateDict; tensors are copied to their parameters'
// dtypes and devices. If groups, the number of parameters or a shape differ, or a name is
// missing or unknown, it returns an error that lists everything wrong and leaves o
// unchanged. It also takes the state_dict of PyTorch's optimizer, as data.Load returns it from a .pt file: a setting that an older
// release of PyTorch did not write keeps its value. It is torch.optim.Optimizer.load_state_dict.
func (o *Optimizer) LoadStateDict(state map[string]any) error {
	if isNested(state) {
		state = o.flattened(state)
	}
	rest := maps.Clone(state)
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	groups := make([]Group, len(o.groups))
	for i, g := range o.groups {
		groups[i] = *g
		prefix := fmt.Sprintf("param_groups.%d.", i)
		if n := rest[prefix+"params"]; n != float64(len(g.params)) {
			bad("%sparams is %v, want %d", prefix, n, len(g.params))
		}
		delete(rest, prefix+"params")
		for _, s := range o.saved() {
			value := rest[prefix+s.name]
			delete(rest, prefix+s.name)
			if !s.set(&groups[i], value) || s.word != nil && adjustments[groups[i].AdjustLR] == nil {
				bad("%s%s is %v", prefix, s.name, value)
			}
		}
	}
	params := o.Params()
	records := map[*tensor.Tensor]record{}
	for _, name := range slices.Sorted(maps.Keys(rest)) { // one order of copies in every run
		value := rest[name]
		index, key, ok := strings.Cut(strings.TrimPrefix(name, "state."), ".")
		i, err := strconv.Atoi(index)
		if !ok || err != nil || i < 0 || i >= len(params) || !strings.HasPrefix(name, "state.") {
			bad("%s is unknown to this optimizer", name)
			continue
		}
		p := params[i]
		if records[p] == nil {
			records[p] = record{}
		}
		switch v := value.(type) {
		case float64:
			records[p][key] = v
		case *tensor.Tensor:
			want := p.Shape()
			if of, ok := o.rule.(shaper); ok {
				want = of.stateShape(key, p)
			}
			if !slices.Equal(v.Shape(), want) {
				bad("%s has shape %s, want %s", name, text.Shape(v.Shape()), text.Shape(want))
				continue
			}
			tensor.NoGrad(func() { records[p].shaped(key, p, o.stateDType(key, p, o.groupOf(p)), want).Assign(v) })
		default:
			bad("%s is a %T", name, value)
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("optim: load state dict of %s: %s", o.name, strings.Join(wrong, "; "))
	}
	for i, g := range o.groups {
		*g = groups[i]
	}
	o.records, o.away = records, false
	o.replaced++
	return nil
}
