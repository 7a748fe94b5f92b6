package dist

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// StateDict returns, on every rank, the state of a model: a copy of nn.StateDict with whole parameters in the place of
// shards. Buffers are this rank's. All ranks call it. It is torch.distributed.checkpoint.state_dict.get_model_state_dict with full_state_dict.
func StateDict(model any) map[string]*tensor.Tensor {
	state := maps.Clone(nn.StateDict(model))
	named, whole := nn.NamedParameters(model), map[string]bool{}
	for _, f := range units(model) {
		locals := f.locals()
		for i, t := range f.wholes(locals) {
			for _, p := range named {
				if p.Tensor == locals[i] {
					state[p.Name] = t
					whole[p.Name] = true
				}
			}
		}
	}
	for name, t := range state {
		if !whole[name] {
			state[name] = t.Clone()
		}
	}
	return state
}

// LoadStateDict restores a StateDict, on any number of ranks: each takes its part. It returns an error and changes nothing if names or
// shapes differ. All ranks load the same state. It is torch's set_model_state_dict with full_state_dict.
func LoadStateDict(model any, state map[string]*tensor.Tensor) error {
	own := maps.Clone(state)
	at := shardsOf(model)
	for _, p := range nn.NamedParameters(model) {
		if s, ok := at[p.Tensor]; ok && state[p.Name] != nil {
			t := state[p.Name]
			if !slices.Equal(t.Shape(), s.shape) {
				return fmt.Errorf("dist: LoadStateDict: %s has shape %v, want %v", p.Name, t.Shape(), s.shape)
			}
			own[p.Name] = s.of(t)
		}
	}
	if err := nn.LoadStateDict(model, own); err != nil {
		return fmt.Errorf("dist: LoadStateDict: %w", err)
	}
	return nil
}

// OptimizerStateDict returns, on every rank, opt.StateDict with whole tensors in the place of those of model's shards. All ranks call
// it. It is torch's get_optimizer_state_dict with full_state_dict.
func OptimizerStateDict(model any, opt *optim.Optimizer) map[string]any {
	if opt == nil {
		panic(&Error{Code: "argument", Call: "OptimizerStateDict", Why: "the optimizer is nil", Cure: "pass an optimizer"})
	}
	state := opt.StateDict()
	index := map[*tensor.Tensor]int{}
	for i, p := range opt.Params() {
		index[p] = i
	}
	for _, f := range units(model) {
		for _, name := range f.fields(state, index) {
			locals := make([]*tensor.Tensor, len(f.params))
			for i, s := range f.params {
				if t, ok := state[key(index, s.local, name)].(*tensor.Tensor); ok && slices.Equal(t.Shape(), s.local.Shape()) {
					locals[i] = t
				}
			}
			for i, t := range f.wholes(locals) {
				if locals[i] != nil {
					state[key(index, f.params[i].local, name)] = t
				}
			}
		}
	}
	return state
}

// LoadOptimizerStateDict restores an OptimizerStateDict, on any number of ranks. It returns an error and changes nothing if the
// state does not fit opt. It is torch's set_optimizer_state_dict with full_state_dict.
func LoadOptimizerStateDict(model any, opt *optim.Optimizer, state map[string]any) error {
	if opt == nil {
		return errors.New("dist: LoadOptimizerStateDict: the optimizer is nil; pass an optimizer")
	}
	own := maps.Clone(state)
	at := shardsOf(model)
	for i, p := range opt.Params() {
		prefix := fmt.Sprintf("state.%d.", i)
		for name, value := range state {
			t, ok := value.(*tensor.Tensor)
			if s, sharded := at[p]; sharded && ok && strings.HasPrefix(name, prefix) && slices.Equal(t.Shape(), s.shape) {
				own[name] = s.of(t)
			}
		}
	}
	if err := opt.LoadStateDict(own); err != nil {
		return fmt.Errorf("dist: LoadOptimizerStateDict: %w", err)
	}
	return nil
}

// units returns the FSDPModules of a model.
func units(model any) (list []*FSDPModule) {
	for _, n := range nn.NamedModules(model) {
		if f, ok := n.Module.(*FSDPModule); ok {
			list = append(list, f)
		}
	}
	return list
}

// shardsOf returns the shards of a model by the tensors that optimizers step.
func shardsOf(model any) map[*tensor.Tensor]shard {
	at := map[*tensor.Tensor]shard{}
	for _, f := range units(model) {
		for _, s := range f.params {
			at[s.local] = s
		}
	}
	return at
}

// of returns this rank's part of a whole tensor.
func (s shard) of(t *tensor.Tensor) *tensor.Tensor {
	return t.Detach().Reshape(t.Numel()).Narrow(0, s.from, s.local.Numel())
}

// key returns the name of a parameter's state.
func key(index map[*tensor.Tensor]int, p *tensor.Tensor, field string) string {
	return fmt.Sprintf("state.%d.%s", index[p], field)
}

// fields returns the names of the state that an optimizer has of the module's parameters, in order.
func (f *FSDPModule) fields(state map[string]any, index map[*tensor.Tensor]int) []string {
	names := map[string]bool{}
	for _, s := range f.params {
		if _, stepped := index[s.local]; !stepped {
			continue
		}
		prefix := key(index, s.local, "")
		for name := range state {
			if field, ok := strings.CutPrefix(name, prefix); ok {
				names[field] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// wholes returns the tensors of which each rank has a part per parameter; nil stands for a parameter without one on all ranks.
func (f *FSDPModule) wholes(locals []*tensor.Tensor) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(locals))
	i := slices.IndexFunc(locals, func(t *tensor.Tensor) bool { return t != nil })
	if i < 0 {
		return out
	}
	tensor.NoGrad(func() {
		tensor.Unobserved(func() {
			all := f.gathered(locals[i].DType(), locals)
			for i, s := range f.params {
				if locals[i] != nil {
					out[i] = all.Narrow(0, s.at, size(s.shape)).Clone().Reshape(s.shape...)
				}
			}
		})
	})
	return out
}
