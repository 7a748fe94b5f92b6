package apex

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// Model is a module prepared by [Initialize]. Its parameters keep their names.
type Model struct {
	nn.Module

	in, out tensor.DType
	// under runs body at the level's precision. It is a function so that the casts it caches
	// are not mistaken for parameters.
	under func(body func())
}

func (a *group) model(m nn.Module) *Model {
	l := a.level
	w := &Model{Module: m, under: func(body func()) { body() }}
	if l.off {
		return w
	}
	w.in, w.out = l.modelType, l.outputType
	if w.out == 0 && (l.modelType != 0 || l.patch) && !l.asGiven {
		w.out = tensor.Float32
	}
	if l.patch {
		w.under = func(body func()) { a.under(l.policy, body) }
	}
	return w
}

// Forward runs the module at its level: with x cast to the model's dtype, or under O1's lists.
// The result is float32 unless [OptLevel.CastModelOutputs] sets another dtype.
func (m *Model) Forward(x *tensor.Tensor) *tensor.Tensor {
	var y *tensor.Tensor
	m.under(func() { y = m.Module.Forward(castFloat(x, m.in)) })
	return castFloat(y, m.out)
}

// Autocast runs body under O1's lists, sharing the casts of weights with Forward, for example
// to compute a loss of several operations that Apex would also patch. At other levels it only
// calls body.
func (m *Model) Autocast(body func()) { m.under(body) }

// StateDict returns the tensors of the model by name, floating-point ones as float32, so that a
// checkpoint can be loaded at every level. [nn.StateDict] returns the same, and
// [nn.LoadStateDict] accepts it, also after the first step: float32 masters follow the loaded weights, which in Apex
// they do not.
func (m *Model) StateDict() map[string]*tensor.Tensor {
	state := nn.StateDict(m.Module)
	tensor.NoGrad(func() {
		for name, t := range state {
			state[name] = castFloat(t, tensor.Float32)
		}
	})
	return state
}

// String returns the module's text.
func (m *Model) String() string { return nn.Print(m.Module) }

// castFloat returns t cast to d if d is set and t is floating point.
func castFloat(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if d == 0 || !t.DType().IsFloat() {
		return t
	}
	return t.To(d)
}
