package apex

import (
	"fmt"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Initialize prepares a model and its optimizer for an Apex level and returns both, to be used
// in place of the originals.
//
// As in Apex, the parameters of net itself are converted; learning rates, groups, schedulers and
// the state dict remain with base. opt may be nil, for inference. Initialize panics with an
// *[amp.Error] if model or opt has been initialized before, or if a parameter or buffer of the model
// is already float16 or bfloat16. Unlike Apex's, it may be called several times in a program, and
// tensors may live on any device. It is apex.amp.initialize, which Apex removed in 2025.
func Initialize(model nn.Module, opt amp.Optimizer, level OptLevel) (*Model, *Optimizer) {
	var opts []amp.Optimizer
	if opt != nil {
		opts = []amp.Optimizer{opt}
	}
	models, prepared := InitializeAll([]nn.Module{model}, opts, level)
	if opt == nil {
		return models[0], nil
	}
	return models[0], prepared[0]
}

// InitializeAll is Initialize for several models and optimizers that share their loss
// scales. Any optimizer may have parameters of any model.
func InitializeAll(models []nn.Module, opts []amp.Optimizer, level OptLevel) ([]*Model, []*Optimizer) {
	a := &group{level: level}
	a.under, a.clearCache = autocast.NewCache()
	for _, m := range models {
		a.check(m)
	}
	for _, o := range opts {
		if _, done := o.(*Optimizer); done {
			panic(&amp.Error{Code: "initialized", Call: "apex.Initialize", Why: "the optimizer has been initialized before", Cure: "initialize each optimizer once, and pass the original optimizer"})
		}
	}
	for id := range level.losses {
		a.scalers = append(a.scalers, newLossScaler(id, level, models))
	}
	if !level.off && !level.silent {
		fmt.Println(level)
	}
	if level.modelType != 0 && !level.off {
		for _, m := range models {
			convert(m, level.modelType, level.batchNorm == yes)
		}
	}
	outModels := make([]*Model, len(models))
	for i, m := range models {
		outModels[i] = a.model(m)
	}
	outOpts := make([]*Optimizer, len(opts))
	for i, o := range opts {
		if r, ok := o.(replacer); ok && level.modelType != 0 && !level.off {
			// The optimizer's state follows its parameters' new dtypes.
			r.ReplaceParams(func(p *tensor.Tensor) *tensor.Tensor { return p })
		}
		outOpts[i] = &Optimizer{Optimizer: o, group: a}
	}
	return outModels, outOpts
}

// group is the models and optimizers of one call of Initialize. Apex has one for the whole program.
type group struct {
	level   OptLevel
	scalers []*lossScaler
	steps   int

	// O1's casts of weights last from one ScaleLoss to the next: under runs body with them.
	under      func(p amp.Policy, body func())
	clearCache func()
}

// check panics if m cannot be initialized.
func (a *group) check(m nn.Module) {
	switch _, done := m.(*Model); {
	case m == nil:
		panic(&amp.Error{Code: "model", Call: "apex.Initialize", Why: "the model is nil", Cure: "pass a module"})
	case done:
		panic(&amp.Error{Code: "initialized", Call: "apex.Initialize", Why: "the model has been initialized before", Cure: "initialize each model once, and pass the original model"})
	case a.level.off || a.level.asGiven:
		return
	}
	for _, n := range tensors(m) {
		if d := n.Tensor.DType(); d == tensor.Float16 || d == tensor.BFloat16 {
			panic(&amp.Error{Code: "half_model", Call: "apex.Initialize", Why: fmt.Sprintf("%s is %v", n.Name, d), Cure: "pass the model in float32 at every level: Initialize converts it"})
		}
	}
}

// tensors returns the parameters and buffers of model.
func tensors(model any) []nn.Named {
	return append(nn.NamedParameters(model), nn.NamedBuffers(model)...)
}

// convert converts the model to d, except for batch norms with weights if they are kept in
// float32.
func convert(model any, d tensor.DType, keepBatchNorm bool) {
	kept := map[*tensor.Tensor]bool{}
	if keepBatchNorm {
		for _, m := range nn.NamedModules(model) {
			if c := batchNorm(m.Module); c != nil && c.Weight != nil {
				for _, n := range tensors(m.Module) {
					kept[n.Tensor] = true
				}
			}
		}
	}
	var list []*tensor.Tensor
	for _, n := range tensors(model) {
		if !kept[n.Tensor] {
			list = append(list, n.Tensor)
		}
	}
	nn.ToDType(list, d)
}

func batchNorm(m any) *nn.ChannelNorm {
	switch m := m.(type) {
	case *nn.BatchNorm1d:
		return &m.ChannelNorm
	case *nn.BatchNorm2d:
		return &m.ChannelNorm
	case *nn.BatchNorm3d:
		return &m.ChannelNorm
	}
	return nil
}
