package optim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"halfnote/tensor"
)

// The state dicts of torch.optim, as package data reads them from PyTorch's files.

// isNested reports whether a state is PyTorch's, whose groups are a list.
func isNested(state map[string]any) bool {
	_, ok := state["param_groups"].([]any)
	return ok
}

// unrelated are the keys of PyTorch's groups that change how a step is computed but not its result, or that belong to a
// scheduler, whose constructor has them here.
var unrelated = []string{"base_momentum", "capturable", "differentiable", "foreach", "fused", "max_lr", "max_momentum", "min_lr", "param_names", "params"}

// scalars are the names of records that are numbers here and tensors with one element in PyTorch.
var scalars = []string{"eta", "mu", "mu_product", "step"}

// flattened returns PyTorch's state in the form of StateDict. A setting that the file lacks, since it is of an older release,
// keeps its value. What has no place here keeps a name that LoadStateDict refuses.
func (o *Optimizer) flattened(state map[string]any) map[string]any {
	out := map[string]any{}
	position := map[string]int{} // of parameters by their number in the file
	for i, value := range state["param_groups"].([]any) {
		prefix := fmt.Sprintf("param_groups.%d.", i)
		group, _ := value.(map[string]any)
		params, _ := group["params"].([]any)
		for _, id := range params {
			position[fmt.Sprint(id)] = len(position)
		}
		out[prefix+"params"] = float64(len(params))
		known := slices.Clone(unrelated)
		if i < len(o.groups) {
			for _, s := range o.saved() {
				name, index, _ := strings.Cut(s.name, ".")
				known = append(known, name)
				v := nestedSetting(group[name], index)
				if v == nil {
					v = s.value(o.groups[i])
				}
				out[prefix+s.name] = v
			}
		}
		for name, v := range group {
			if !slices.Contains(known, name) {
				out[prefix+name] = v
			}
		}
	}
	records, _ := state["state"].(map[string]any)
	for id, value := range records {
		record, _ := value.(map[string]any)
		at, ok := position[id]
		prefix := fmt.Sprintf("state.%d.", at)
		if !ok {
			prefix = "state of parameter " + id + ", which is in no group: "
		}
		for name, v := range record {
			if slices.Contains(scalars, name) {
				v = number(v)
			}
			if v != nil {
				out[prefix+name] = v
			}
		}
	}
	for name, v := range state {
		if name != "param_groups" && name != "state" {
			out[name] = v
		}
	}
	return out
}

// nestedSetting returns a setting of a group of PyTorch, or element index of one that is a list.
func nestedSetting(value any, index string) any {
	if list, ok := value.([]any); ok {
		if i, err := strconv.Atoi(index); err == nil && i < len(list) {
			value = list[i]
		}
		if value == nil { // Adafactor's first eps: the epsilon of the dtype
			return 0.0
		}
	}
	if flag, ok := value.(bool); ok {
		return flag
	}
	return number(value)
}

// number returns an int or a tensor with one element as a float64, and other values as they are.
func number(value any) any {
	switch v := value.(type) {
	case int:
		return float64(v)
	case *tensor.Tensor:
		if v.Numel() == 1 {
			return v.Item()
		}
	}
	return value
}

// flattened returns PyTorch's state in the form of StateDict.
func (o *LBFGS) flattened(state map[string]any) map[string]any {
	out := map[string]any{}
	records, _ := state["state"].(map[string]any)
	record, _ := records["0"].(map[string]any) // PyTorch keeps it all with the first parameter
	for name, value := range record {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for i, v := range list {
			key := name
			if ok {
				key = fmt.Sprintf("%s.%d", name, i)
			}
			if t, isTensor := v.(*tensor.Tensor); !isTensor || t.Dim() == 0 {
				v = number(v)
			}
			out[key] = v
		}
	}
	if groups := state["param_groups"].([]any); len(groups) > 0 {
		group, _ := groups[0].(map[string]any)
		out["lr"] = number(group["lr"])
	}
	for _, name := range []string{"n_iter", "func_evals", "t", "H_diag"} {
		if out[name] == nil && len(record) == 0 {
			out[name] = 0.0 // before the first step
		}
	}
	return out
}

// isTorchs reports whether the state of a scheduler is PyTorch's: all attributes of the object.
func isTorchs(state map[string]float64) bool {
	_, counts := state["_step_count"]
	_, rates := state["_last_lr.0"]
	return counts || rates
}

// sameArguments returns an error if the arguments of PyTorch's scheduler are not those of the one here.
func sameArguments(name string, own, state map[string]float64) error {
	var wrong []string
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if x, ok := state[key]; ok && x != own[key] {
			wrong = append(wrong, fmt.Sprintf("%s is %v, this scheduler's is %v", key, x, own[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if _, ok := own[key]; !ok && strings.HasPrefix(key, "milestones.") {
			wrong = append(wrong, key+" is not this scheduler's")
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("optim: load state dict of %s: %s; make the scheduler with the arguments of the one that was saved", name, strings.Join(wrong, "; "))
	}
	return nil
}

// fromTorch returns PyTorch's state in the form of StateDict, if the arguments agree.
func (s *Scheduler) fromTorch(state map[string]float64) (map[string]float64, error) {
	if err := sameArguments(s.name, s.arguments, state); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	if epoch, ok := state["last_epoch"]; ok {
		out["last_epoch"] = epoch
	} else if s.until == nil && s.parts != nil { // PyTorch's ChainedScheduler does not count
		out["last_epoch"] = state["_schedulers.0.last_epoch"]
	}
	for i, part := range s.parts {
		of := map[string]float64{}
		for name, x := range state {
			if own, ok := strings.CutPrefix(name, fmt.Sprintf("_schedulers.%d.", i)); ok {
				of[own] = x
			}
		}
		of, err := part.fromTorch(of)
		if err != nil {
			return nil, err
		}
		for name, x := range of {
			out[fmt.Sprintf("%d.%s", i, name)] = x
		}
	}
	return out, nil
}
