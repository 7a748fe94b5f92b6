package amp

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Initialize prepares a model and its optimizer for an Apex level and returns both, to be used
// in place of the originals:
//
//	base := optim.NewSGD(nn.Parameters(net), 0.1)
//	model, opt := amp.Initialize(net, base, amp.O2)
//	…
//	loss := nn.MSELoss(model.Forward(x), y)
//	amp.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) { scaled.Backward() })
//	opt.Step()
//	opt.ZeroGrad()
//
// As in Apex, the parameters of net itself are converted; learning rates, groups, schedulers and
// the state dict remain with base. opt may be nil, for inference. Initialize panics with an
// *[Error] if model or opt has been initialized before, or if a parameter or buffer of the model
// is already float16 or bfloat16. Unlike Apex's, it may be called several times in a program, and
// tensors may live on any device. It is apex.amp.initialize, which Apex removed in 2025.
func Initialize(model nn.Module, opt Optimizer, level OptLevel) (*ApexModel, *ApexOptimizer) {
	var opts []Optimizer
	if opt != nil {
		opts = []Optimizer{opt}
	}
	models, prepared := InitializeAll([]nn.Module{model}, opts, level)
	if opt == nil {
		return models[0], nil
	}
	return models[0], prepared[0]
}

// InitializeAll is Initialize for several models and optimizers that share their loss
// scales. Any optimizer may have parameters of any model.
func InitializeAll(models []nn.Module, opts []Optimizer, level OptLevel) ([]*ApexModel, []*ApexOptimizer) {
	a := &apex{level: level, cache: newCache()}
	for _, m := range models {
		a.check(m)
	}
	for _, o := range opts {
		if _, done := o.(*ApexOptimizer); done {
			panic(&Error{Code: "initialized", Call: "Initialize", Why: "the optimizer has been initialized before", Cure: "initialize each optimizer once, and pass the original optimizer"})
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
	outModels := make([]*ApexModel, len(models))
	for i, m := range models {
		outModels[i] = a.model(m)
	}
	outOpts := make([]*ApexOptimizer, len(opts))
	for i, o := range opts {
		if r, ok := o.(replacer); ok && level.modelType != 0 && !level.off {
			// The optimizer's state follows its parameters' new dtypes.
			r.ReplaceParams(func(p *tensor.Tensor) *tensor.Tensor { return p })
		}
		outOpts[i] = &ApexOptimizer{Optimizer: o, apex: a}
	}
	return outModels, outOpts
}

// apex is the state of one call of Initialize, which Apex keeps for the whole program.
type apex struct {
	level   OptLevel
	cache   *cache // O1's casts of weights, kept from one ScaleLoss to the next
	scalers []*lossScaler
	steps   int
}

// check panics if m cannot be initialized.
func (a *apex) check(m nn.Module) {
	switch _, done := m.(*ApexModel); {
	case m == nil:
		panic(&Error{Code: "model", Call: "Initialize", Why: "the model is nil", Cure: "pass a module"})
	case done:
		panic(&Error{Code: "initialized", Call: "Initialize", Why: "the model has been initialized before", Cure: "initialize each model once, and pass the original model"})
	case a.level.off || a.level.asGiven:
		return
	}
	for _, n := range tensors(m) {
		if d := n.Tensor.DType(); d == tensor.Float16 || d == tensor.BFloat16 {
			panic(&Error{Code: "half_model", Call: "Initialize", Why: fmt.Sprintf("%s is %v", n.Name, d), Cure: "pass the model in float32 at every level: Initialize converts it"})
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
